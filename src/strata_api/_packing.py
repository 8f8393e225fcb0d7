"""Between descriptors and views: the chain of steps that a layout is, and the layout of a chain.

A chain cuts the buffer into rows, the rows into shorter rows, and so on down the strides; then it
puts the axes in order, and joins the inner blocks of an axis with what is outside of them.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TypeAlias

from strata_api._dtypes import DType
from strata_api._format_tag import blocks_by_axis
from strata_api._layout import EMPTY, MemoryDescriptor, _blocked, described
from strata_api._shape import Shape, is_static
from strata_api._view import Affine, Axis, Reshape, Strides, View, block_of

Level: TypeAlias = tuple[int, int]  # of an axis: how many positions, and their stride


@lru_cache(maxsize=1024)
def buffer_size(layout: MemoryDescriptor) -> int:
    """Return the elements of a buffer that holds a layout, its offset and gaps included.

    Raises: ``ValueError`` for a descriptor without a layout, or with unknown dims or strides.
    """
    dims, _ = layout._mapping("buffer_size")
    if 0 in dims:
        return 0
    levels = [level for axis in _levels(layout) for level in axis]
    return layout.offset + max([1, *[n * stride for n, stride in levels]])


@lru_cache(maxsize=1024)
def chain_of(layout: MemoryDescriptor, length: int) -> View:
    """Return the view of a flat buffer of this length that has this layout.

    Raises: ``ValueError`` for a descriptor without a layout, or with unknown dims or strides, for
    a buffer that is too short, and for a layout that no chain of steps has.
    """
    dims, _ = layout._mapping("from_buffer")
    if 0 in dims:
        nothing = Affine((length,), (0,), (Axis(0, ((0, 1),)),))
        return View().then(nothing).then(Reshape((0,), dims))
    span = layout.offset + 1 + sum([n * s - s for axis in _levels(layout) for n, s in axis])
    if span > length:
        raise ValueError(f"from_buffer: {layout!r} needs a buffer of {span} elements, got {length}")
    axes = _levels(layout)
    moving = [level for axis in axes for level in axis if level[0] > 1 and level[1]]
    moving.sort(key=lambda level: -level[1])
    view = _rows(layout, moving, length)
    view = view.then(_in_order(view.shape((length,)), axes, moving))
    padded = tuple([prod([n for n, _ in levels]) for levels in axes])
    if view.shape((length,)) != padded:
        view = view.then(Reshape(view.shape((length,)), padded))
    return view if padded == dims else view.then(block_of(padded, dims, (0,) * len(dims)))


def _levels(layout: MemoryDescriptor) -> list[list[Level]]:
    """Return the levels of each axis, the outermost first."""
    dims, strides = layout._mapping("from_buffer")
    blocks = blocks_by_axis(len(dims), layout.inner_blocks, layout.inner_axes)
    levels: list[list[Level]] = [
        [(-(-padded // block), stride)]  # type: ignore[operator]  # the dims are known
        for padded, block, stride in zip(layout.padded_dims, blocks, strides, strict=True)
    ]
    place = prod(layout.inner_blocks)
    for size, axis in zip(layout.inner_blocks, layout.inner_axes, strict=True):
        place //= size
        levels[axis].append((size, place))
    return levels


def _rows(layout: MemoryDescriptor, levels: list[Level], length: int) -> View:
    """Return the view whose axes are the levels, of falling strides.

    A window may begin early, so that its last row is whole; where its rows begin is then ``at``.
    """
    view, at, row = View(), layout.offset, length
    shape: tuple[int, ...] = (length,)
    for n, stride in levels[:-1]:
        begin = min(at, row - n * stride)
        rest = sum([m * step - step for m, step in levels[len(shape) :]])
        if begin < 0 or at - begin + rest >= stride:
            raise ValueError(
                f"from_buffer: no chain of views has this layout over {length} elements: {n} rows "
                f"of {stride} do not fit whole into {row}; {layout!r} (a buffer of "
                f"{buffer_size(layout)} elements holds the last row whole)"
            )
        window = (*shape[:-1], n * stride)
        view = view.then(block_of(shape, window, (0,) * (len(shape) - 1) + (begin,)))
        shape = (*shape[:-1], n, stride)
        view = view.then(Reshape(window, shape))
        at, row = at - begin, stride
    axes = [Axis(n, ((k, 1),)) for k, n in enumerate(shape[:-1])]
    axes += [Axis(m, ((len(shape) - 1, stride),)) for m, stride in levels[-1:]]
    return view.then(Affine(shape, (0,) * (len(shape) - 1) + (at,), tuple(axes)))


def _in_order(shape: Shape, axes: list[list[Level]], levels: list[Level]) -> Affine:
    """Return the step from the levels by stride to the levels by axis."""
    left = list(enumerate(levels))
    order = []
    for level in [level for levels_of in axes for level in levels_of]:
        found = next((pair for pair in left if pair[1] == level), None)
        if found is not None:
            left.remove(found)
        order.append(Axis(level[0], () if found is None else ((found[0], 1),)))
    return Affine(shape, (0,) * len(shape), tuple(order))


# The layout of a chain.


def descriptor_of(view: View, base: Shape, strides: Strides, dtype: DType) -> MemoryDescriptor:
    """Return the descriptor of a view of a base with these strides.

    Raises: ``ValueError`` for negative or overlapping strides, and for what no descriptor tells.
    """
    dims = view.shape(base)
    if not dims:
        return EMPTY
    if not is_static(base[1:]):  # the strides of the base are unknown
        return described(dims, dtype, strides=(None,) * len(dims) if view.steps else None)
    layout = view.layout(strides)
    if layout is not None:
        return _strided(dims, dtype, *layout)
    if not is_static(dims) or not is_static(base):
        return described(dims, dtype, strides=(None,) * len(dims))
    found = _unfolded(view, base, strides)
    made = None if found is None else _in_blocks(dims, dtype, *found)
    if made is None:
        raise ValueError(f"descriptor: no layout in strides and blocks tells the view {view}")
    return made


def _strided(dims: Shape, dtype: DType, offset: int, strides: Strides) -> MemoryDescriptor:
    if any(s < 0 and n != 1 for n, s in zip(dims, strides, strict=True)):
        raise ValueError(f"descriptor: expected strides of 0 or more, got the strides {strides}")
    strides = tuple([max(stride, 0) for stride in strides])
    made = described(dims, dtype, strides=strides)
    if not offset:
        return made
    return _blocked(dims, dtype, dims, strides, offset, given=strides)


def _unfolded(
    view: View, base: tuple[int, ...], strides: Strides
) -> tuple[int, list[list[Level]]] | None:
    """Return the offset and the levels of each axis of a chain, or None where it has none."""
    offset = 0
    axes = [[(n, stride)] for n, stride in zip(base, strides, strict=True)]
    dims: Shape = base
    for step in view.steps:
        if type(step) is Reshape:
            if not is_static(step.shape):
                return None
            full = all(prod([n for n, _ in of]) == n for of, n in zip(axes, dims, strict=True))
            split = _regrouped(axes, step.shape) if full else None
            if split is None:
                return None
            axes, dims = split, step.shape
        else:
            moved = _moved(step, axes)  # type: ignore[arg-type]  # the other kind of step
            if moved is None:
                return None
            offset, axes, dims = offset + moved[0], moved[1], step.shape
    return offset, axes


def _regrouped(axes: list[list[Level]], shape: tuple[int, ...]) -> list[list[Level]] | None:
    levels = [level for axis in axes for level in axis if level[0] != 1]
    result = []
    for n in reversed(shape):
        group: list[Level] = []
        while n != 1:
            count, stride = levels.pop()
            taken = min(count, n)
            if max(count, n) % taken:
                return None
            if count > taken:
                levels.append((count // taken, stride * taken))
            n //= taken
            if group and group[0][1] * group[0][0] == stride:
                group[0] = (group[0][0] * taken, group[0][1])
            else:
                group.insert(0, (taken, stride))
        result.append(group or [(1, 0)])
    return result[::-1]


def _moved(step: Affine, axes: list[list[Level]]) -> tuple[int, list[list[Level]]] | None:
    offset, whole = 0, {}
    for axis, (levels, start) in enumerate(zip(axes, step.starts, strict=True)):
        if type(start) is not int:
            return None
        rest = start
        for m, stride in reversed(levels[1:]):
            rest, digit = divmod(rest, m)
            offset += digit * stride
        offset += rest * levels[0][1]
        block = prod([m for m, _ in levels[1:]])
        whole[axis] = start % block == 0
    result: list[list[Level]] = []
    for n, moves in step.axes:
        if type(n) is not int:
            return None
        if len(moves) == 1 and moves[0][1] == 1 and not step.starts[moves[0][0]]:
            result.append(axes[moves[0][0]])  # cut at the end: the rest may be padding
            continue
        if all(len(axes[axis]) == 1 for axis, _ in moves):
            result.append([(n, sum([axes[axis][0][1] * by for axis, by in moves]))])
            continue
        ((axis, by),) = moves if len(moves) == 1 else ((-1, 0),)
        if by != 1 or not whole[axis]:
            return None
        outer, *inner = axes[axis]
        count = -(-n // prod([m for m, _ in inner]))
        result.append([(count, outer[1]), *inner])
    return offset, result


def _in_blocks(
    dims: tuple[int, ...], dtype: DType, offset: int, axes: list[list[Level]]
) -> MemoryDescriptor | None:
    """Return the descriptor of these levels if the inner ones are dense together.

    An axis of one block shows no level outside of it; where a block is missing, it is that one.
    """
    if any(stride < 0 for levels in axes for _, stride in levels):
        return None
    axes = [list(levels) for levels in axes]
    place, sizes, order = 1, [], []
    while any(len(levels) > 1 for levels in axes):
        axis = _axis_at(axes, place)
        if axis is None:
            return None
        n, _ = axes[axis].pop()
        place *= n
        sizes.append(n)
        order.append(axis)
        if not axes[axis]:
            axes[axis] = [(1, 0)]
    blocks = blocks_by_axis(len(dims), tuple(sizes), tuple(order))
    padded = tuple([-(-n // block) * block for n, block in zip(dims, blocks, strict=True)])
    strides = tuple([levels[0][1] for levels in axes])
    return _blocked(
        *(dims, dtype, padded, strides, offset),
        *(tuple(reversed(sizes)), tuple(reversed(order))),
    )


def _axis_at(axes: list[list[Level]], place: int) -> int | None:
    """Return the axis whose innermost level has this stride, one with levels outside if any has."""
    found = [axis for axis, of in enumerate(axes) if of[-1][1] == place and of[-1][0] > 1]
    return max(found, key=lambda axis: len(axes[axis]), default=None)
