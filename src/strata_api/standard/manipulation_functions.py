"""Manipulation functions: other shapes and orders of the same elements.

What can be a view is one: it moves no data, and what is written through it reaches the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from strata_api import _dtypes as d
from strata_api import _explain
from strata_api import _rules as rules
from strata_api._apply import apply, as_array, joined, operands, viewed
from strata_api._array import Array
from strata_api._dimension import Dimension, Extent, extent
from strata_api._shape import (
    Shape,
    ShapeLike,
    as_extent,
    as_shape,
    broadcast,
    may_be,
    normalize_axes,
    normalize_axis,
    replaced,
    reshaped,
    shown,
    size,
    visible,
)
from strata_api._view import (
    Reshape,
    can_reshape,
    expanded,
    flipped,
    permuted,
    whole,
    with_new_axes,
    without_axes,
)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Return the arrays broadcast against each other: read-only views.

    Shape: broadcast of all.
    Dtype: of each, its own.
    Raises: ``ValueError`` if the shapes do not broadcast.
    Source: the standard, ``broadcast_arrays``.
    """
    if not arrays:
        return ()
    xs = _arrays(arrays, "broadcast_arrays")
    shape = broadcast(*[x.dims for x in xs], what="broadcast_arrays")
    return tuple([viewed(x, expanded(x.dims, shape), readonly=True) for x in xs])


def broadcast_shapes(
    *shapes: tuple[int | None, ...] | tuple[Extent, ...],
) -> tuple[int | None, ...] | tuple[Extent, ...]:
    """Return the shape that shapes broadcast to.

    An unknown extent may be ``None`` or a ``Dimension``; if there is a ``Dimension`` among them,
    what stays unknown comes back as one.

    Raises: ``ValueError`` if the shapes do not broadcast.
    Source: the standard, ``broadcast_shapes``.
    """
    if not shapes:
        return ()
    known = [_with_unknowns(shape) for shape in shapes]
    result = broadcast(*known, what="broadcast_shapes")
    given = [n for shape in shapes if isinstance(shape, tuple | list) for n in shape]
    return result if any(isinstance(n, Dimension) for n in given) else visible(result)


def broadcast_to(x: Array, /, shape: ShapeLike) -> Array:
    """Return ``x`` repeated to a shape: a read-only view.

    Shape: given.
    Dtype: that of ``x``.
    Raises: ``ValueError`` if ``x`` does not broadcast to the shape.
    Source: the standard, ``broadcast_to``.
    """
    array = as_array(x, "broadcast_to")
    target = as_shape(shape)
    dims = array.dims
    lead = len(target) - len(dims)
    if lead < 0 or not all(map(_stretches, dims, target[lead:])):
        raise ValueError(f"broadcast_to: shape {shown(dims)} does not broadcast to {shown(target)}")
    return viewed(array, expanded(dims, target), readonly=True)


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Return arrays joined along an axis; flattened before, if the axis is ``None``.

    Shape: of all, with the sum of the extents along the axis.
    Dtype: promoted.
    Raises: ``ValueError`` for no array, a 0-d one, or other extents that differ; ``IndexError`` for
    an axis out of range.
    Source: the standard, ``concat``.
    """
    xs = _sequence(arrays, "concat")
    if axis is None:
        return joined([reshape(x, (-1,)) for x in xs], 0, "concat")
    if any(x.ndim == 0 for x in xs):
        raise ValueError("concat: expected arrays with an axis, got a 0-d one: use stack")
    return joined(xs, normalize_axis(axis, xs[0].ndim, "concat"), "concat")


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Return ``x`` with new axes of extent 1 at these positions of the result: a view.

    Shape: that of ``x`` with the new axes.
    Dtype: that of ``x``.
    Raises: ``IndexError`` for an axis out of range, ``ValueError`` for one given twice.
    Source: the standard, ``expand_dims``.
    """
    array = as_array(x, "expand_dims")
    count = len(axis) if isinstance(axis, tuple | list) else 1
    axes = normalize_axes(axis, array.ndim + count, "expand_dims")
    return viewed(array, with_new_axes(array.dims, sorted(axes)))


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Return ``x`` backwards along axes, or along all of them: a view.

    Shape: that of ``x``.
    Dtype: that of ``x``.
    Raises: ``IndexError`` for an axis out of range, ``ValueError`` for one given twice.
    Source: the standard, ``flip``.
    """
    array = as_array(x, "flip")
    return viewed(array, flipped(array.dims, normalize_axes(axis, array.ndim, "flip")))


def moveaxis(
    x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Array:
    """Return ``x`` with some axes at other positions, the rest in order: a view.

    Shape: that of ``x``, permuted.
    Dtype: that of ``x``.
    Raises: ``ValueError`` unless as many axes are named as positions, each once; ``IndexError`` for
    an axis out of range.
    Source: the standard, ``moveaxis``.
    """
    array = as_array(x, "moveaxis")
    moved = normalize_axes(_named(source, "source"), array.ndim, "moveaxis")
    places = normalize_axes(_named(destination, "destination"), array.ndim, "moveaxis")
    if len(moved) != len(places):
        raise ValueError(
            f"moveaxis: expected as many destinations as sources, got {source} and {destination}"
        )
    order = [axis for axis in range(array.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return viewed(array, permuted(array.dims, order))


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Return ``x`` with its axes in another order: a view.

    Shape: that of ``x``, permuted.
    Dtype: that of ``x``.
    Raises: ``ValueError`` unless each axis is named once, ``IndexError`` for one out of range.
    Source: the standard, ``permute_dims``.
    """
    array = as_array(x, "permute_dims")
    order = normalize_axes(_named(axes, "axes"), array.ndim, "permute_dims")
    if len(order) != array.ndim:
        raise ValueError(f"permute_dims: expected each of {array.ndim} axes once, got {axes}")
    return viewed(array, permuted(array.dims, order))


