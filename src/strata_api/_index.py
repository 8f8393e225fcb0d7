"""What a user writes in brackets, brought to canonical form.

Every key is a basic step, which is a view, followed by index arrays along some of its axes. An
integer beside index arrays fixes its axis in the basic step and still counts as one of them for the
place of their axes in the result, which is NumPy's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from strata_api._dimension import Dimension, Extent, extent
from strata_api._shape import Shape, may_be, merge, shown
from strata_api._view import Affine, Axis, whole
from strata_api.backends.protocol import Start

if TYPE_CHECKING:
    from strata_api._array import Array


class Lookup(NamedTuple):
    """An index array: integers along one axis, or a mask over several."""

    array: Array
    is_mask: bool

    @property
    def shape(self) -> Shape:
        return self.array.dims


class Position(NamedTuple):
    """An integer whose value is not known: ``within(n)`` is the start it means on an axis."""

    within: Callable[[Extent], Start]


Item: TypeAlias = slice | int | Lookup | Position | None  # Ellipsis is resolved first


class Pick(NamedTuple):
    """Integers that choose along one axis of the basic step's view."""

    axis: int
    array: Array


class Index(NamedTuple):
    """A key in canonical form."""

    step: Affine
    picks: tuple[Pick, ...]
    at: int  # where the axes of the index arrays stand in the result
    is_element: bool  # integers alone, one for every axis: a copy, by NumPy's rule


def parse(
    key: object,
    shape: Shape,
    classify: Callable[[object], Item],
    nonzero: Callable[[Array, Shape], Sequence[Array]],
) -> Index:
    """Return the canonical form of a key for an array of this shape.

    ``classify`` tells what one item of the key is; ``nonzero`` turns a mask into index arrays.

    Raises: ``IndexError`` for too many items, an integer out of range, a mask of another shape, or
    what is no index. Source: the standard, indexing; NumPy, "Indexing on ndarrays".
    """
    items = [
        item if item is Ellipsis else classify(item)
        for item in (key if type(key) is tuple else (key,))
    ]
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have only one ellipsis ('...')")
    used = sum(_axes_of(item) for item in items if item is not Ellipsis)
    if used > len(shape):
        raise IndexError(
            f"too many indices: the array has {len(shape)} dimensions, {used} were indexed"
        )
    position = dots[0] if dots else len(items)
    rest: list[object] = [slice(None)] * (len(shape) - used)
    gap: list[object] = [Ellipsis] if dots else []
    return _walk([*items[:position], *gap, *rest, *items[position + len(dots) :]], shape, nonzero)


def simple_step(items: tuple[Any, ...], shape: Shape) -> Affine | None:
    """Return the step of a key of integers and slices on known extents, the commonest of keys.

    ``None`` for any other key, and for one that is wrong.
    """
    if len(items) > len(shape):
        return None
    base = whole(shape)
    starts = list(base.starts)
    axes = []
    for position, item in enumerate(items):
        n = shape[position]
        if type(n) is not int:
            return None
        if item.__class__ is slice:
            start, stop, step = item.indices(n)
            length = len(range(start, stop, step))
            if length:
                starts[position] = start
            axes.append(Axis(length, ((position, step),)))
        elif item.__class__ is int and -n <= item < n:
            starts[position] = item + n if item < 0 else item
        else:
            return None
    return Affine(shape, tuple(starts), (*axes, *base.axes[len(items) :]))


def _axes_of(item: object) -> int:
    if item is None:
        return 0
    return len(item.shape) if isinstance(item, Lookup) and item.is_mask else 1


def _walk(
    items: Sequence[object],
    shape: Shape,
    nonzero: Callable[[Array, Shape], Sequence[Array]],
) -> Index:
    base = whole(shape)
    starts = list(base.starts)
    axes: list[Axis] = []
    picks: list[Pick] = []
    integers: list[int] = []  # where integers stand among the axes
    fancy: list[tuple[int, int]] = []  # of integers and index arrays: place in the key, axes before
    position = 0
    for place, item in enumerate(items):
        if item is None:
            axes.append(Axis(1, ()))
        elif type(item) is slice:
            start, by, n = slice_of(item, shape[position])
            starts[position] = start
            axes.append(Axis(n, ((position, by),)))
            position += 1
        elif isinstance(item, Lookup):
            fancy.append((place, len(axes)))
            indices = _indices(item, shape[position:], nonzero)
            if item.is_mask and not item.shape:  # picks its one element, or none, on a new axis
                picks.append(Pick(len(axes), indices[0]))
                axes.append(Axis(1, ()))
                continue
            for array in indices:
                picks.append(Pick(len(axes), array))
                axes.append(base.axes[position])
                position += 1
        elif item is not Ellipsis:
            fancy.append((place, len(axes)))
            starts[position] = checked_position(item, shape[position], position)
            integers.append(place)
            position += 1
    step = Affine(shape, tuple(starts), tuple(axes))
    if not picks:
        return Index(step, (), 0, len(integers) == len(items) == len(shape))
    return Index(step, tuple(picks), _place_of(fancy, picks), False)


