"""Indexing functions: elements at index arrays along one axis."""

from __future__ import annotations

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._apply import apply, operands
from strata_api._array import Array
from strata_api._context import is_strict
from strata_api._dimension import Dimension, Extent
from strata_api._shape import broadcast, normalize_axis, replaced, shown, size


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Return the elements at ``indices`` along an axis; a negative index counts from the end.

    Under a JAX transformation, where an index cannot be looked at, one out of range takes the
    nearest valid position. Beyond the standard, ``indices`` may have any number of axes.

    Shape: that of ``x`` with the shape of ``indices`` in the place of the axis.
    Dtype: any, that of ``x``; ``indices`` integer.
    Raises: ``IndexError`` for an index out of range, ``TypeError`` for indices that are no
    integers, ``ValueError`` without ``axis`` unless ``x`` has one axis, ``AxisError`` for an axis
    out of range.
    Source: the standard, ``take``.
    """
    source, picks = _arrays(x, indices, "take")
    shape, wanted = source.dims, picks.dims
    if axis is None and len(shape) != 1:
        raise ValueError(f"take: expected an axis for an array of shape {shown(shape)}")
    if is_strict() and len(wanted) != 1:
        raise ValueError(f"take: expected indices with one axis (strict), got {shown(wanted)}")
    along = normalize_axis(0 if axis is None else axis, len(shape), "take")
    _check_range(picks, shape[along], along, "take")
    result = shape[:along] + wanted + shape[along + 1 :]
    return apply(rules.TAKE, (source, picks), result, source._element.dtype, axis=along)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return for each vector along an axis the elements at the indices of its own.

    A negative index counts from the end. Under a JAX transformation, where an index cannot be
    looked at, one out of range takes the nearest valid position.

    Shape: broadcast of both, but along the axis, where it is that of ``indices``.
    Dtype: any, that of ``x``; ``indices`` integer.
    Raises: ``IndexError`` for an index out of range, ``TypeError`` for indices that are no
    integers, ``ValueError`` for another number of axes or shapes that do not broadcast,
    ``AxisError`` for an axis out of range.
    Source: the standard, ``take_along_axis``.
    """
    source, picks = _arrays(x, indices, "take_along_axis")
    shape, wanted = source.dims, picks.dims
    if len(shape) != len(wanted):
        raise ValueError(
            f"take_along_axis: expected as many axes as x has, got shapes {shown(shape)} "
            f"and {shown(wanted)}"
        )
    along = normalize_axis(axis, len(shape), "take_along_axis")
    joint = broadcast(replaced(shape, along, 1), replaced(wanted, along, 1), what="take_along_axis")
    _check_range(picks, shape[along], along, "take_along_axis")
    result = replaced(joint, along, wanted[along])
    dtype = source._element.dtype
    return apply(rules.TAKE_ALONG_AXIS, (source, picks), result, dtype, axis=along)


def _arrays(x: object, indices: object, what: str) -> tuple[Array, Array]:
    """Return both as arrays of one backend."""
    source, picks = operands(what, x, indices)
    if not isinstance(source, Array) or not isinstance(picks, Array):
        raise TypeError(f"{what}: expected two arrays, got {x!r} and {indices!r}")
    if picks._element.dtype not in d.INTEGER:
        raise TypeError(f"{what}: expected integer indices, got {picks._element.dtype}")
    return source, picks


def _check_range(indices: Array, n: Extent, axis: int, what: str) -> None:
    """Raise ``IndexError`` for an index that is known to be out of range."""
    count = size(indices.dims)
    fewest = count.min_length if isinstance(count, Dimension) else count
    if type(n) is not int or fewest == 0:
        return
    if n == 0:
        raise IndexError(f"{what}: no index is in range for axis {axis} with extent 0")
    backend = indices._element.backend
    if not backend.is_concrete(indices):
        return
    host = backend.to_numpy(indices, None)
    low, high = host.min(), host.max()
    if low < -n or high >= n:
        worst = low if low < -n else high
        raise IndexError(f"{what}: index {worst} is out of range for axis {axis} with extent {n}")
