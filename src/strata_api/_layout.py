"""Layouts: where the elements of a shape lie in a buffer, in plain strides or in inner blocks.

``MemoryDescriptor`` follows oneDNN's memory descriptor; docs/layouts.md lists where it differs.
``reshaped_strides`` is the one rule that says which reshape of a view is a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import prod
from operator import index
from typing import Final, TypeAlias, TypeGuard, final

from strata_api import _drawing
from strata_api._dimension import Dimension, Extent, ceildiv, extent
from strata_api._dtypes import DType, as_dtype, bool_, float4_e2m1fn, int4, uint4
from strata_api._format_tag import LETTERS, Tag, as_tag, blocks_by_axis, tag_of, written

Strides: TypeAlias = tuple[int, ...]
AnyExtents: TypeAlias = Iterable[Extent | None]
Given: TypeAlias = str | tuple[int | None, ...] | None  # a tag, strides, or neither

MAX_RANK = 12
MAX_LENGTH = 2**63 - 1
MAX_DRAWN = 1024
HALF_BYTE = frozenset((int4, uint4, float4_e2m1fn))


def reshaped_strides(shape: Strides, strides: Strides, new_shape: Strides) -> Strides | None:
    """Return the strides that show the same elements in another shape, or None where none do.

    The rule is NumPy's: a view exists where the axes that are joined or split chain, each stride
    being the next one's times its extent. Strides may be negative or zero, in any unit.

    Raises: ``ValueError`` if the shapes differ in size.
    """
    if prod(shape) != prod(new_shape):
        raise ValueError(f"reshape: shapes {shape} and {new_shape} differ in size")
    if 0 in shape:
        return _row_major(new_shape)
    runs = _chained(shape, strides)
    result = []
    length, stride = 1, 1
    for n in reversed(new_shape):
        if length == 1 and n != 1:
            length, stride = runs.pop()
        length, rest = divmod(length, n)
        if rest:
            return None
        result.append(stride)
        stride *= n
    return tuple(reversed(result))


def _chained(shape: Strides, strides: Strides) -> list[tuple[int, int]]:
    """Return the longest runs of axes that are one axis, as extent and stride."""
    runs: list[tuple[int, int]] = []
    for n, stride in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if runs and runs[-1][1] == n * stride:
            runs[-1] = (runs[-1][0] * n, stride)
        else:
            runs.append((n, stride))
    return runs


def _row_major(shape: Strides) -> Strides:
    result, stride = [], 1
    for n in reversed(shape):
        result.append(stride)
        stride *= n or 1
    return tuple(reversed(result))


# What the user gave, in canonical form.


def _extents(values: AnyExtents) -> tuple[Extent, ...]:
    if type(values) is not tuple and (
        isinstance(values, str) or not isinstance(values, Iterable)  # the slow question last
    ):
        raise TypeError(f"expected dims (a tuple of extents), got {values!r}")
    return tuple([n if type(n) is int and 0 <= n <= MAX_LENGTH else _extent(n) for n in values])


def _extent(value: Extent | None) -> Extent:
    if value is None:
        return Dimension()
    if isinstance(value, Dimension):
        if value.is_empty:
            raise ValueError("expected a possible extent, got an empty Dimension")
        return extent(value)
    n = _integer(value, "an extent")
    if not 0 <= n <= MAX_LENGTH:
        raise ValueError(f"expected an extent of 0 to 2**63 - 1, got {n}")
    return n


def _integer(value: object, what: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"expected {what} (an integer), got {value!r}")
    return index(value)


def _given_strides(strides: Iterable[int | None], ndim: int) -> tuple[int | None, ...]:
    if type(strides) is not tuple and (
        isinstance(strides, str) or not isinstance(strides, Iterable)
    ):
        raise TypeError(f"expected strides (a tuple of integers), got {strides!r}")
    given = tuple([n if type(n) is int and 0 <= n <= MAX_LENGTH else _stride(n) for n in strides])
    if len(given) != ndim:
        raise ValueError(f"expected {ndim} strides for {ndim} dims, got {len(given)}")
    return given


def _stride(value: int | None) -> int | None:
    if value is None:
        return None
    n = _integer(value, "a stride")
    if abs(n) > MAX_LENGTH:
        raise ValueError(f"expected a stride below 2**63, got {n}")
    return n


def _known(extents: tuple[Extent, ...], what: str) -> tuple[int, ...]:
    if not _is_known(extents):
        raise ValueError(f"{what} needs known extents, got {_shown(extents)}: bind(dims) first")
    return extents


def _is_known(extents: tuple[Extent, ...]) -> TypeGuard[tuple[int, ...]]:
    for n in extents:  # noqa: SIM110  # a loop, for speed
        if type(n) is not int:
            return False
    return True


def _are_known(strides: tuple[int | None, ...]) -> TypeGuard[Strides]:
    return None not in strides


def _shown(values: Iterable[object]) -> str:
    inner = ", ".join(["?" if value is None else str(value) for value in values])
    return f"({inner},)" if inner and "," not in inner else f"({inner})"


def _described_dtype(dtype: object) -> DType:
    known = as_dtype(dtype)
    if known is bool_:
        raise TypeError("a descriptor of bool elements cannot be made: describe them as uint8")
    return known


# The descriptor.


@final
class MemoryDescriptor:
    """How the elements of a shape lie in a buffer: dims, dtype, strides, offset, inner blocks.

    Made from a format tag (``"abcd"``, ``"aBcd16b"``, ``"nhwc"``, ``"column-major"``), from strides
    in elements, or from dims alone, which is row-major. ``MemoryDescriptor()`` is the empty one;
    so is every other with no dims, or with the tag ``"undef"``. The tag ``"any"`` leaves the layout
    open. Dims may be unknown (a ``Dimension`` or ``None``): the strides and the size that depend on
    them are ``None`` until ``bind`` makes them known.

    With ``allow_empty`` what cannot be made is the empty descriptor instead of an error.

    Raises: ``TypeError`` for a dtype that is none, ``ValueError`` for dims, tags and strides that
    describe no layout: a tag of another rank, overlapping or negative strides, odd strides of a
    4-bit dtype, a size of 2**63 bytes or more.
    """

    # The public side is read-only.
    __slots__ = (
        "_dims",
        "_dtype",
        "_elements",
        "_format_kind",
        "_given",
        "_inner_axes",
        "_inner_blocks",
        "_offset",
        "_padded_dims",
        "_strides",
    )

    _dims: tuple[Extent, ...]
    _dtype: DType | None
    _padded_dims: tuple[Extent, ...]
    _strides: tuple[int | None, ...]
    _offset: int
    _inner_blocks: tuple[int, ...]
    _inner_axes: tuple[int, ...]
    _format_kind: str
    _given: Given  # what bind lays the known dims out by
    _elements: int | None  # the size in elements

    def __new__(
        cls,
        dims: AnyExtents = (),
        dtype: object = None,
        tag: str | None = None,
        *,
        strides: Iterable[int | None] | None = None,
        allow_empty: bool = False,
    ) -> MemoryDescriptor:
        """Return the descriptor with these dims and dtype, by a tag or strides."""
        try:
            extents = _extents(dims)
            if not extents or tag == "undef":
                return EMPTY
            return described(extents, _described_dtype(dtype), tag, strides)
        except (TypeError, ValueError):
            if not allow_empty:
                raise
            return EMPTY

    # What it describes.

    @property
    def dims(self) -> tuple[Extent, ...]:
        """The extents, a Dimension where one is unknown."""
        return self._dims

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._dims)

    @property
    def dtype(self) -> DType | None:
        """The dtype; None for the empty descriptor."""
        return self._dtype

    @property
    def padded_dims(self) -> tuple[Extent, ...]:
        """The extents with their padding, which fills the last blocks."""
        return self._padded_dims

    @property
    def strides(self) -> tuple[int | None, ...]:
        """How far one position (or whole block) moves along each axis, in elements."""
        return self._strides

    @property
    def offset(self) -> int:
        """Where the first element is, in elements."""
        return self._offset

    @property
    def inner_blocks(self) -> tuple[int, ...]:
        """The sizes of the inner blocks, the outermost first."""
        return self._inner_blocks

    @property
    def inner_axes(self) -> tuple[int, ...]:
        """The axis of each inner block."""
        return self._inner_axes

    @property
    def format_kind(self) -> str:
        """``"blocked"`` (any layout), ``"any"`` (left open) or ``"undef"`` (the empty one)."""
        return self._format_kind

    @property
    def padded_offsets(self) -> tuple[int, ...]:
        """How far the elements start behind the padded corner: always 0."""
        return (0,) * len(self.dims)

    @property
    def tag(self) -> str | None:
        """The format tag that gives these strides, or None where there is none."""
        return _fitting_tag(self)

    def data_type(self) -> DType | None:
        """Return the dtype; None for the empty descriptor."""
        return self.dtype

    def get_size(self) -> int | None:
        """Return the bytes of the buffer, padding included; None if something is unknown.

        The offset is not part of it, the gap behind the last row is.

        Raises: ``ValueError`` where every axis is broadcast or less than a block: the real library
        answers 0 there, though there are elements. ``required_span_size`` says how many.
        """
        if self._elements is None:
            return None
        if not self._elements and self.format_kind == "blocked" and 0 not in self.dims:
            raise ValueError(
                "get_size needs an axis that is neither broadcast nor less than a block, "
                f"got {self!r}; required_span_size is known"
            )
        if self.dtype in HALF_BYTE:
            return (self._elements + 1) // 2
        return self._elements * self.dtype.itemsize if self.dtype is not None else 0

    def is_zero(self) -> bool:
        """Return whether this is the empty descriptor."""
        return not self.dims

    def __bool__(self) -> bool:
        return bool(self.dims)

    # The mapping from an index to an offset.

    def offset_of(self, index: Iterable[int]) -> int:
        """Return the position of an element in the buffer, in elements.

        Raises: ``IndexError`` for an index outside of the dims, ``ValueError`` without a layout.
        """
        position = tuple([_integer(i, "an index") for i in index])
        dims, _ = self._mapping("offset_of")
        if len(position) != len(dims):
            raise IndexError(f"expected an index of {len(dims)} integers, got {position}")
        for axis, i in enumerate(position):
            if not 0 <= i < dims[axis]:
                raise IndexError(f"index {position} is outside of dims {dims} at axis {axis}")
        return self.offset + sum([_along(self, axis, i) for axis, i in enumerate(position)])

    @property
    def required_span_size(self) -> int | None:
        """The position behind the last element; None if something is unknown."""
        if not self._is_mapping:
            return None
        if not self.dims or 0 in self.dims:
            return 0
        dims = _known(self.dims, "required_span_size")
        return 1 + self.offset_of([n - 1 for n in dims])

    @property
    def is_unique(self) -> bool | None:
        """Whether no two indices share an element; None if something is unknown."""
        if not self._is_mapping:
            return None
        return 0 in self.dims or not any(map(self._is_broadcast, range(self.ndim)))

    @property
    def is_exhaustive(self) -> bool | None:
        """Whether every position up to the last has an index; None if something is unknown."""
        if not self._is_mapping:
            return None
        if not self.dims or 0 in self.dims:
            return True
        dims = _known(self.dims, "is_exhaustive")
        held = prod([n for axis, n in enumerate(dims) if not self._is_broadcast(axis)])
        return self.required_span_size == held

    @property
    def is_strided(self) -> bool | None:
        """Whether each axis has one step throughout; None if something is unknown."""
        return element_strides(self) is not None if self._is_mapping else None

    @property
    def _is_mapping(self) -> bool:
        return self.format_kind != "any" and self._elements is not None and None not in self.strides

    def _is_broadcast(self, axis: int) -> bool:
        return self.strides[axis] == 0 and self.dims[axis] != 1

    def _mapping(self, what: str) -> tuple[tuple[int, ...], Strides]:
        """Return the dims and strides, all known."""
        if self.format_kind != "blocked":
            raise ValueError(f"{what} needs a layout, got {self!r}")
        dims = _known(self.dims, what)
        if not _are_known(self.strides):
            raise ValueError(f"{what} needs known strides, got {_shown(self.strides)}")
        return dims, self.strides

    # Descriptors made from this one.

    def submemory(
        self, dims: Iterable[int], offsets: Iterable[int], *, allow_empty: bool = False
    ) -> MemoryDescriptor:
        """Return the descriptor of a window: these dims, from these offsets.

        Raises: ``ValueError`` if the window leaves the dims, or cuts a block that it shares.
        """
        return _attempt(allow_empty, _window, self, dims, offsets)

    def reshape(self, dims: Iterable[int], *, allow_empty: bool = False) -> MemoryDescriptor:
        """Return the descriptor of the same elements with other dims.

        Raises: ``ValueError`` if the sizes differ, or a split or joined axis is blocked, padded or
        does not chain with its neighbour.
        """
        return _attempt(allow_empty, _reshaped, self, dims)

    def permute_axes(self, perm: Iterable[int], *, allow_empty: bool = False) -> MemoryDescriptor:
        """Return the descriptor whose axis ``perm[i]`` is axis ``i`` of this one.

        Raises: ``ValueError`` for what is no permutation. The inverse of ``permute_dims``.
        """
        return _attempt(allow_empty, _permuted, self, perm)

    def bind(self, dims: Iterable[int]) -> MemoryDescriptor:
        """Return the descriptor with its unknown dims made known.

        Raises: ``ValueError`` for dims that this one does not allow, or strides given as unknown.
        """
        wanted = _known(_extents(dims), "bind")
        if len(wanted) != len(self.dims) or not all(map(_allows, self.dims, wanted)):
            raise ValueError(f"bind: expected dims within {_shown(self.dims)}, got {wanted}")
        if isinstance(self._given, tuple) and None in self._given:
            raise ValueError("bind: the strides were given as unknown; make a new descriptor")
        if wanted == self.dims:
            return self
        return _laid_out(wanted, self.dtype, self._given)

    # Values.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryDescriptor):
            return NotImplemented
        return self is other or _identity(self) == _identity(other)

    def __hash__(self) -> int:
        return hash(_identity(self))

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (
            *(self.dims, self.dtype, self.padded_dims, self.strides, self.offset),
            *(self.inner_blocks, self.inner_axes, self.format_kind, self._given, self._elements),
        )

    def __repr__(self) -> str:
        if not self.dims:
            return "MemoryDescriptor()"
        parts = [_shown(self.dims), str(self.dtype)]
        parts += [repr(self.tag)] if self.tag is not None else []
        parts += [f"strides={_shown(self.strides)}"] if self.format_kind == "blocked" else []
        parts += [f"padded_dims={_shown(self.padded_dims)}"] * (self.padded_dims != self.dims)
        parts += [f"offset={self.offset}"] * (self.offset != 0)
        if self.inner_blocks and self.tag is None:
            parts += [f"inner_blocks={self.inner_blocks}", f"inner_axes={self.inner_axes}"]
        return f"MemoryDescriptor({', '.join(parts)})"

    def describe(self, form: str = "text") -> str:
        """Return a drawing of the offset of each index, as ``"text"`` or as ``"svg"``.

        Raises: ``ValueError`` for more than 1024 elements, or without a layout.
        """
        drawings = {"text": _drawing.text, "svg": _drawing.svg}
        if form not in drawings:
            raise ValueError(f"expected the form 'text' or 'svg', got {form!r}")
        dims, _ = self._mapping("describe")
        if prod(dims) > MAX_DRAWN:
            raise ValueError(f"describe draws up to {MAX_DRAWN} elements, got dims {dims}")
        return drawings[form](repr(self), dims, self.offset_of)

    def _repr_svg_(self) -> str | None:
        if not self.dims or not self._is_mapping:
            return None
        dims, _ = self._mapping("describe")
        return self.describe("svg") if prod(dims) <= MAX_DRAWN else None


def _made(
    dims: tuple[Extent, ...],
    dtype: DType | None,
    padded_dims: tuple[Extent, ...],
    strides: tuple[int | None, ...],
    offset: int,
    inner_blocks: tuple[int, ...],
    inner_axes: tuple[int, ...],
    format_kind: str,
    given: Given,
    elements: int | None,
) -> MemoryDescriptor:
    made = object.__new__(MemoryDescriptor)
    made._dims = dims
    made._dtype = dtype
    made._padded_dims = padded_dims
    made._strides = strides
    made._offset = offset
    made._inner_blocks = inner_blocks
    made._inner_axes = inner_axes
    made._format_kind = format_kind
    made._given = given
    made._elements = elements
    return made


def _unlaid(dims: tuple[int, ...], dtype: DType | None, format_kind: str) -> MemoryDescriptor:
    return _made(dims, dtype, dims, (), 0, (), (), format_kind, format_kind, 0)


def _blocked(
    dims: tuple[Extent, ...],
    dtype: DType | None,
    padded_dims: tuple[Extent, ...],
    strides: tuple[int | None, ...],
    offset: int = 0,
    inner_blocks: tuple[int, ...] = (),
    inner_axes: tuple[int, ...] = (),
    given: Given = None,
) -> MemoryDescriptor:
    """Return a descriptor with these fields, its size worked out."""
    elements = _size(dims, padded_dims, strides, inner_blocks, inner_axes)
    _check_size(elements, strides, dtype, dims)
    return _made(
        *(dims, dtype, padded_dims, strides, offset, inner_blocks, inner_axes),
        *("blocked", given, elements),
    )


EMPTY: Final = _unlaid((), None, "undef")


def _attempt(
    allow_empty: bool, make: Callable[..., MemoryDescriptor], *arguments: object
) -> MemoryDescriptor:
    try:
        return make(*arguments)
    except (TypeError, ValueError):
        if not allow_empty:
            raise
        return EMPTY


def _size(
    dims: tuple[Extent, ...],
    padded_dims: tuple[Extent, ...],
    strides: tuple[int | None, ...],
    inner_blocks: tuple[int, ...],
    inner_axes: tuple[int, ...],
) -> int | None:
    """Return the size in elements; None if something is unknown."""
    if 0 in dims:
        return 0
    blocks = blocks_by_axis(len(dims), inner_blocks, inner_axes)
    largest = 0
    for n, stride, block in zip(padded_dims, strides, blocks, strict=True):
        if type(n) is not int or stride is None:
            return None
        count = n // block
        reach = count * stride if count != 1 else 1
        if reach > largest:
            largest = reach
    return largest if largest != 1 else prod(inner_blocks)


def _check_size(
    elements: int | None,
    strides: tuple[int | None, ...],
    dtype: DType | None,
    dims: tuple[Extent, ...],
) -> None:
    reach = elements or max([stride or 0 for stride in strides])
    if dtype is not None and reach * dtype.itemsize > MAX_LENGTH:
        raise ValueError(f"expected a size below 2**63 bytes, got dims {_shown(dims)} of {dtype}")


# Creation.


def described(
    dims: tuple[Extent, ...],
    dtype: DType,
    tag: str | None = None,
    strides: Iterable[int | None] | None = None,
) -> MemoryDescriptor:
    """Return the descriptor of an array's elements, of any dtype that an array has.

    Raises: as ``MemoryDescriptor``.
    """
    if len(dims) > MAX_RANK:
        raise ValueError(f"expected up to {MAX_RANK} dims, got {len(dims)}")
    if tag is not None and not isinstance(tag, str):
        raise TypeError(f"expected a tag (a string; strides go by name), got {tag!r}")
    if strides is not None and tag is not None:
        raise ValueError(f"expected a tag or strides, got both: {tag!r} and {strides!r}")
    given = tag if strides is None else _given_strides(strides, len(dims))
    if _is_known(dims):
        return _laid_out_once(dims, dtype, given)
    return _laid_out(dims, dtype, given)  # equal Dimensions may have different labels


@lru_cache(maxsize=1024)
def _laid_out_once(dims: tuple[int, ...], dtype: DType, given: Given) -> MemoryDescriptor:
    return _laid_out(dims, dtype, given)


def _laid_out(dims: tuple[Extent, ...], dtype: DType | None, given: Given) -> MemoryDescriptor:
    """Return the descriptor by a tag, by strides, or (None) in row-major order."""
    if given is None or given == "row-major":
        made = _blocked(dims, dtype, dims, _dense_strides(dims), given=given)
    elif isinstance(given, tuple):
        if _are_known(given) and _is_known(dims) and 0 not in dims:
            _check_overlap(dims, given)
        made = _blocked(dims, dtype, dims, given, given=given)
    elif given == "any":
        return _unlaid(_known(dims, "the tag 'any'"), dtype, "any")
    else:
        made = _by_tag(dims, dtype, given)
    if made._elements and dtype in HALF_BYTE:
        _check_whole_bytes(made)
    return made


def _dense_strides(dims: tuple[Extent, ...]) -> tuple[int | None, ...]:
    """Return row-major strides; here an unknown dim hides its own stride, and 0 counts as 0."""
    strides: list[int | None] = [1]
    for axis in range(len(dims) - 2, -1, -1):
        stride, n = strides[-1], dims[axis + 1]
        if stride is not None and type(n) is int and type(dims[axis]) is int:
            strides.append(stride * n)
        else:
            strides.append(None)
    return tuple(reversed(strides))


def _check_overlap(dims: tuple[int, ...], strides: Strides) -> None:
    """Refuse strides in which two indices share an element, broadcast axes set aside."""
    free = 1
    for stride, n in sorted(zip(strides, dims, strict=True)):
        if n == 1 or stride == 0:
            continue
        if stride < free:
            raise ValueError(
                f"expected strides that do not overlap, got {strides} for dims {dims}: "
                f"the stride {stride} would have to be {free} or more"
            )
        free = stride * n


def _check_whole_bytes(made: MemoryDescriptor) -> None:
    """Refuse 4-bit elements whose rows begin in the middle of a byte."""
    for n, stride in zip(made.padded_dims, made.strides, strict=True):
        if n != 1 and stride is not None and stride != 1 and stride % 2:
            raise ValueError(
                f"expected even strides (or 1) for the 4-bit dtype {made.dtype}, "
                f"got {made.strides} for dims {made.dims}"
            )


def _by_tag(dims: tuple[Extent, ...], dtype: DType | None, text: str) -> MemoryDescriptor:
    tag = as_tag(text, len(dims))
    if len(tag.order) != len(dims):
        raise ValueError(
            f"tag {text!r} has {len(tag.order)} axes, dims {_shown(dims)} have {len(dims)}: "
            f"expected the letters {', '.join(LETTERS[: len(dims)])}"
        )
    padded, strides, elements = _around(dims, tag)
    _check_size(elements, strides, dtype, dims)
    if 0 in dims:
        elements = 0
    return _made(
        *(dims, dtype, padded, strides, 0, tag.inner_blocks, tag.inner_axes),
        *("blocked", text, elements),
    )


def _around(
    dims: tuple[Extent, ...], tag: Tag
) -> tuple[tuple[Extent, ...], tuple[int | None, ...], int | None]:
    """Return padded dims and strides, dense from the innermost axis out, and the size.

    An axis of 0 counts as 1. Strides outside of an unknown axis are unknown, and so is the size.
    """
    padded = list(dims)
    strides: list[int | None] = [None] * len(dims)
    stride: int | None = tag.unit
    for axis in tag.inward:
        strides[axis] = stride
        n, block = dims[axis], tag.blocks[axis]
        if type(n) is int:
            count = -(-n // block)
            padded[axis] = count * block
            if stride is not None and count:
                stride *= count
        else:
            padded[axis] = extent(ceildiv(n, block) * block)
            stride = None
    return tuple(padded), tuple(strides), stride


def _allows(have: Extent, n: int) -> bool:
    return have.contains(n) if isinstance(have, Dimension) else have == n


# Where an element lies.


def _along(layout: MemoryDescriptor, axis: int, i: int) -> int:
    """Return what position i of one axis adds to the offset."""
    offset, place = 0, 1
    for size, of in zip(reversed(layout.inner_blocks), reversed(layout.inner_axes), strict=True):
        if of == axis:
            i, digit = divmod(i, size)
            offset += digit * place
        place *= size
    return offset + i * layout.strides[axis] if i else offset  # type: ignore[operator]  # all known


def element_strides(layout: MemoryDescriptor) -> Strides | None:
    """Return how far one position moves along each axis, or None where that is not constant.

    Raises: ``ValueError`` for a descriptor without a layout, or with unknown dims or strides.
    """
    dims, strides = layout._mapping("element_strides")
    if not layout.inner_blocks or 0 in dims:
        return strides
    steps = []
    for axis, n in enumerate(dims):
        step = _along(layout, axis, 1)
        for length in _full_blocks(layout, axis):
            if length < n and _along(layout, axis, length) != length * step:
                return None
        steps.append(step)
    return tuple(steps)


def _full_blocks(layout: MemoryDescriptor, axis: int) -> Iterator[int]:
    """Yield the lengths at which one axis leaves an inner block for the next outer one."""
    length = 1
    for size, of in zip(reversed(layout.inner_blocks), reversed(layout.inner_axes), strict=True):
        if of == axis:
            length *= size
            yield length


# Descriptors made from others.


def _window(
    layout: MemoryDescriptor, dims: Iterable[int], offsets: Iterable[int]
) -> MemoryDescriptor:
    sizes = _known(_extents(dims), "submemory")
    corner = _known(_extents(offsets), "submemory")
    have = _known(layout.dims, "submemory")
    if len(sizes) != len(have) or len(corner) != len(have):
        raise ValueError(
            f"submemory: expected {len(have)} dims and offsets, got {sizes} and {corner}"
        )
    for n, start, limit in zip(sizes, corner, have, strict=True):
        if start + n > limit:
            raise ValueError(f"submemory: a window {sizes} at {corner} leaves the dims {have}")
    _, strides = layout._mapping("submemory")
    offset, padded = layout.offset, []
    blocks = blocks_by_axis(len(have), layout.inner_blocks, layout.inner_axes)
    for axis, (n, start, block) in enumerate(zip(sizes, corner, blocks, strict=True)):
        at_border = start + n == have[axis]
        if start % block or not (at_border or n % block == 0 or n < block):
            raise ValueError(
                f"submemory: axis {axis} has blocks of {block}; expected a window of whole blocks, "
                f"got {n} from {start}"
            )
        padded.append(layout.padded_dims[axis] - start if at_border else n)
        offset += start // block * strides[axis]
    return _blocked(
        *(sizes, layout.dtype, tuple(padded), strides, offset),
        *(layout.inner_blocks, layout.inner_axes),
    )


def _permuted(layout: MemoryDescriptor, perm: Iterable[int]) -> MemoryDescriptor:
    to = tuple([_integer(axis, "an axis") for axis in perm])
    if not layout.dims or sorted(to) != list(range(layout.ndim)):
        raise ValueError(f"permute_axes: expected each of {layout.ndim} axes once, got {to}")
    dims = _known(layout.dims, "permute_axes")
    source = [to.index(axis) for axis in range(layout.ndim)]
    new = tuple([dims[axis] for axis in source])
    if layout.format_kind == "any":
        return _unlaid(new, layout.dtype, "any")
    _, strides = layout._mapping("permute_axes")
    return _blocked(
        *(new, layout.dtype, tuple([layout.padded_dims[axis] for axis in source])),
        *(tuple([strides[axis] for axis in source]), layout.offset),
        *(layout.inner_blocks, tuple([to[axis] for axis in layout.inner_axes])),
    )


def _reshaped(layout: MemoryDescriptor, dims: Iterable[int]) -> MemoryDescriptor:
    new = _known(_extents(dims), "reshape")
    old = _known(layout.dims, "reshape")
    if not old or not 0 < len(new) <= MAX_RANK:
        raise ValueError(f"reshape: expected 1 to {MAX_RANK} dims on each side, got {old}, {new}")
    if prod([n or 1 for n in old]) != prod([n or 1 for n in new]):  # as the real library counts
        raise ValueError(f"reshape: dims {old} and {new} differ in size")
    if layout.format_kind == "any":
        return _unlaid(new, layout.dtype, "any")
    _, strides = layout._mapping("reshape")
    padded_dims: list[Extent] = list(new)
    new_strides = [0] * len(new)
    moved = dict.fromkeys(layout.inner_axes, -1)
    for axes, new_axes in _groups(old, layout.padded_dims, new):
        if not axes:
            new_strides[new_axes[0]] = _stride_outside(layout, strides, axes.start)
        elif len(axes) == len(new_axes) == 1:
            padded_dims[new_axes[0]] = layout.padded_dims[axes[0]]
            new_strides[new_axes[0]] = strides[axes[0]]
            moved[axes[0]] = new_axes[0]
        elif not new_axes and axes[0] in moved and new[axes[0] : axes[0] + 1] == (1,):
            moved[axes[0]] = axes[0]  # the block finds an axis of 1 in the same place
        else:
            _check_plain(layout, axes)
            part = _split(old, strides, axes, [new[axis] for axis in new_axes])
            for axis, stride in zip(new_axes, part, strict=True):
                new_strides[axis] = stride
    return _blocked(
        *(new, layout.dtype, tuple(padded_dims), tuple(new_strides), layout.offset),
        *(layout.inner_blocks, tuple([moved[axis] for axis in layout.inner_axes])),
    )


def _groups(
    old: tuple[int, ...], padded: tuple[Extent, ...], new: tuple[int, ...]
) -> Iterator[tuple[range, range]]:
    """Yield the groups of axes that correspond, from the right: the smallest of equal size.

    An axis of 1 corresponds to none, unless it is padded.
    """
    i, j = len(old), len(new)
    while i or j:
        left, right = i - 1, j - 1
        if i and old[left] == 1 and padded[left] == 1:
            right = j
        elif j and new[right] == 1 and not (i and old[left] == 1):
            left = i
        elif left < 0 or right < 0 or (old[left] == 1 and new[right] != 1):
            raise ValueError(f"reshape: the axes of {old} and {new} do not correspond")
        else:
            left, right = _balanced(old, left, new, right)
        yield range(left, i), range(right, j)
        i, j = left, right


def _balanced(old: tuple[int, ...], i: int, new: tuple[int, ...], j: int) -> tuple[int, int]:
    """Return where two groups begin that end here and have one size."""
    have, want = old[i], new[j]
    while have != want:
        grows = have < want
        if 0 in (have, want) or (i if grows else j) == 0:
            raise ValueError(f"reshape: the axes of {old} and {new} do not correspond")
        if grows:
            i -= 1
            have *= old[i]
        else:
            j -= 1
            want *= new[j]
    return i, j


def _stride_outside(layout: MemoryDescriptor, strides: Strides, axis: int) -> int:
    """Return the stride of a new axis of 1 that stands to the left of an old one."""
    if axis == layout.ndim:
        return prod(layout.inner_blocks)
    n = _known(layout.dims, "reshape")[axis]
    block = blocks_by_axis(layout.ndim, layout.inner_blocks, layout.inner_axes)[axis]
    return strides[axis] * n // block


def _check_plain(layout: MemoryDescriptor, axes: range) -> None:
    for axis in axes:
        if axis in layout.inner_axes or layout.padded_dims[axis] != layout.dims[axis]:
            raise ValueError(
                f"reshape: axis {axis} is blocked or padded, it cannot be split, joined or dropped"
            )


def _split(old: tuple[int, ...], strides: Strides, axes: range, new: list[int]) -> Strides:
    """Return the strides of the new axes of one group."""
    chained = all(strides[axis - 1] == strides[axis] * old[axis] for axis in axes[1:])
    shape, have = tuple([old[axis] for axis in axes]), tuple([strides[axis] for axis in axes])
    result = reshaped_strides(shape, have, tuple(new)) if chained else None
    if result is None:
        raise ValueError(
            f"reshape: dims {shape} with strides {have} are not one axis, "
            f"they cannot become {tuple(new)} without a copy"
        )
    return result


# Comparing and drawing.


def _identity(layout: MemoryDescriptor) -> tuple[object, ...]:
    """Return what two equal descriptors have in common: the stride of an axis of 1 says nothing."""
    told = zip(layout.dims, layout.padded_dims, layout.strides, strict=False)
    return (
        *(layout.dims, layout.dtype, layout.padded_dims, layout.offset, layout.format_kind),
        *(layout.inner_blocks, layout.inner_axes),
        tuple([0 if n == 1 and padded == 1 else stride for n, padded, stride in told]),
        _hidden_order(layout),
    )


def _hidden_order(layout: MemoryDescriptor) -> tuple[int, ...] | None:
    """Return the order of axes that bind will use, where the strides do not tell it."""
    if None not in layout.strides or isinstance(layout._given, tuple):
        return None
    return as_tag(layout._given, layout.ndim).order


def _fitting_tag(layout: MemoryDescriptor) -> str | None:
    if layout.format_kind != "blocked":
        return "any" if layout.format_kind == "any" else None
    if not layout._is_mapping:
        if isinstance(layout._given, tuple):
            return None
        return written(as_tag(layout._given, layout.ndim))
    strides = layout._mapping("tag")[1]
    axes = range(layout.ndim)
    blocks = blocks_by_axis(layout.ndim, layout.inner_blocks, layout.inner_axes)
    padded = _known(layout.padded_dims, "tag")
    # Of equal strides the outer one is that of the axis with more than one block.
    by_stride = sorted(axes, key=lambda axis: (-strides[axis], padded[axis] // blocks[axis] < 2))
    for order in (axes, by_stride):
        tag = tag_of(tuple(order), layout.inner_blocks, layout.inner_axes)
        if _fits(layout, tag):
            return written(tag)
    return None


def _fits(layout: MemoryDescriptor, tag: Tag) -> bool:
    padded, strides, _ = _around(layout.dims, tag)
    told = zip(padded, layout.strides, strides, strict=True)
    return padded == layout.padded_dims and all(n == 1 or have == want for n, have, want in told)