def _indices(
    item: Lookup, shape: Shape, nonzero: Callable[[Array, Shape], Sequence[Array]]
) -> Sequence[Array]:
    if not item.is_mask:
        return (item.array,)
    return nonzero(item.array, mask_shape(item.shape, shape))


def mask_shape(mask: Shape, shape: Shape) -> Shape:
    """Return the shape of a mask over the leading axes of ``shape``: what both say of it.

    An extent of the mask is that of the axis, or 0, which picks nothing. Source: the standard,
    indexing, boolean array indexing.

    Raises: ``IndexError`` unless it fits.
    """
    covered = shape[: len(mask)]
    fits = [may_be(m, n) or may_be(m, 0) for m, n in zip(mask, covered, strict=False)]
    if len(mask) > len(shape) or not all(fits):
        raise IndexError(
            f"a mask of shape {shown(mask)} does not fit axes of shape {shown(covered)}"
        )
    return tuple([merge(m, n) if may_be(m, n) else 0 for m, n in zip(mask, covered, strict=True)])


def _place_of(fancy: Sequence[tuple[int, int]], picks: Sequence[Pick]) -> int:
    """Return where the index arrays' axes go: where they stand if side by side, else in front."""
    places = [place for place, _ in fancy]
    if places[-1] - places[0] != len(places) - 1:
        return 0
    before = fancy[0][1]
    return before - sum(pick.axis < before for pick in picks)


def checked_position(item: object, n: Extent, axis: int) -> Start:
    """Return where an integer index points, counted from the front."""
    place = item.within(n) if isinstance(item, Position) else item
    if type(place) is not int:
        return place
    position = place
    if isinstance(n, Dimension):
        return _unknown_position(position, n, axis)
    if not -n <= position < n:
        raise IndexError(f"index {position} is out of range for axis {axis} with extent {n}")
    return position + n if position < 0 else position


def _unknown_position(position: int, n: Dimension, axis: int) -> Start:
    _, high = n.get_interval()
    needed = position + 1 if position >= 0 else -position
    if high is not None and needed > high:
        raise IndexError(f"index {position} is out of range for axis {axis} with extent {n}")
    return position if position >= 0 else extent(n - -position)


def slice_of(item: slice, n: Extent) -> tuple[Start, int, Extent]:
    """Return start, step and length of a slice of an axis of extent ``n``."""
    if not isinstance(n, Dimension):
        start, stop, step = item.indices(n)
        length = len(range(start, stop, step))
        return (start if length else 0), step, length
    step = 1 if item.step is None else index(item.step)
    if item.start is None and item.stop is None and abs(step) == 1:
        return (0 if step > 0 else extent(n - 1)), step, n
    return 0, step, _slice_hull(item, n)


def _slice_hull(item: slice, n: Dimension) -> Extent:
    """Return the lengths that the slice has for the lengths that ``n`` may have.

    The length is piecewise linear in ``n``; it turns only where ``n`` meets a bound of the slice,
    or the sum of both.
    """
    low, high = n.get_interval()
    step = 1 if item.step is None else index(item.step)
    bounds = [abs(index(bound)) for bound in (item.start, item.stop) if bound is not None]
    turns = [0, *bounds, sum(bounds)]
    limit = max(turns) + 2 * abs(step) + low + 2
    top = limit if high is None else high
    near = {m for turn in turns for m in (turn - 1, turn, turn + 1)}
    samples = [m for m in near | {low, top} if low <= m <= top]
    lengths = [len(range(*item.indices(m))) for m in samples]
    grows = high is None and len(range(*item.indices(limit + abs(step)))) > len(
        range(*item.indices(limit))
    )
    return extent(Dimension(min(lengths), None if grows else max(lengths)))
