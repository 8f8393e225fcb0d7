"""Searching functions: positions of elements, and choices between them."""

from __future__ import annotations

from typing import Literal

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._access import getitem
from strata_api._apply import (
    Operand,
    apply,
    apply_many,
    arrays_of,
    as_array,
    at_once,
    cast,
    filled,
    operands,
    promoted,
    reduction,
    remember,
)
from strata_api._array import Array
from strata_api._context import is_strict
from strata_api._dimension import Dimension, extent
from strata_api._dtypes import DType
from strata_api._rules import Rule
from strata_api._shape import broadcast, may_be, normalize_axis, reduced, shown, size
from strata_api.backends.protocol import Spec


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first largest element along an axis; NaN is larger than all.

    Without an axis the index is one into the flattened ``x``.

    Shape: that of ``x`` without the axis, or with extent 1 in its place.
    Dtype: real-valued; the default index dtype. Beyond the standard, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` where there is no element, ``AxisError``
    for an axis out of range.
    Source: the standard, ``argmax``.
    """
    return _extreme(rules.ARGMAX, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first smallest element along an axis; NaN is smaller than all.

    Without an axis the index is one into the flattened ``x``.

    Shape: that of ``x`` without the axis, or with extent 1 in its place.
    Dtype: real-valued; the default index dtype. Beyond the standard, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` where there is no element, ``AxisError``
    for an axis out of range.
    Source: the standard, ``argmin``.
    """
    return _extreme(rules.ARGMIN, x, axis, keepdims)


def count_nonzero(
    x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Array:
    """Return how many elements along axes are not zero.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: boolean or numeric; the default index dtype.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``count_nonzero``.
    """
    return reduction(rules.COUNT_NONZERO, x, axis, keepdims)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Return the positions of the elements that are not zero, an array for each axis.

    Shape: one axis of as many as there are.
    Dtype: boolean or numeric; the default index dtype.
    Raises: ``TypeError`` for another dtype and under a JAX transformation, ``ValueError`` for an
    array without axes.
    Source: the standard, ``nonzero``.
    """
    array = as_array(x, "nonzero")
    rules.NONZERO.check(array._element.dtype)
    if array.ndim == 0:
        raise ValueError("nonzero: expected an array with axes, got one without")
    most = Dimension(size(array.dims)).get_interval()[1]
    spec = Spec((extent(Dimension(0, most)),), rules.INDEX.dtype(array._element.dtype))
    return apply_many(rules.NONZERO, (array,), (spec,) * array.ndim)


def searchsorted(
    x1: Array,
    x2: Array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    """Return where in the sorted ``x1`` the elements of ``x2`` belong. NaN belongs at the end.

    Shape: that of ``x2``.
    Dtype: real-valued; the default index dtype.
    Raises: ``TypeError`` for another dtype, ``ValueError`` unless ``x1`` has one axis, for another
    ``side`` and for a ``sorter`` of another shape, ``IndexError`` for one with an index out of
    range.
    Source: the standard, ``searchsorted``.
    """
    (table, values), dtype = arrays_of("searchsorted", (x1, x2))
    rules.SEARCHSORTED.check(dtype)
    if table.ndim != 1:
        raise ValueError(f"searchsorted: expected x1 with one axis, got {shown(table.dims)}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected side 'left' or 'right', got {side!r}")
    if sorter is not None:
        table = _reordered(table, sorter)
    return apply(
        rules.SEARCHSORTED,
        (cast(table, dtype), cast(values, dtype)),
        values.dims,
        rules.SEARCHSORTED.result.dtype(dtype),
        side=side,
    )


def where(
    condition: Array,
    x1: Array | bool | int | float | complex,
    x2: Array | bool | int | float | complex,
    /,
) -> Array:
    """Return the elements of ``x1`` where the condition holds, and of ``x2`` elsewhere.

    Beyond the standard, a condition of numbers holds where they are not zero, and both choices may
    be Python scalars.

    Shape: broadcast of all three.
    Dtype: any, that of ``x1`` and ``x2`` promoted; of the condition, boolean.
    Raises: ``TypeError`` for dtypes that do not promote, ``ValueError`` if the shapes do not
    broadcast.
    Source: the standard, ``where``.
    """
    result = at_once(rules.WHERE, condition, x1, x2)
    return _chosen(condition, x1, x2) if result is None else result


def _chosen(condition: object, x1: object, x2: object) -> Array:
    condition, *choices = operands("where", condition, x1, x2)
    backend = next(x for x in (condition, *choices) if isinstance(x, Array))._element.backend
    dtype = _promoted(choices)
    first, second = [
        cast(x, dtype) if isinstance(x, Array) else filled(x, dtype, backend, "where")
        for x in choices
    ]
    if not isinstance(condition, Array):
        condition = filled(condition, d.default_for(condition), backend, "where")
    if is_strict() and condition._element.dtype != d.bool_:
        raise TypeError(
            f"where: expected a boolean condition (strict), got {condition._element.dtype}"
        )
    holds = cast(condition, d.bool_)
    shape = broadcast(holds.dims, first.dims, second.dims, what="where")
    remember(rules.WHERE, dtype, holds, first, second)
    return apply(rules.WHERE, (holds, first, second), shape, dtype)


def _promoted(choices: list[Operand]) -> DType:
    if any(isinstance(x, Array) for x in choices):
        return promoted(choices)
    if is_strict():
        raise TypeError(f"where: expected an array to choose from (strict), got {choices}")
    first, second = [d.default_for(x) for x in choices]  # type: ignore[arg-type]  # no arrays
    return d.promote(first, second)


def _extreme(rule: Rule, x: object, axis: int | None, keepdims: bool) -> Array:
    array = as_array(x, rule.name)
    rule.check(array._element.dtype)
    shape = array.dims
    along = None if axis is None else normalize_axis(axis, len(shape), rule.name)
    axes = tuple(range(len(shape))) if along is None else (along,)
    if any(type(shape[k]) is int and shape[k] == 0 for k in axes):
        raise ValueError(f"{rule.name}: no elements along axes {axes} of shape {shown(shape)}")
    dtype = rule.result.dtype(array._element.dtype)
    result = reduced(shape, axes, keepdims)
    return apply(rule, (array,), result, dtype, axis=along, keepdims=bool(keepdims))


def _reordered(table: Array, sorter: object) -> Array:
    _, order = operands("searchsorted", table, sorter)
    if not isinstance(order, Array) or order._element.dtype not in d.INTEGER:
        raise TypeError(f"searchsorted: expected an integer array as a sorter, got {sorter!r}")
    if order.ndim != 1 or not may_be(order.dims[0], table.dims[0]):
        raise ValueError(
            f"searchsorted: expected a sorter of shape {shown(table.dims)}, got {shown(order.dims)}"
        )
    return getitem(table, order)
