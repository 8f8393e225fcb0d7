"""Utility functions: tests of truth, and differences."""

from __future__ import annotations

from operator import index

from strata_api import _rules as rules
from strata_api._apply import apply, arrays_of, as_array, joined, reduction, viewed
from strata_api._array import Array
from strata_api._dimension import Extent, extent
from strata_api._dtypes import Scalar
from strata_api._shape import Shape, normalize_axis, replaced
from strata_api._view import expanded


def all(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Return whether every element is true; of no elements, true.

    Shape: that of ``x`` without the axes, or with 1 in their place.
    Dtype: boolean.
    Raises: ``IndexError`` for an axis out of range, ``ValueError`` for one given twice.
    Source: the standard, ``all``.
    """
    return reduction(rules.ALL, x, axis, keepdims)


def any(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Return whether some element is true; of no elements, false.

    Shape: that of ``x`` without the axes, or with 1 in their place.
    Dtype: boolean.
    Raises: ``IndexError`` for an axis out of range, ``ValueError`` for one given twice.
    Source: the standard, ``any``.
    """
    return reduction(rules.ANY, x, axis, keepdims)


def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | Scalar | None = None,
    append: Array | Scalar | None = None,
) -> Array:
    """Return the differences of neighbours along an axis, taken ``n`` times.

    What is put before and after may be a number or a 0-d array, which stands for one position.

    Shape: that of ``x``, along the axis ``n`` fewer than all the positions, or 0.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for a negative ``n`` or shapes that do
    not join, ``IndexError`` for an axis out of range.
    Source: the standard, ``diff``.
    """
    array = as_array(x, "diff")
    position = normalize_axis(axis, array.ndim, "diff")
    times = index(n)
    if times < 0:
        raise ValueError(f"diff: expected n of 0 or more, got {n}")
    parts = [part for part in (prepend, array, append) if part is not None]
    if len(parts) > 1:
        row = replaced(array.dims, position, 1)
        array = joined([_row(part, row) for part in arrays_of("diff", parts)[0]], position, "diff")
    rules.DIFF.check(array._element.dtype)
    count = array.dims[position]
    shape = replaced(array.dims, position, _fewer(count, times))
    if isinstance(count, int):
        times = min(times, count)  # there is nothing left before
    return apply(rules.DIFF, (array,), shape, array._element.dtype, n=times, axis=position)


def _row(part: Array, shape: Shape) -> Array:
    """Return what is joined to an array: a number as one position along the axis."""
    return viewed(part, expanded((), shape)) if part.ndim == 0 else part


def _fewer(n: Extent, k: int) -> Extent:
    if isinstance(n, int):
        return max(n - k, 0)
    return extent(n - k)
