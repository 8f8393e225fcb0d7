"""Views: what lies between an array and the storage that it looks at.

A view is a chain of frozen steps over the storage's buffer. There are two kinds. ``Affine`` is all
that slicing, permuting, taking a diagonal, adding and expanding axes can do; two of them in a row
are one. ``Reshape`` is the same elements, in row-major order, in another shape. Reading folds the
steps forward, writing folds them back; that is all that write-through is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias

from strata_api._dimension import Extent, extent
from strata_api._layout import reshaped_strides
from strata_api._shape import Shape, is_static, size
from strata_api.backends.protocol import Backend, Buffer, Start

Strides: TypeAlias = tuple[int, ...]


class Axis(NamedTuple):
    """An axis of a view: its extent, and how far one position moves along the base's axes.

    Tied to no base axis it is new or expanded; to several, it is a diagonal.
    """

    extent: Extent
    moves: tuple[tuple[int, int], ...]


class Plan(NamedTuple):
    """What an ``Affine`` does to its base apart from where it starts."""

    sizes: Shape  # of the window, by base axis
    steps: tuple[int, ...]
    order: tuple[int, ...]  # base axes: those that the view fixes, then those of its axes
    fixed: int
    box: Shape  # after the fixed axes are dropped
    tied: tuple[tuple[int, int], ...]  # runs of the box's axes that are diagonals: where, how many
    live: Shape  # after the diagonals
    spread: Shape  # with the new axes, of extent 1
    is_empty: bool


class Affine(NamedTuple):
    """A step that picks a regular subset of the elements of its base."""

    base: Shape
    starts: tuple[Start, ...]
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> Shape:
        return tuple([axis.extent for axis in self.axes])

    @property
    def is_identity(self) -> bool:
        return self == whole(self.base)

    @property
    def is_expanded(self) -> bool:
        """Tell whether two indices share an element."""
        for n, moves in self.axes:  # noqa: SIM110  # a loop, since every step of a chain asks
            if not moves and n != 1:
                return True
        return False

    def then(self, other: Affine) -> Affine:
        """Return the one step that does this one and then the other."""
        starts = list(self.starts)
        for own, start in zip(self.axes, other.starts, strict=True):
            if type(start) is not int or start:
                for base_axis, step in own.moves:
                    starts[base_axis] = starts[base_axis] + start * step
        axes = []
        for n, moves in other.axes:
            if len(moves) == 1:
                (axis, step) = moves[0]
                mine = self.axes[axis].moves
                if step != 1:
                    mine = tuple([(base_axis, s * step) for base_axis, s in mine])
            else:
                mine = tuple(
                    [(b, s * step) for axis, step in moves for b, s in self.axes[axis].moves]
                )
            axes.append(Axis(n, mine))
        return Affine(self.base, tuple(starts), tuple(axes))

    def read(self, base: Buffer, backend: Backend) -> Buffer:
        """Return the elements of the view of ``base``."""
        plan = plan_of(self.base, self.axes)
        box = self._box(base, plan, backend)
        for axis, count in plan.tied:
            box = backend.diagonal(box, axis, count)
        if plan.spread != plan.live:
            box = backend.reshape(box, plan.spread)
        shape = self.shape
        return box if shape == plan.spread else backend.broadcast(box, shape)

    def write(self, base: Buffer, value: Buffer, backend: Backend) -> Buffer:
        """Return ``base`` with the elements of the view replaced by ``value``."""
        plan = plan_of(self.base, self.axes)
        if plan.is_empty:
            return base
        box = backend.reshape(value, plan.live)
        if plan.tied:
            box = self._untied(base, box, plan, backend)
        box = backend.reshape(box, (1,) * plan.fixed + plan.box)
        inverse = sorted(range(len(plan.order)), key=plan.order.__getitem__)
        box = backend.transpose(box, inverse)
        return backend.set_window(base, self.starts, plan.steps, box)

    def layout(self, offset: int, strides: Strides) -> tuple[int, Strides] | None:
        """Return offset and strides of the view, given those of its base."""
        if not all(type(start) is int for start in self.starts):
            return None
        for start, stride in zip(self.starts, strides, strict=True):
            offset += start * stride
        return offset, tuple(
            [sum(strides[axis] * step for axis, step in moves) for _, moves in self.axes]
        )

    def _box(self, base: Buffer, plan: Plan, backend: Backend) -> Buffer:
        window = backend.window(base, self.starts, plan.sizes, plan.steps)
        box = backend.transpose(window, plan.order)
        return backend.reshape(box, plan.box) if plan.fixed else box

    def _untied(self, base: Buffer, value: Buffer, plan: Plan, backend: Backend) -> Buffer:
        boxes = [self._box(base, plan, backend)]
        for axis, count in plan.tied[:-1]:
            boxes.append(backend.diagonal(boxes[-1], axis, count))
        for (axis, count), box in zip(reversed(plan.tied), reversed(boxes), strict=True):
            value = backend.set_diagonal(box, axis, count, value)
        return value


class Reshape(NamedTuple):
    """A step to another shape of the same elements, in row-major order."""

    base: Shape
    shape: Shape

    @property
    def is_identity(self) -> bool:
        return self.base == self.shape and is_static(self.base)

    def then(self, other: Reshape) -> Reshape:
        return Reshape(self.base, other.shape)

    def read(self, base: Buffer, backend: Backend) -> Buffer:
        return backend.reshape(base, self.shape)

    def write(self, base: Buffer, value: Buffer, backend: Backend) -> Buffer:
        return backend.reshape(value, self.base)

    def layout(self, offset: int, strides: Strides) -> tuple[int, Strides] | None:
        if not (is_static(self.base) and is_static(self.shape)):
            return None
        new = reshaped_strides(self.base, strides, self.shape)
        return None if new is None else (offset, new)


Step: TypeAlias = Affine | Reshape


@lru_cache(maxsize=4096)
def plan_of(base: Shape, axes: tuple[Axis, ...]) -> Plan:
    """Return the plan of an ``Affine`` with these axes."""
    sizes: list[Extent] = [1] * len(base)
    steps = [1] * len(base)
    used: list[int] = []
    box: list[Extent] = []
    tied = []
    live: list[Extent] = []
    for n, moves in axes:
        if len(moves) > 1:
            tied.append((len(live), len(moves)))
        if moves:
            live.append(n)
        for axis, step in moves:
            used.append(axis)
            box.append(n)
            sizes[axis] = n
            steps[axis] = step
    fixed = [axis for axis in range(len(base)) if axis not in used]
    return Plan(
        sizes=tuple(sizes),
        steps=tuple(steps),
        order=(*fixed, *used),
        fixed=len(fixed),
        box=tuple(box),
        tied=tuple(tied),
        live=tuple(live),
        spread=tuple([n if moves else 1 for n, moves in axes]),
        is_empty=any(type(n) is int and n == 0 for n, _ in axes),
    )


@lru_cache(maxsize=4096)
def whole(shape: Shape) -> Affine:
    """Return the step that leaves an array of this shape as it is."""
    axes = tuple([Axis(n, ((axis, 1),)) for axis, n in enumerate(shape)])
    return Affine(shape, (0,) * len(shape), axes)


def permuted(shape: Shape, axes: Sequence[int]) -> Affine:
    """Return the step whose axis k is axis ``axes[k]``."""
    base = whole(shape)
    return base._replace(axes=tuple([base.axes[axis] for axis in axes]))


def flipped(shape: Shape, axes: Sequence[int]) -> Affine:
    """Return the step that runs backwards along the axes."""
    starts = list(whole(shape).starts)
    new = list(whole(shape).axes)
    for axis in axes:
        n = shape[axis]
        starts[axis] = extent(n - 1) if not (type(n) is int and n == 0) else 0
        new[axis] = Axis(n, ((axis, -1),))
    return Affine(shape, tuple(starts), tuple(new))


def with_new_axes(shape: Shape, axes: Sequence[int]) -> Affine:
    """Return the step with axes of extent 1 at these positions of the result, in rising order."""
    base = whole(shape)
    new = list(base.axes)
    for axis in axes:
        new.insert(axis, Axis(1, ()))
    return base._replace(axes=tuple(new))


def without_axes(shape: Shape, axes: Sequence[int]) -> Affine:
    """Return the step without these axes, at position 0 of each."""
    base = whole(shape)
    return base._replace(
        axes=tuple([axis for k, axis in enumerate(base.axes) if k not in axes]),
    )


def expanded(shape: Shape, new: Shape) -> Affine:
    """Return the step that broadcasts to a shape it fits in."""
    base = whole(shape)
    lead = len(new) - len(shape)
    axes = [Axis(n, ()) for n in new[:lead]]
    for axis, n in zip(base.axes, new[lead:], strict=True):
        stretched = type(axis.extent) is int and axis.extent == 1 and n != 1
        axes.append(Axis(n, ()) if stretched else Axis(n, axis.moves))
    return base._replace(axes=tuple(axes))


def diagonal_of(shape: Shape, axes: Sequence[int], n: Extent, at: int = -1) -> Affine:
    """Return the step that ties the axes, of extent ``n`` each, into one at position ``at``."""
    base = whole(shape)
    rest = [axis for k, axis in enumerate(base.axes) if k not in axes]
    tied = Axis(n, tuple([(axis, 1) for axis in axes]))
    rest.insert(len(rest) if at == -1 else at, tied)
    return base._replace(axes=tuple(rest))


def block_of(shape: Shape, sizes: Shape, corner: Sequence[Start]) -> Affine:
    """Return the step to the box of these sizes that starts at ``corner``."""
    axes = tuple([Axis(n, ((axis, 1),)) for axis, n in enumerate(sizes)])
    return Affine(shape, tuple(corner), axes)


class View:
    """A chain of steps in its shortest form, and whether it may be written."""

    __slots__ = ("readonly", "steps")

    def __init__(self, steps: tuple[Step, ...] = (), readonly: bool = False) -> None:
        self.steps = steps
        self.readonly = readonly

    def then(self, step: Step) -> View:
        """Return this view with a step more."""
        steps = self.steps
        readonly = self.readonly or (type(step) is Affine and step.is_expanded)
        if steps and type(steps[-1]) is type(step):
            step = steps[-1].then(step)  # type: ignore[arg-type]  # the two are of one type
            steps = steps[:-1]
        return View(steps if step.is_identity else (*steps, step), readonly)

    def protected(self) -> View:
        """Return this view, read-only."""
        return self if self.readonly else View(self.steps, True)

    def shape(self, base: Shape) -> Shape:
        """Return the shape of the view of an array of shape ``base``."""
        return self.steps[-1].shape if self.steps else base

    def layout(self, strides: Strides) -> tuple[int, Strides] | None:
        """Return offset and strides in elements over a base with these strides, if it has any."""
        layout: tuple[int, Strides] | None = (0, strides)
        for step in self.steps:
            if layout is None:
                return None
            layout = step.layout(*layout)
        return layout

    def read(self, buffer: Buffer, backend: Backend) -> Buffer:
        """Return the elements of the view of a buffer."""
        for step in self.steps:
            buffer = step.read(buffer, backend)
        return buffer

    def write(self, buffer: Buffer, value: Buffer, backend: Backend) -> Buffer:
        """Return the buffer with the elements of the view replaced by ``value``."""
        bases = [buffer]
        for step in self.steps[:-1]:
            bases.append(step.read(bases[-1], backend))
        for step, base in zip(reversed(self.steps), reversed(bases), strict=False):
            value = step.write(base, value, backend)
        return value

    def __repr__(self) -> str:
        return f"View({self.steps}, readonly={self.readonly})"


WHOLE = View()


def are_disjoint(a: View, b: View) -> bool:
    """Tell whether two views of one storage surely share no element.

    Sure is: each one affine step with known starts, and an axis of the base along which their
    windows lie apart or fall between each other.
    """
    if len(a.steps) != 1 or len(b.steps) != 1:
        return False
    first, second = a.steps[0], b.steps[0]
    if type(first) is not Affine or type(second) is not Affine:
        return False
    if not all(type(start) is int for start in (*first.starts, *second.starts)):
        return False
    return any(
        _apart(one, other) for one, other in zip(_positions(first), _positions(second), strict=True)
    )


def _positions(step: Affine) -> list[range]:
    plan = plan_of(step.base, step.axes)
    return [
        range(start, start + n * by, by)
        for start, n, by in zip(step.starts, plan.sizes, plan.steps, strict=True)
    ]


def _apart(a: range, b: range) -> bool:
    if not a or not b:
        return True
    if max(a[0], a[-1]) < min(b[0], b[-1]) or max(b[0], b[-1]) < min(a[0], a[-1]):
        return True
    common = gcd(a.step if len(a) > 1 else 0, b.step if len(b) > 1 else 0)
    return common > 1 and (a[0] - b[0]) % common != 0


def row_major(shape: Shape) -> Strides:
    """Return the strides of a gapless row-major array."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        n = shape[axis + 1]
        strides[axis] = strides[axis + 1] * (max(n, 1) if type(n) is int else 1)
    return tuple(strides)


def can_reshape(view: View, base: Shape, strides: Strides, shape: Shape) -> bool:
    """Tell whether a reshape of the view to ``shape`` is a view, by NumPy's rule on strides.

    Where an extent is unknown there is no data to copy, so it is one.
    """
    have = view.shape(base)
    if not (is_static(have) and is_static(shape)):
        return True
    layout = view.layout(strides)
    if layout is None:
        return tuple([n for n in have if n != 1]) == tuple([n for n in shape if n != 1])
    return size(shape) == 0 or reshaped_strides(have, layout[1], shape) is not None
