"""PartialShape: a shape of which extents, or even the rank, may be unknown.

The rules are those of OpenVINO's ``ov::PartialShape``; docs/dimensions.md lists where we differ and
why. Every operation returns a new shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import Literal, TypeAlias, final, overload

from strata_api._dimension import (
    MAX_LENGTH,
    Dimension,
    Extent,
    broadcast_or_none,
    extent,
    parse_field,
    trimmed,
)

DimensionLike: TypeAlias = int | str | Dimension | tuple[int | None, int | None]
Rule: TypeAlias = Literal["numpy", "pdpd", "none"]


@final
class PartialShape:
    """A tuple of dimensions, or, when the rank is unknown, nothing yet.

    ``PartialShape([2, "1..8", Dimension(), (3, None)])`` takes whatever ``Dimension`` takes, a pair
    being two bounds; ``PartialShape("[batch:1..8, 3, ?]")`` reads a string, ``"[...]"`` being an
    unknown rank. One name in two places is one length: ``"[n:1..8, n]"`` is twice ``1..8``.

    Raises: ``TypeError`` for another kind, ``ValueError`` for a string that cannot be read (with
    the position), impossible bounds, or a name that stands for two different lengths.
    Source: ``ov::PartialShape`` of OpenVINO.
    """

    __slots__ = ("_dims",)

    _dims: tuple[Dimension, ...] | None

    def __new__(cls, dims: str | Iterable[DimensionLike], /) -> PartialShape:
        """Return the shape of these dimensions, or the one that a string describes."""
        if isinstance(dims, PartialShape):
            return dims
        if isinstance(dims, str):
            return _parsed(dims)
        if isinstance(dims, bytes | bytearray) or not hasattr(dims, "__iter__"):
            raise TypeError(f"PartialShape takes dimensions or a string, got {dims!r}")
        return _make(unified(tuple(map(_dimension, dims))))

    @staticmethod
    def dynamic(rank: Extent | None = None) -> PartialShape:
        """Return a shape of unknown dimensions; of unknown rank too, unless one is given."""
        dimension = Dimension() if rank is None else Dimension(rank)
        if dimension.is_dynamic:
            return _make(None)
        return _make(tuple(Dimension() for _ in range(dimension.get_length())))

    # What it is.

    @property
    def rank(self) -> Dimension:
        """The number of dimensions."""
        return Dimension() if self._dims is None else Dimension(len(self._dims))

    @property
    def is_static(self) -> bool:
        """Whether the rank and every dimension are known."""
        return self._dims is not None and all(d.is_static for d in self._dims)

    @property
    def is_dynamic(self) -> bool:
        """Whether the rank or a dimension is unknown."""
        return not self.is_static

    @property
    def all_non_negative(self) -> bool:
        """True: no length is negative."""
        return True

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The dimensions, each an int where it is known.

        Raises: ``ValueError`` if the rank is unknown.
        """
        return tuple(map(extent, self._known()))

    def get_shape(self) -> tuple[int, ...]:
        """Return the lengths.

        Raises: ``ValueError`` if the rank or a dimension is unknown.
        """
        if self.is_dynamic:
            raise ValueError(f"expected a shape of known lengths, got {self}")
        return tuple(d.get_length() for d in self._known())

    def to_shape(self) -> tuple[int, ...]:
        """Return the lengths, as ``get_shape``."""
        return self.get_shape()

    def get_min_shape(self) -> tuple[int, ...]:
        """Return the lower bounds; ``()`` for an unknown rank."""
        return tuple(d.min_length for d in self._dims or ())

    def get_max_shape(self) -> tuple[int, ...]:
        """Return the upper bounds, 2**63 - 1 for a missing one; ``()`` for an unknown rank."""
        return tuple(
            MAX_LENGTH if d.max_length == -1 and not d.is_empty else d.max_length
            for d in self._dims or ()
        )

    def get_dimension(self, position: int) -> Dimension:
        """Return one dimension; a negative position counts from the end.

        Raises: ``IndexError`` out of range, or if the rank is unknown.
        """
        if self._dims is None:
            raise IndexError(f"position {index(position)} of [...]: the rank is unknown")
        rank = len(self._dims)
        if not -rank <= index(position) < rank:
            raise IndexError(f"position {position} is out of range for {self} of rank {rank}")
        return self._dims[position]

    @overload
    def __getitem__(self, key: int) -> Dimension: ...
    @overload
    def __getitem__(self, key: slice) -> PartialShape: ...
    def __getitem__(self, key: int | slice) -> Dimension | PartialShape:
        if isinstance(key, slice):
            return _make(self._known()[key])
        return self.get_dimension(key)

    def __len__(self) -> int:
        return len(self._known())

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self._known())

    def _known(self) -> tuple[Dimension, ...]:
        if self._dims is None:
            raise ValueError("expected a shape of known rank, got [...]")
        return self._dims

    # Relations.

    def same_scheme(self, other: PartialShape) -> bool:
        """Return whether both ranks are unknown, or all dimensions are of the same scheme."""
        a, b = self._dims, _shape(other)._dims
        if a is None or b is None:
            return a is b
        return len(a) == len(b) and all(map(Dimension.same_scheme, a, b))

    def compatible(self, other: PartialShape) -> bool:
        """Return whether a shape is in both."""
        a, b = self._dims, _shape(other)._dims
        if a is None or b is None:
            return True
        return len(a) == len(b) and all(map(Dimension.compatible, a, b))

    def relaxes(self, other: PartialShape) -> bool:
        """Return whether every shape of the other is one of this."""
        a, b = self._dims, _shape(other)._dims
        if a is None or b is None:
            return a is None
        return len(a) == len(b) and all(map(Dimension.relaxes, a, b))

    def refines(self, other: PartialShape) -> bool:
        """Return whether the other relaxes this shape."""
        return _shape(other).relaxes(self)

    # Joining.

    def merge_rank(self, rank: Extent) -> PartialShape:
        """Return the shape with this rank, if it is one number; else the shape as it is.

        Raises: ``ValueError`` if the shape has another rank.
        """
        wanted = Dimension(rank)
        if wanted.is_dynamic:
            return self
        if self._dims is None:
            return PartialShape.dynamic(wanted)
        if len(self._dims) != wanted:
            raise ValueError(f"merge_rank: {self} has rank {len(self._dims)}, not {wanted}")
        return self

    @staticmethod
    def merge(a: PartialShape, b: PartialShape) -> PartialShape:
        """Return what both say of one shape.

        Raises: ``ValueError`` if the ranks differ or a dimension has no length in both.
        """
        x, y = _shape(a)._dims, _shape(b)._dims
        if x is None or y is None:
            return b if x is None else a
        if len(x) != len(y):
            raise ValueError(f"merge: {a} and {b} differ in rank, {len(x)} and {len(y)}")
        dims = tuple(map(Dimension.__and__, x, y))
        for axis, both in enumerate(dims):
            if both.is_empty:
                raise ValueError(f"merge: {a} and {b} have no length in common at axis {axis}")
        return _make(unified(dims))

    @staticmethod
    def broadcast_merge(
        a: PartialShape, b: PartialShape, rule: Rule = "numpy", axis: int = -1
    ) -> PartialShape:
        """Return the shape of both broadcast together.

        ``"numpy"`` aligns the last axes and lets 1 give way on either side; ``"pdpd"`` lays ``b``
        over ``a`` from ``axis`` on (-1: the last axes) and keeps the rank of ``a``; ``"none"``
        leaves ``a`` as it is. An unknown rank gives an unknown rank.

        Raises: ``ValueError`` if the shapes do not broadcast, or for another rule.
        """
        if rule == "numpy":
            return _broadcast_numpy(_shape(a), _shape(b))
        if rule == "pdpd":
            return _broadcast_pdpd(_shape(a), _shape(b), axis)
        if rule == "none":
            return _shape(a)
        raise ValueError(f"expected the rule 'numpy', 'pdpd' or 'none', got {rule!r}")

    def __add__(self, other: PartialShape) -> PartialShape:
        """Return the sums, dimension by dimension (not the shapes joined end to end)."""
        if type(other) is not PartialShape:
            return NotImplemented
        if self._dims is None or other._dims is None:
            return _make(None)
        if len(self._dims) != len(other._dims):
            raise ValueError(f"{self} + {other}: the ranks differ")
        return _make(tuple(map(Dimension.__add__, self._dims, other._dims)))

    # As a Python value.

    def __eq__(self, other: object) -> bool:
        if type(other) is PartialShape:
            return self._dims == other._dims
        if isinstance(other, tuple | list):
            return self._dims == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def to_string(self) -> str:
        """Return the shape as text, which ``PartialShape`` reads back: ``[1..8,3,?]``."""
        return "[...]" if self._dims is None else f"[{','.join(map(str, self._dims))}]"

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        if self._dims is None:
            return "<PartialShape: [...]>"
        return f"<PartialShape: [{','.join(d.described() for d in self._dims)}]>"

    def __copy__(self) -> PartialShape:
        return self

    def __deepcopy__(self, memo: object) -> PartialShape:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _make, (self._dims,)


