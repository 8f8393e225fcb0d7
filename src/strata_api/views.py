"""Views by name: of one storage, moving no data, and what it takes to write through them.

Each function returns another view of the storage that ``x`` looks at, on every backend alike, so
what is written through it is seen through ``x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import index
from typing import NamedTuple

from strata_api import _access
from strata_api._access import NoAlias, check_writable
from strata_api._apply import as_array, is_array, viewed
from strata_api._array import Array
from strata_api._dimension import Dimension, Extent
from strata_api._dtypes import INTEGER, SCALARS, Scalar
from strata_api._index import Position, checked_position
from strata_api._layout import MemoryDescriptor
from strata_api._partial_shape import PartialShape
from strata_api._reorder import laid_out, over_buffer
from strata_api._shape import (
    as_shape,
    is_static,
    may_be,
    merge,
    normalize_axes,
    shown,
)
from strata_api._view import (
    Affine,
    Reshape,
    block_of,
    diagonal_of,
    expanded,
    permuted,
    whole,
    with_new_axes,
)
from strata_api.backends.protocol import Start

__all__ = [
    "Cursor",
    "NoAlias",
    "assign",
    "block",
    "cursor",
    "diagonal",
    "expand",
    "from_buffer",
    "may_share_memory",
    "noalias",
    "permute",
    "readonly",
    "relax",
    "shares_storage",
    "slice",
]


class Cursor(NamedTuple):
    """Where a traversal of a view starts, and how it moves: both in elements of its storage."""

    offset: int
    strides: tuple[int, ...]


def slice(x: Array, axes: Sequence[int], indices: Sequence[int | Array]) -> Array:
    """Return the view at fixed indices along some axes.

    Shape: that of ``x`` without the axes.
    Raises: ``AxisError`` for an axis out of range, ``IndexError`` for an index, ``ValueError`` for
    an axis given twice or another number of indices.
    """
    x = as_array(x, "slice")
    fixed = normalize_axes(tuple(axes), x.ndim, "slice")
    if len(fixed) != len(indices):
        raise ValueError(
            f"slice: expected an index for each of the axes {fixed}, got {len(indices)}"
        )
    base = whole(x.dims)
    starts = list(base.starts)
    for axis, position in zip(fixed, indices, strict=True):
        starts[axis] = _position(x, position, axis)
    kept = tuple([axis for k, axis in enumerate(base.axes) if k not in fixed])
    return viewed(x, Affine(x.dims, tuple(starts), kept))


def permute(x: Array, axes: Sequence[int]) -> Array:
    """Return the view whose axis ``k`` is axis ``axes[k]`` of ``x``.

    Shape: that of ``x``, permuted.
    Raises: ``ValueError`` unless ``axes`` is a permutation of the axes of ``x``.
    """
    x = as_array(x, "permute")
    order = normalize_axes(tuple(axes), x.ndim, "permute")
    if len(order) != x.ndim:
        raise ValueError(f"permute: expected all {x.ndim} axes, got {tuple(axes)}")
    return viewed(x, permuted(x.dims, order))


def diagonal(x: Array, axes: Sequence[int]) -> Array:
    """Return the view of the diagonal over any number of axes of equal extent. Writable.

    Shape: that of ``x`` without the axes, then their extent.
    Raises: ``AxisError`` for an axis out of range, ``ValueError`` for unequal extents, or for fewer
    than two axes.
    """
    x = as_array(x, "diagonal")
    tied = normalize_axes(tuple(axes), x.ndim, "diagonal")
    if len(tied) < 2:
        raise ValueError(f"diagonal: expected two axes or more, got {tuple(axes)}")
    extents = [x.dims[axis] for axis in tied]
    n = extents[0]
    for other in extents[1:]:
        if not may_be(n, other):
            raise ValueError(
                f"diagonal: expected axes of equal extent, got {shown(tuple(extents))} of shape "
                f"{shown(x.dims)}"
            )
        n = merge(n, other)
    return viewed(x, diagonal_of(x.dims, tied, n))


def block(x: Array, sizes: Sequence[Extent], corner: Sequence[int | Array]) -> Array:
    """Return the view of the box of shape ``sizes`` whose first element is at ``corner``.

    Under a transformation the corner may be traced: then the box keeps its shape, one that would
    reach outside is read where it fits next, and a write to it is dropped.

    Shape: ``sizes``.
    Raises: ``IndexError`` if the box does not lie inside ``x``, ``ValueError`` for another number
    of sizes or corners than axes.
    """
    x = as_array(x, "block")
    shape = as_shape(tuple(sizes))
    if len(shape) != x.ndim or len(corner) != x.ndim:
        raise ValueError(
            f"block: expected sizes and corner of {x.ndim} axes, got {len(shape)} and {len(corner)}"
        )
    starts = [
        _corner(x, position, axis, n)
        for axis, (position, n) in enumerate(zip(corner, shape, strict=True))
    ]
    return viewed(x, block_of(x.dims, shape, starts))


def expand(x: Array, inserted: Sequence[int], shape: Sequence[Extent]) -> Array:
    """Return the view of ``shape`` with new axes at the positions ``inserted``. Read-only.

    Along a new axis the same element is read at every position.

    Shape: ``shape``; without the inserted axes it must be that of ``x``.
    Raises: ``AxisError`` for a position out of range, ``ValueError`` for another shape.
    """
    x = as_array(x, "expand")
    new = as_shape(tuple(shape))
    places = sorted(normalize_axes(tuple(inserted), len(new), "expand"))
    rest = tuple([n for axis, n in enumerate(new) if axis not in places])
    if len(rest) != x.ndim or not all(map(may_be, rest, x.dims)):
        raise ValueError(
            f"expand: shape {shown(new)} without axes {tuple(places)} is {shown(rest)}, "
            f"expected {shown(x.dims)}"
        )
    base = with_new_axes(x.dims, places)
    return viewed(x, base.then(expanded(base.shape, new)), readonly=True)


def from_buffer(buffer: Array, descriptor: MemoryDescriptor) -> Array:
    """Return the array that lies in a flat buffer as the descriptor says. Moves no data.

    The buffer is an array of one axis, an ndarray or a jax.Array among them: on NumPy its memory is
    shared. Of a blocked layout the array is a view too: what is written to it goes to the buffer.

    Shape: ``descriptor.dims``.
    Dtype: that of the buffer, which must be the descriptor's.
    Raises: ``TypeError`` for another dtype or no descriptor, ``ValueError`` for a buffer of another
    rank or too short, for a descriptor without a known layout, and for one that no chain of views
    has: rows that overlap in the buffer, or whose last one is cut short by its end.
    """
    return over_buffer(as_array(buffer, "from_buffer"), descriptor)


def reorder(x: Array, descriptor: MemoryDescriptor) -> Array:
    """Return ``x`` laid out anew as the descriptor says: an array over a fresh buffer.

    The padding of the layout, and its gaps, are zeros. The buffer is as long as ``descriptor``
    needs it, its offset included.

    Shape: that of ``x``, which must be the descriptor's.
    Dtype: that of the descriptor; ``x`` is converted to it.
    Raises: ``TypeError`` for complex numbers that would lose their imaginary part, ``ValueError``
    for other dims, for a descriptor without a known layout, or one whose elements overlap.
    """
    return laid_out(as_array(x, "reorder"), descriptor)


def assign(x: Array, source: Array | Scalar | NoAlias) -> Array:
    """Write ``source`` into the elements of ``x`` and return ``x``.

    ``source`` is an array of the shape of ``x``, or a scalar for every element: never a silent
    broadcast. It may look at the same storage; it is read before anything is written.

    Raises: ``ValueError`` for another shape or a read-only ``x``, ``TypeError`` for a dtype whose
    kind would be lost.
    """
    x = as_array(x, "assign")
    check_writable(x)
    value = source.source if isinstance(source, NoAlias) else source
    if is_array(value) or not isinstance(value, SCALARS):
        value = as_array(value, "assign", x._element.backend)
        if value.ndim != x.ndim or not all(map(may_be, value.dims, x.dims)):
            raise ValueError(
                f"assign: expected a source of shape {shown(x.dims)} or a scalar, got shape "
                f"{shown(value.dims)}"
            )
    _access.assign(x, value)
    return x


def noalias(source: Array | Scalar) -> NoAlias:
    """Promise that ``source`` does not overlap what it is written to: ``z[...] = noalias(x + y)``.

    No temporary is made then. Without the promise one is made where the two may overlap.
    """
    return NoAlias(source)


def readonly(x: Array) -> Array:
    """Return the view of all of ``x`` that refuses to be written.

    Shape: that of ``x``.
    """
    x = as_array(x, "readonly")
    return viewed(x, whole(x.dims), readonly=True)


def cursor(x: Array) -> Cursor:
    """Return where a traversal of ``x`` starts in its storage, and its strides, in elements.

    Raises: ``ValueError`` for a view with no strided layout, such as one of a blocked buffer.
    """
    x = as_array(x, "cursor")
    layout = x._view.layout(x._element.backend.strides(x._storage))
    if layout is None:
        raise ValueError(f"cursor: the view of shape {shown(x.dims)} has no strided layout")
    return Cursor(*layout)


def relax(
    x: Array, *, shape: PartialShape | Sequence[Extent] | None = None, readonly: bool = False
) -> Array:
    """Return the view that knows less: extents that may be unknown, write access given up.

    An array with data goes on knowing its extents; its ``shape`` is checked, and an abstract one's
    takes effect.

    Shape: ``shape``, which must admit that of ``x``.
    Raises: ``ValueError`` for a shape that would know more, or for another rank.
    """
    x = as_array(x, "relax")
    step: Affine | Reshape = whole(x.dims)
    if shape is not None:
        wider = PartialShape(shape) if not isinstance(shape, PartialShape) else shape
        if not wider.relaxes(PartialShape(x.dims)):
            raise ValueError(
                f"relax: {wider} would know more than the shape {shown(x.dims)} of the array"
            )
        if not is_static(x.dims) or not x._element.backend.is_concrete(x):
            known = wider if wider.rank.is_static else PartialShape.dynamic(x.ndim)
            step = Reshape(x.dims, as_shape(tuple(known)))
    return viewed(x, step, readonly=readonly)


def shares_storage(a: Array, b: Array) -> bool:
    """Tell whether two arrays look at one storage, so that a write to one may show in the other."""
    return as_array(a, "shares_storage")._storage is as_array(b, "shares_storage")._storage


def may_share_memory(a: Array, b: Array) -> bool:
    """Tell whether two arrays may overlap in memory: those of one storage, and imported buffers
    of which the backend says so."""
    first, second = as_array(a, "may_share_memory"), as_array(b, "may_share_memory")
    if first._element.backend is not second._element.backend:
        return False
    return first._element.backend.may_share_memory(first, second)


def _position(x: Array, position: int | Array, axis: int) -> Start:
    if not is_array(position):
        return checked_position(index(position), x.dims[axis], axis)
    array: Array = position  # type: ignore[assignment]  # the test says so
    _check_integer(array)
    return checked_position(
        Position(partial(x._element.backend.position, array)), x.dims[axis], axis
    )


def _corner(x: Array, position: int | Array, axis: int, n: Extent) -> Start:
    have = x.dims[axis]
    if is_array(position):
        _check_integer(position)  # type: ignore[arg-type]  # the test says so
        start = x._element.backend.position(position, have, n)  # type: ignore[arg-type]
        if type(start) is not int:
            return start
    else:
        start = index(position)
    if type(have) is int and type(n) is int:
        first = start + have if start < 0 else start
        if not 0 <= first <= have - n:
            raise IndexError(
                f"block: {n} elements from {start} do not lie inside axis {axis} of extent {have}"
            )
        return first
    least = Dimension(n).get_interval()[0] + max(start, 0)
    most = Dimension(have).get_interval()[1]
    if most is not None and least > most:
        raise IndexError(
            f"block: {n} elements from {start} do not lie inside axis {axis} of extent {have}"
        )
    return max(start, 0)


def _check_integer(position: Array) -> None:
    if position.ndim or position.dtype not in INTEGER:
        raise IndexError(
            f"expected an integer without axes as an index, got shape {position.shape} and dtype "
            f"{position.dtype}"
        )