def repeat(x: Array, repeats: int | Sequence[int] | Array, /, *, axis: int | None = None) -> Array:
    """Return the elements of ``x``, each a number of times; of ``x`` flattened without an axis.

    Shape: that of ``x`` with the sum of the counts along the axis; where the counts are an array
    it depends on data, and a trace refuses it.
    Dtype: that of ``x``.
    Raises: ``TypeError`` for counts that are no integers, ``ValueError`` for negative ones or
    another number of them than positions, ``IndexError`` for an axis out of range.
    Source: the standard, ``repeat``.
    """
    array = as_array(x, "repeat")
    if axis is None:
        array, axis = reshape(array, (-1,)), 0
    position = normalize_axis(axis, array.ndim, "repeat")
    n = array.dims[position]
    if isinstance(repeats, list | tuple):
        return _repeated(array, position, tuple([_repetitions(k, "repeat") for k in repeats]))
    if repeats.__class__ is not Array and not getattr(repeats, "shape", ()):
        count = _repetitions(repeats, "repeat")
        shape = replaced(array.dims, position, extent(n * count))
        return apply(rules.REPEAT_KNOWN, (array,), shape, array.dtype, repeats=count, axis=position)
    array, counts = _arrays((array, repeats), "repeat")
    _check_counts(counts, n)
    shape = replaced(array.dims, position, _any_length(n))
    return apply(rules.REPEAT, (array, counts), shape, array.dtype, axis=position)


def reshape(x: Array, /, shape: ShapeLike, *, copy: bool | None = None) -> Array:
    """Return the elements of ``x`` in row-major order in another shape.

    A view where the strides allow one, on every backend alike, and a fresh array elsewhere or if
    ``copy`` is true. One extent may be -1, which stands for what is left.

    Shape: given.
    Dtype: that of ``x``.
    Raises: ``ValueError`` for another number of elements, and if ``copy`` is false but needed.
    Source: the standard, ``reshape``.
    """
    if copy is None and x.__class__ is Array and x._element.ordered and x._buffer is not None:
        try:
            buffer = x._buffer.reshape(shape)
        except (TypeError, ValueError):
            pass  # the same question below finds the error to raise
        else:
            if buffer.shape == shape or _is_plain(shape):
                return _row_major_view(x, buffer)
    return _reshaped(as_array(x, "reshape"), shape, copy)