def unified(dims: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """Return the dimensions with those of one name merged: one name is one length.

    Raises: ``ValueError`` with the name, if it stands for lengths that exclude each other.
    """
    named: dict[str, Dimension] = {}
    for dim in dims:
        if dim.label is None:
            continue
        both = named.get(dim.label, dim) & dim
        if both.is_empty:
            raise ValueError(f"{dim.label!r} stands for {named[dim.label]} and for {dim}")
        named[dim.label] = both
    return tuple(named.get(d.label or "", d) for d in dims) if named else dims


def _make(dims: tuple[Dimension, ...] | None) -> PartialShape:
    shape = object.__new__(PartialShape)
    shape._dims = dims
    return shape


def _shape(value: PartialShape) -> PartialShape:
    if type(value) is not PartialShape:
        raise TypeError(f"expected a PartialShape, got {value!r}")
    return value


def _dimension(value: DimensionLike) -> Dimension:
    if not isinstance(value, tuple | list):
        return Dimension(value)
    if len(value) != 2:
        raise TypeError(f"a dimension has two bounds, got {value!r}")
    return Dimension(value[0], value[1])


def _parsed(text: str) -> PartialShape:
    start, stop = trimmed(text, 0, len(text))
    if stop - start > 1 and text[start] == "[" and text[stop - 1] == "]":
        start, stop = trimmed(text, start + 1, stop - 1)
    if text[start:stop] == "...":
        return _make(None)
    if start == stop:
        return _make(())
    dims = []
    while True:
        comma = text.find(",", start, stop)
        end = stop if comma < 0 else comma
        dims.append(parse_field(text, *trimmed(text, start, end)))
        if comma < 0:
            return _make(unified(tuple(dims)))
        start = comma + 1


def _broadcast_numpy(a: PartialShape, b: PartialShape) -> PartialShape:
    x, y = a._dims, b._dims
    if x is None or y is None:
        return _make(None)
    lead = len(x) - len(y)
    dims = list(x[:lead] if lead >= 0 else y[:-lead])
    for under, over in zip(x[max(lead, 0) :], y[max(-lead, 0) :], strict=True):
        both = broadcast_or_none(under, over)
        if both is None:
            raise ValueError(f"shapes {a} and {b} do not broadcast: {under} with {over}")
        dims.append(both)
    return _make(tuple(dims))


def _broadcast_pdpd(a: PartialShape, b: PartialShape, axis: int) -> PartialShape:
    x, y = a._dims, b._dims
    if x is None or y is None:
        return _make(None)
    start = len(x) - len(y) if axis == -1 else index(axis)
    if not 0 <= start <= len(x) - len(y):
        raise ValueError(f"shape {b} does not lie within {a} from axis {axis} on")
    dims = list(x)
    for position, over in enumerate(y, start):
        under = dims[position]
        both = broadcast_or_none(under, over)
        if both is None or (over.is_static and under.is_static and over > under):
            raise ValueError(f"shape {b} does not broadcast to {a}: {over} over {under}")
        dims[position] = both
    return _make(tuple(dims))
