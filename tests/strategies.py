"""What tests draw from: shapes, slices, keys of every form that NumPy has, and chains of views."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

Shape = tuple[int, ...]


def small_shapes(rank: int = 3, most: int = 3) -> list[Shape]:
    """Return all shapes of up to so many axes, with extents from 0 to ``most``."""
    return [
        shape for n in range(rank + 1) for shape in itertools.product(range(most + 1), repeat=n)
    ]


def small_slices(bound: int = 4, steps: tuple[int | None, ...] = (None, 1, 2, 3)) -> list[slice]:
    """Return all slices with bounds in ``-bound..bound`` and these steps, both ways."""
    bounds = [None, *range(-bound, bound + 1)]
    signed = dict.fromkeys([*steps, *[-step for step in steps if step is not None]])
    return [slice(*parts) for parts in itertools.product(bounds, bounds, signed)]


def shapes(max_rank: int = 4, max_extent: int = 4, min_extent: int = 0) -> st.SearchStrategy[Shape]:
    """Draw shapes."""
    extents = st.integers(min_extent, max_extent)
    return st.lists(extents, max_size=max_rank).map(tuple)


def slices(extent: int) -> st.SearchStrategy[slice]:
    """Draw slices of an axis, with bounds on both sides of its ends."""
    bound = st.none() | st.integers(-extent - 2, extent + 2)
    step = st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3])
    return st.builds(slice, bound, bound, step)


def counted(shape: Shape, dtype: Any = np.int64, start: int = 0) -> Any:
    """Return an ndarray in which every element is different."""
    return np.arange(start, start + prod(shape), dtype=dtype).reshape(shape)


# -- keys -----------------------------------------------------------------------------------------


@st.composite
def _integers_for(draw: st.DrawFn, extent: int) -> Any:
    """Draw one integer for an axis, rarely out of its range, in one of its forms."""
    beyond = 2 if draw(st.integers(0, 19)) == 0 else 0
    low, high = -extent - beyond, extent - 1 + beyond
    k = draw(st.integers(low, max(low, high)))
    return draw(st.sampled_from([k, np.int64(k), np.int8(k), np.array(k)]))


@st.composite
def _index_arrays(draw: st.DrawFn, extent: int, shape: Shape) -> Any:
    """Draw an index array of one of the shapes that broadcast to ``shape``, or a nested list."""
    rank = draw(st.integers(0, len(shape)))
    own = tuple(n if draw(st.booleans()) else 1 for n in shape[len(shape) - rank :])
    beyond = 1 if draw(st.integers(0, 19)) == 0 else 0
    low, high = -extent - beyond, extent - 1 + beyond
    if high < low:
        own, low, high = (0,) * max(rank, 1), 0, 0
    dtype = draw(st.sampled_from([np.int64, np.int32, np.int8]))
    values = draw(st.lists(st.integers(low, high), min_size=prod(own), max_size=prod(own)))
    array = np.array(values, dtype=dtype).reshape(own)
    return array.tolist() if array.ndim and array.size and draw(st.booleans()) else array


@st.composite
def _masks(draw: st.DrawFn, shape: Shape) -> Any:
    """Draw a mask over these axes, rarely of another shape."""
    if shape and draw(st.integers(0, 19)) == 0:
        shape = (*shape[:-1], shape[-1] + 1)
    if not shape:
        return draw(st.sampled_from([True, False, np.array(True), np.array(False), np.True_]))
    bits = draw(st.lists(st.booleans(), min_size=prod(shape), max_size=prod(shape)))
    mask = np.array(bits, dtype=bool).reshape(shape)
    return mask.tolist() if mask.size and mask.ndim == 1 and draw(st.booleans()) else mask


@st.composite
def keys(draw: st.DrawFn, shape: Shape) -> Any:
    """Draw a key for an array of this shape: every form there is, some of them wrong."""
    joint = draw(st.sampled_from([(), (1,), (2,), (3,), (2, 1), (1, 3), (2, 3), (0,)]))
    kinds = ["slice", "slice", "integer", "array", "mask", "new", "scalar mask", "ellipsis"]
    items: list[Any] = []
    axis = 0
    has_ellipsis = False
    while draw(st.integers(0, 3)) or (not items and draw(st.booleans())):
        kind = draw(st.sampled_from(kinds))
        if kind == "new":
            items.append(None)
        elif kind == "scalar mask":
            items.append(draw(_masks(())))
        elif kind == "ellipsis" and not has_ellipsis:
            has_ellipsis = True
            items.append(Ellipsis)
            axis = draw(st.integers(min(axis, len(shape)), len(shape)))
        elif axis >= len(shape):
            break
        elif kind == "mask":
            rank = draw(st.integers(1, len(shape) - axis))
            items.append(draw(_masks(shape[axis : axis + rank])))
            axis += rank
        else:
            drawn = {
                "integer": _integers_for(shape[axis]),
                "array": _index_arrays(shape[axis], joint),
            }.get(kind, slices(shape[axis]))
            items.append(draw(drawn))
            axis += 1
    if len(items) == 1 and draw(st.booleans()):
        return items[0]
    return tuple(items)


@st.composite
def basic_keys(draw: st.DrawFn, shape: Shape) -> Any:
    """Draw a key of integers, slices, ``...`` and ``None`` that gives a view."""
    items: list[Any] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if draw(st.integers(0, 4)) == 0:
            items.append(None)
        items.append(draw(st.integers(-n, n - 1) if n and draw(st.booleans()) else slices(n)))
    return (*items, Ellipsis)


# -- chains of views ------------------------------------------------------------------------------


class Move(NamedTuple):
    """One step of a chain: what it is called, and how each side does it."""

    name: str
    numpys: Callable[[Any], Any]
    ours: Callable[[Any, Any], Any]  # of the namespace and the array

    def __repr__(self) -> str:
        return self.name


def indexed(key: Any) -> Move:
    """Return the step that applies a key."""
    return Move(f"[{key}]", lambda a: a[key], lambda xp, x: x[key])


def permuted(axes: Shape) -> Move:
    """Return the step that permutes the axes."""
    return Move(
        f"permute_dims{axes}", lambda a: a.transpose(axes), lambda xp, x: xp.permute_dims(x, axes)
    )


def flipped(axis: int) -> Move:
    """Return the step that runs an axis backwards."""
    return Move(f"flip({axis})", lambda a: np.flip(a, axis), lambda xp, x: xp.flip(x, axis=axis))


def widened(axis: int) -> Move:
    """Return the step that puts an axis of extent 1."""
    return Move(
        f"expand_dims({axis})",
        lambda a: np.expand_dims(a, axis),
        lambda xp, x: xp.expand_dims(x, axis=axis),
    )


def squeezed(axis: int) -> Move:
    """Return the step that drops an axis of extent 1."""
    return Move(
        f"squeeze({axis})", lambda a: np.squeeze(a, axis), lambda xp, x: xp.squeeze(x, axis)
    )


def moved(source: int, target: int) -> Move:
    """Return the step that moves an axis."""
    return Move(
        f"moveaxis({source}, {target})",
        lambda a: np.moveaxis(a, source, target),
        lambda xp, x: xp.moveaxis(x, source, target),
    )


def diagonal() -> Move:
    """Return the step to the diagonal of the last two axes."""
    return Move("diagonal", _diagonal, lambda xp, x: xp.linalg.diagonal(x))


def _diagonal(a: Any) -> Any:
    view = np.diagonal(a, axis1=-2, axis2=-1)
    view.flags.writeable = a.flags.writeable  # NumPy makes it read-only, we do not
    return view


def reshaped(shape: Shape) -> Move:
    """Return the step to another shape."""
    return Move(
        f"reshape{shape}", lambda a: np.reshape(a, shape), lambda xp, x: xp.reshape(x, shape)
    )


def broadcasted(shape: Shape) -> Move:
    """Return the step that broadcasts; what it gives is read-only."""
    return Move(
        f"broadcast_to{shape}",
        lambda a: np.broadcast_to(a, shape),
        lambda xp, x: xp.broadcast_to(x, shape),
    )


def factorings(size: int, rank: int = 3) -> list[Shape]:
    """Return the shapes of up to so many axes with this number of elements."""
    if size == 0:
        return [(0,), (0, 2), (2, 0)]
    found: set[Shape] = {(size,)} | ({()} if size == 1 else set())
    for n in range(2, rank + 1):
        divisors = [k for k in range(1, size + 1) if size % k == 0]
        found |= {s for s in itertools.product(divisors, repeat=n) if prod(s) == size}
    return sorted(found)


def moves_of(shape: Shape, writable: bool = True) -> Iterator[Move]:
    """Yield a few views of each kind that an array of this shape has."""
    rank = len(shape)
    yield indexed(Ellipsis)
    yield indexed((None, Ellipsis))
    yield widened(rank)
    for axis, n in enumerate(shape):
        for part in (slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(2, 0, -1)):
            yield indexed((*[slice(None)] * axis, part))
        if n and rank > 1:
            yield indexed((*[slice(None)] * axis, n - 1, Ellipsis))
        yield flipped(axis)
        if n == 1:
            yield squeezed(axis)
        if axis:
            yield moved(axis, 0)
    for axes in itertools.permutations(range(rank)):
        yield permuted(axes)
    if rank > 1 and shape[-1] == shape[-2]:
        yield diagonal()
    for other in factorings(prod(shape)):
        yield reshaped(other)
    if not writable:
        yield broadcasted((2, *shape))


@st.composite
def moves(draw: st.DrawFn, shape: Shape, writable: bool = True) -> Move:
    """Draw one view of an array of this shape."""
    if draw(st.booleans()):
        return indexed(draw(basic_keys(shape)))
    return draw(st.sampled_from(list(moves_of(shape, writable))))


@st.composite
def chains(
    draw: st.DrawFn, max_length: int = 4, writable: bool = True, max_rank: int = 3
) -> tuple[Shape, list[Move]]:
    """Draw a base shape and a chain of views of it; ``writable``: none that shares elements."""
    base = draw(shapes(max_rank=max_rank, max_extent=4))
    view = counted(base)
    chain: list[Move] = []
    for _ in range(draw(st.integers(0, max_length))):
        if view.ndim > 5 or view.size > 200:
            break
        move = draw(moves(view.shape, writable))
        chain.append(move)
        view = move.numpys(view)
    return base, chain


def followed(chain: list[Move], a: Any) -> Any:
    """Return NumPy's array at the end of a chain."""
    for move in chain:
        a = move.numpys(a)
    return a


def followed_by_ours(chain: list[Move], xp: Any, x: Any) -> Any:
    """Return our array at the end of a chain."""
    for move in chain:
        x = move.ours(xp, x)
    return x


# -- how many -------------------------------------------------------------------------------------


def fewer(by: int) -> settings:
    """Return the loaded profile with fewer examples, for what compiles a program for each."""
    return settings(max_examples=max(10, settings.default.max_examples // by))
