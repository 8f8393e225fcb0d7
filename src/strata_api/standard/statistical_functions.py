"""Statistical functions: reductions along axes, and running sums and products.

Sums and products of 16-bit floating-point numbers are computed in float32 and rounded once.
"""

from __future__ import annotations

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._apply import apply, as_array, converted, reduction
from strata_api._array import Array
from strata_api._dimension import extent
from strata_api._dtypes import DType
from strata_api._rules import Rule
from strata_api._shape import normalize_axis, replaced, shown

Axes = int | tuple[int, ...] | None


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Array:
    """Return the product of the elements up to each position along an axis.

    Shape: that of ``x``; one more along the axis with ``include_initial``.
    Dtype: numeric; that of ``x``, of a small integer the default integer dtype, or ``dtype``.
    Beyond the standard, booleans count as integers.
    Raises: ``TypeError`` for another dtype, ``ValueError`` without ``axis`` unless ``x`` has one
    axis, ``AxisError`` for an axis out of range.
    Source: the standard, ``cumulative_prod``.
    """
    return _cumulated(rules.CUMULATIVE_PROD, x, axis, dtype, include_initial)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Array:
    """Return the sum of the elements up to each position along an axis.

    Shape: that of ``x``; one more along the axis with ``include_initial``.
    Dtype: numeric; that of ``x``, of a small integer the default integer dtype, or ``dtype``.
    Beyond the standard, booleans count as integers.
    Raises: ``TypeError`` for another dtype, ``ValueError`` without ``axis`` unless ``x`` has one
    axis, ``AxisError`` for an axis out of range.
    Source: the standard, ``cumulative_sum``.
    """
    return _cumulated(rules.CUMULATIVE_SUM, x, axis, dtype, include_initial)


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the largest element along axes; NaN if there is one.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: real-valued, that of ``x``. Beyond the standard, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` where there is no element, ``AxisError``
    for an axis out of range.
    Source: the standard, ``max``.
    """
    return reduction(rules.MAX, x, axis, keepdims, needs_elements=True)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the arithmetic mean along axes; NaN of no elements.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: floating-point, that of ``x``. Beyond the standard, integers and booleans, whose mean has
    the default real dtype.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``mean``.
    """
    return reduction(rules.MEAN, x, axis, keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the smallest element along axes; NaN if there is one.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: real-valued, that of ``x``. Beyond the standard, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` where there is no element, ``AxisError``
    for an axis out of range.
    Source: the standard, ``min``.
    """
    return reduction(rules.MIN, x, axis, keepdims, needs_elements=True)


def prod(
    x: Array, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Array:
    """Return the product of the elements along axes; 1 of no elements.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: numeric; that of ``x``, of a small integer the default integer dtype, or ``dtype``.
    Beyond the standard, booleans count as integers.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``prod``.
    """
    if dtype is None:
        return reduction(rules.PROD, x, axis, keepdims)
    source, result = _with_dtype(rules.PROD, x, dtype)
    return reduction(rules.PROD, source, axis, keepdims, result)


def std(
    x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Return the standard deviation along axes; NaN of no more elements than ``correction``.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: real floating-point, that of ``x``. Beyond the standard, integers and booleans, of which
    it has the default real dtype.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``std``.
    """
    return reduction(rules.STD, x, axis, keepdims, correction=float(correction))


def sum(
    x: Array, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Array:
    """Return the sum of the elements along axes; 0 of no elements.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: numeric; that of ``x``, of a small integer the default integer dtype, or ``dtype``.
    Beyond the standard, booleans count as integers.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``sum``.
    """
    if dtype is None:
        return reduction(rules.SUM, x, axis, keepdims)
    source, result = _with_dtype(rules.SUM, x, dtype)
    return reduction(rules.SUM, source, axis, keepdims, result)


def var(
    x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Return the variance along axes; NaN of no more elements than ``correction``.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: real floating-point, that of ``x``. Beyond the standard, integers and booleans, of which
    it has the default real dtype.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``var``.
    """
    return reduction(rules.VAR, x, axis, keepdims, correction=float(correction))


def _with_dtype(rule: Rule, x: object, dtype: object) -> tuple[Array, DType]:
    """Return what to accumulate for a result of this dtype: the elements cast to it.

    A cast that loses nothing is left to the kernel.
    """
    array = as_array(x, rule.name)
    rule.check(array._element.dtype)
    result = d.as_dtype(dtype)
    if result not in rule.accepts:
        raise TypeError(f"{rule.name}: expected a {rule.accepts.name} dtype, got dtype={result}")
    if d.can_cast(array._element.dtype, result):
        return array, result
    return converted(array, result, rule.name), result


def _cumulated(
    rule: Rule, x: object, axis: int | None, dtype: object, include_initial: bool
) -> Array:
    if dtype is None:
        array = as_array(x, rule.name)
        rule.check(array._element.dtype)
        result = rule.result.dtype(array._element.dtype)
    else:
        array, result = _with_dtype(rule, x, dtype)
    shape = array.dims
    if axis is None and len(shape) != 1:
        raise ValueError(f"{rule.name}: expected an axis for an array of shape {shown(shape)}")
    along = normalize_axis(0 if axis is None else axis, len(shape), rule.name)
    if include_initial:
        shape = replaced(shape, along, extent(shape[along] + 1))
    return apply(
        rule,
        (array,),
        shape,
        result,
        axis=along,
        dtype=d.working(result),
        include_initial=bool(include_initial),
    )