def roll(
    x: Array,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Array:
    """Return ``x`` with its elements moved along axes, what leaves at one end back at the other.

    Without an axis the flattened elements move.

    Shape: that of ``x``.
    Dtype: that of ``x``.
    Raises: ``ValueError`` unless there is one shift for all axes or one for each, ``IndexError``
    for an axis out of range.
    Source: the standard, ``roll``.
    """
    array = as_array(x, "roll")
    shifts = tuple([_integer(k) for k in (shift if isinstance(shift, tuple | list) else (shift,))])
    dims = array.dims
    if axis is None:
        if len(shifts) != 1:
            raise ValueError(f"roll: expected one shift without an axis, got {shift}")
        shifts, axes = (_within(shifts[0], size(dims)),), None
    else:
        named = axis if isinstance(axis, tuple | list) else (axis,)
        axes = tuple([normalize_axis(k, array.ndim, "roll") for k in named])
        shifts = shifts * len(axes) if len(shifts) == 1 else shifts
        if len(shifts) != len(axes):
            raise ValueError(f"roll: expected as many shifts as axes, got {shift} and {axis}")
        shifts = tuple([_within(k, dims[place]) for k, place in zip(shifts, axes, strict=True)])
    return apply(rules.ROLL, (array,), dims, array.dtype, shift=shifts, axis=axes)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Return ``x`` without axes of extent 1: a view.

    Shape: that of ``x`` without the axes.
    Dtype: that of ``x``.
    Raises: ``ValueError`` for an axis of another extent or one given twice, ``IndexError`` for one
    out of range.
    Source: the standard, ``squeeze``.
    """
    array = as_array(x, "squeeze")
    axes = normalize_axes(_named(axis, "axis"), array.ndim, "squeeze")
    dims = array.dims
    for k in axes:
        if not may_be(dims[k], 1):
            raise ValueError(f"squeeze: expected extent 1 along axis {k}, got shape {shown(dims)}")
    return viewed(array, without_axes(dims, axes))


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Return arrays of one shape joined along a new axis.

    Shape: that of each, with the number of arrays at the new axis.
    Dtype: promoted.
    Raises: ``ValueError`` for no array or shapes that differ, ``IndexError`` for an axis out of
    range.
    Source: the standard, ``stack``.
    """
    xs = _sequence(arrays, "stack")
    position = normalize_axis(axis, xs[0].ndim + 1, "stack")
    for x in xs[1:]:
        if x.ndim != xs[0].ndim:
            raise ValueError(
                f"stack: expected arrays of one shape, got {shown(xs[0].dims)} and {shown(x.dims)}"
            )
    return joined([viewed(x, with_new_axes(x.dims, (position,))) for x in xs], position, "stack")


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Return ``x`` repeated as a whole along each axis.

    Shape: the extents times the repetitions, the shorter of the two filled up with 1 in front.
    Dtype: that of ``x``.
    Raises: ``TypeError`` for repetitions that are no integers, ``ValueError`` for negative ones.
    Source: the standard, ``tile``.
    """
    array = as_array(x, "tile")
    named = repetitions if isinstance(repetitions, tuple | list) else (repetitions,)
    counts = tuple([_repetitions(k, "tile") for k in named])
    counts = (1,) * (array.ndim - len(counts)) + counts
    dims = (1,) * (len(counts) - array.ndim) + array.dims
    shape = tuple([extent(n * k) for n, k in zip(dims, counts, strict=True)])
    return apply(rules.TILE, (array,), shape, array.dtype, reps=counts)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of ``x`` along an axis: views.

    Shape: of each, that of ``x`` without the axis.
    Dtype: that of ``x``.
    Raises: ``IndexError`` for an axis out of range, ``TypeError`` for one of unknown extent.
    Source: the standard, ``unstack``.
    """
    array = as_array(x, "unstack")
    position = normalize_axis(axis, array.ndim, "unstack")
    dims = array.dims
    n = dims[position]
    if not isinstance(n, int):
        raise TypeError(f"unstack: the extent along axis {position} is unknown, {n}")
    step = without_axes(dims, (position,))
    starts = whole(dims).starts
    return tuple(
        [viewed(array, step._replace(starts=replaced(starts, position, k))) for k in range(n)]
    )


# -- arrays, axes and counts that are given -------------------------------------------------------


def _arrays(xs: Sequence[object], what: str) -> list[Array]:
    return [as_array(x, what) for x in operands(what, *xs)]


def _sequence(arrays: Sequence[object], what: str) -> list[Array]:
    xs = list(arrays)
    if not xs:
        raise ValueError(f"{what}: expected at least one array")
    return _arrays(xs, what)


def _named(axes: object, what: str) -> object:
    if axes is None:
        raise TypeError(f"{what}: expected an integer or a tuple of integers, got None")
    return axes


def _with_unknowns(shape: object) -> Shape:
    if isinstance(shape, tuple | list):
        return tuple([Dimension() if n is None else as_extent(n) for n in shape])
    return as_shape(shape)


def _stretches(n: Extent, to: Extent) -> bool:
    """Tell whether an extent can be repeated to another: whether it may be 1, or the same."""
    return may_be(n, 1) or may_be(n, to)


def _repetitions(k: object, what: str) -> int:
    try:
        count = index(k)  # type: ignore[arg-type]  # the call is the check
    except TypeError:
        raise TypeError(f"{what}: expected an integer as a count, got {k!r}") from None
    if count < 0:
        raise ValueError(f"{what}: expected a count of 0 or more, got {count}")
    return count


def _repeated(x: Array, axis: int, counts: tuple[int, ...]) -> Array:
    """Return ``x`` with each position along an axis a known number of times."""
    n = x.dims[axis]
    if len(counts) == 1:
        total = extent(n * counts[0])
    elif may_be(n, len(counts)):
        total = sum(counts)
    else:
        raise ValueError(f"repeat: expected {n} counts or one, got {len(counts)}")
    shape = replaced(x.dims, axis, total)
    repeats = counts[0] if len(counts) == 1 else counts
    return apply(rules.REPEAT_KNOWN, (x,), shape, x.dtype, repeats=repeats, axis=axis)


def _check_counts(counts: Array, n: Extent) -> None:
    if counts._element.dtype not in d.INTEGER:
        raise TypeError(f"repeat: expected integers as counts, got an array of {counts.dtype}")
    if counts.ndim > 1 or (counts.ndim and not _stretches(counts.dims[0], n)):
        raise ValueError(f"repeat: expected {n} counts or one, got shape {counts.shape}")


def _any_length(n: Extent) -> Extent:
    """Return the extent of repetitions of ``n`` positions: anything, but none of none."""
    return 0 if isinstance(n, int) and n == 0 else Dimension()


def _integer(shift: object) -> int:
    try:
        return index(shift)  # type: ignore[arg-type]  # the call is the check
    except TypeError:
        raise TypeError(f"roll: expected an integer as a shift, got {shift!r}") from None


def _within(shift: int, n: Extent) -> int:
    """Return a shift of the same effect, below the extent, so that fewer programs are compiled."""
    return shift % max(n, 1) if isinstance(n, int) else shift


# -- reshape --------------------------------------------------------------------------------------


def _is_plain(shape: object) -> bool:
    """Tell whether the shape is right as it stands: NumPy takes every negative number for -1."""
    if shape.__class__ is tuple:
        return not shape or min(shape) >= -1
    return shape.__class__ is int and shape >= -1


def _row_major_view(x: Array, buffer: object) -> Array:
    """Return the reshaped view of a row-major array: its buffer now, the chain later."""
    array = Array()
    array._buffer = buffer
    array._element = x._element
    array._lazy_storage = None
    array._lazy_view = (x, Reshape)
    return array


def _reshaped(x: Array, shape: object, copy: bool | None) -> Array:
    dims = x.dims
    target = reshaped(dims, _targets(shape))
    if copy is not True and _is_view(x, target):
        return viewed(x, Reshape(dims, target))
    if copy is False:
        raise ValueError(
            f"reshape: copy=False cannot be kept: no strides show this view of shape {shown(dims)} "
            f"as {shown(target)}"
        )
    if _explain.active and copy is None:
        _explain.note(
            "copy", f"reshape of shape {shown(dims)} to {shown(target)}: no strides show it so"
        )
    return apply(rules.RESHAPE, (x,), target, x._element.dtype, to=target)


def _targets(shape: object) -> Sequence[object]:
    if isinstance(shape, tuple | list):
        return shape
    if hasattr(shape, "__index__") or isinstance(shape, Dimension):
        return (shape,)
    return tuple(as_shape(shape))


def _is_view(x: Array, target: Shape) -> bool:
    """Tell whether a reshape is a view."""
    storage = x._storage
    strides = x._element.backend.strides(storage)
    return can_reshape(x._view, storage.buffer.shape, strides, target)
