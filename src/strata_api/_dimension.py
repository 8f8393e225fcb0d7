"""Dimension: an extent that may be unknown, held as a closed interval of lengths.

The rules are those of OpenVINO's ``ov::Dimension``; docs/dimensions.md lists where we
differ and why. Equal labels mean one length; equality and hash look at the bounds alone.
"""

from __future__ import annotations

import re
import sys
from operator import index
from typing import NoReturn, TypeAlias, final, overload

MAX_LENGTH = 2**63 - 1
"""The largest length; an upper bound that reaches it is no bound."""

_UNBOUNDED = MAX_LENGTH + 1
_BLANKS = " \t\n\r\v\f"
_FIELD = re.compile(
    r"(?:(?P<name>[A-Za-z_][A-Za-z_0-9]*)(?P<colon>:)?)?"
    r"(?P<body>(?P<unknown>\?)|(?P<lower>-1|[0-9]*)(?:(?P<dots>\.\.)(?P<upper>[0-9]*))?)"
)


@final
class Dimension:
    """A length that may be unknown: every integer from a lower to an upper bound.

    ``Dimension()`` is any length, ``Dimension(3)`` one, ``Dimension(1, 8)`` a range and
    ``Dimension(1, None)`` a range without an upper bound; ``-1`` stands for any length, as a
    lower bound for 0 and as an upper bound for none. Strings: ``"?"``, ``"3"``, ``"1..8"``,
    ``"1.."``, ``"..8"``, each with a name if wanted, ``"batch:1..8"``; a name alone is any length.

    Raises: ``TypeError`` for another kind (``bool`` included), ``ValueError`` for a negative
    length, reversed bounds, a length past 2**63 - 1, or a string that cannot be read.
    Source: ``ov::Dimension`` of OpenVINO.
    """

    # The public side is read-only. A label is a name, or the Dimension whose length this one
    # shares; None says that this one is the first of its length, so no token need be made.
    __slots__ = ("_hi", "_label", "_lo")

    _lo: int
    _hi: int
    _label: str | Dimension | None

    @overload
    def __new__(cls, value: int | str | Dimension = -1, /) -> Dimension: ...
    @overload
    def __new__(cls, lower: int | None, upper: int | None, /) -> Dimension: ...
    def __new__(cls, *arguments: int | str | Dimension | None) -> Dimension:
        """Return the dimension that one value, or a lower and an upper bound, describes."""
        if not arguments:
            return _make(0, _UNBOUNDED)
        if len(arguments) == 1:
            return _from_value(arguments[0])
        if len(arguments) == 2:
            return _from_bounds(*arguments)
        raise TypeError(f"Dimension takes a value or two bounds, got {len(arguments)} arguments")

    @staticmethod
    def dynamic() -> Dimension:
        """Return a dimension of any length."""
        return _make(0, _UNBOUNDED)

    # What it is.

    @property
    def is_static(self) -> bool:
        """Whether exactly one length is possible."""
        return self._lo == self._hi

    @property
    def is_dynamic(self) -> bool:
        """Whether the length is unknown (no or several lengths are possible)."""
        return self._lo != self._hi

    @property
    def is_empty(self) -> bool:
        """Whether no length is possible."""
        return self._lo > self._hi

    @property
    def label(self) -> str | None:
        """The name that was given, or None."""
        return self._label if isinstance(self._label, str) else None

    @property
    def min_length(self) -> int:
        """The lower bound; -1 if the interval is empty."""
        return self._lo if self._lo <= self._hi else -1

    @property
    def max_length(self) -> int:
        """The upper bound; -1 if there is none or the interval is empty."""
        return self._hi if self._hi < _UNBOUNDED else -1

    def get_length(self) -> int:
        """Return the length.

        Raises: ``ValueError`` if the dimension is dynamic.
        """
        if self._lo == self._hi:
            return self._lo
        raise ValueError(f"get_length needs a static dimension, got {self}; {_ADVICE}")

    def get_min_length(self) -> int:
        """Return the lower bound; -1 if the interval is empty."""
        return self.min_length

    def get_max_length(self) -> int:
        """Return the upper bound; -1 if there is none or the interval is empty."""
        return self.max_length

    def get_interval(self) -> tuple[int, int | None]:
        """Return both bounds, None for a missing upper one; ``(1, 0)`` if empty."""
        if self._lo > self._hi:
            return 1, 0
        return self._lo, self._hi if self._hi < _UNBOUNDED else None

    def contains(self, length: int) -> bool:
        """Return whether this length is possible."""
        return self._lo <= index(length) <= min(self._hi, MAX_LENGTH)

    # Relations.

    def same_scheme(self, other: Extent) -> bool:
        """Return whether both are equal, or both hold more than one length."""
        other = _operand(other)
        return self == other or (self._lo < self._hi and other._lo < other._hi)

    def compatible(self, other: Extent) -> bool:
        """Return whether a length is in both."""
        other = _operand(other)
        return max(self._lo, other._lo) <= min(self._hi, other._hi)

    def relaxes(self, other: Extent) -> bool:
        """Return whether both bounds of the other lie within these."""
        other = _operand(other)
        return self._lo <= other._lo and other._hi <= self._hi

    def refines(self, other: Extent) -> bool:
        """Return whether the other relaxes this one."""
        return _operand(other).relaxes(self)

    def same_length(self, other: Extent) -> bool:
        """Return whether both are known to be one length: equal and static, or of one label."""
        return _is_one_length(self, _operand(other))

    # Arithmetic: the smallest interval that holds every result.

    def __add__(self, other: Extent) -> Dimension:
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        if b._hi == 0:
            return self
        if self._hi == 0:
            return b
        hi = self._hi + b._hi
        if hi < MAX_LENGTH:
            return _make(self._lo + b._lo, hi)
        return _saturated(self, "+", b, self._lo + b._lo, hi)

    def __sub__(self, other: Extent) -> Dimension:
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        if b._hi == 0:
            return self
        if self._lo > self._hi or b._lo > b._hi:
            return _EMPTY
        if _is_one_length(self, b):
            return _ZERO
        hi = self._hi - b._lo if self._hi < _UNBOUNDED else _UNBOUNDED
        return _make(max(self._lo - b._hi, 0), max(hi, 0))

    def __mul__(self, other: Extent) -> Dimension:
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        if b._lo == 1 == b._hi:
            return self
        if self._lo == 1 == self._hi:
            return b
        hi = self._hi * b._hi
        if 0 < hi < MAX_LENGTH:
            return _make(self._lo * b._lo, hi)
        return _saturated(self, "*", b, self._lo * b._lo, hi)

    def __truediv__(self, other: Extent) -> Dimension:
        """Return the lengths that, times the divisor, give this one: 7 / 2 is empty."""
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        known = _known_quotient(self, "/", b)
        if known is not None:
            return known
        lo = -(-self._lo // b._hi)
        hi = self._hi // (b._lo or 1) if self._hi < _UNBOUNDED else _UNBOUNDED
        return _make(lo, hi) if lo <= hi else _EMPTY

    def __floordiv__(self, other: Extent) -> Dimension:
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        known = _known_quotient(self, "//", b)
        if known is not None:
            return known
        hi = self._hi // (b._lo or 1) if self._hi < _UNBOUNDED else _UNBOUNDED
        return _make(self._lo // b._hi, hi)

    def ceildiv(self, other: Extent) -> Dimension:
        """Return the quotient rounded up."""
        b = _operand(other)
        known = _known_quotient(self, "ceildiv", b)
        if known is not None:
            return known
        hi = -(-self._hi // (b._lo or 1)) if self._hi < _UNBOUNDED else _UNBOUNDED
        return _make(-(-self._lo // b._hi), hi)

    def __mod__(self, other: Extent) -> Dimension:
        """Return the remainder; the interval is the smallest one for a static divisor."""
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        _check_divisor(self, "%", b)
        if self._lo > self._hi or b._lo > b._hi:
            return _EMPTY
        if _is_one_length(self, b):
            return _ZERO
        if self._hi < b._lo:
            return self
        if b._lo == b._hi and self._hi < _UNBOUNDED and self._lo // b._lo == self._hi // b._lo:
            return _make(self._lo % b._lo, self._hi % b._lo)
        return _make(0, min(self._hi, b._hi - 1 if b._hi < _UNBOUNDED else _UNBOUNDED))

    def min(self, other: Extent) -> Dimension:
        """Return the smaller length; this or the other itself where it always is the smaller."""
        b = _operand(other)
        if self._lo > self._hi or b._lo > b._hi:
            return _EMPTY
        if self._hi <= b._lo or _is_one_length(self, b):
            return self
        if b._hi <= self._lo:
            return b
        return _make(min(self._lo, b._lo), min(self._hi, b._hi))

    def max(self, other: Extent) -> Dimension:
        """Return the larger length; this or the other itself where it always is the larger."""
        b = _operand(other)
        if self._lo > self._hi or b._lo > b._hi:
            return _EMPTY
        if self._lo >= b._hi or _is_one_length(self, b):
            return self
        if b._lo >= self._hi:
            return b
        return _make(max(self._lo, b._lo), max(self._hi, b._hi))

    def __and__(self, other: Extent) -> Dimension:
        """Return the lengths in both, which may be none; a given name outlives an automatic one."""
        b = other if type(other) is Dimension else _operand_or_none(other)
        if b is None:
            return NotImplemented
        lo = self._lo if self._lo >= b._lo else b._lo
        hi = self._hi if self._hi <= b._hi else b._hi
        if lo > hi:
            return _EMPTY
        keep = b if type(b._label) is str and type(self._label) is not str else self
        if keep._lo == lo and keep._hi == hi:
            return keep
        return _make(lo, hi, keep if keep._label is None else keep._label)

    def __radd__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b + self

    def __rsub__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b - self

    def __rmul__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b * self

    def __rtruediv__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b / self

    def __rfloordiv__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b // self

    def __rmod__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b % self

    def __rand__(self, other: int) -> Dimension:
        b = _operand_or_none(other)
        return NotImplemented if b is None else b & self

    # Joining two descriptions of one length.

    @staticmethod
    def merge(a: Extent, b: Extent) -> Dimension:
        """Return the lengths in both.

        Raises: ``ValueError`` if there is none.
        """
        x = a if type(a) is Dimension else _operand(a)
        y = b if type(b) is Dimension else _operand(b)
        both = x & y
        if both._lo > both._hi:
            raise ValueError(f"merge: no length is in both {x.described()} and {y.described()}")
        return both

    @staticmethod
    def broadcast_merge(a: Extent, b: Extent) -> Dimension:
        """Return the length of two extents broadcast together, where 1 gives way.

        Raises: ``ValueError`` if no pair of lengths broadcasts.
        """
        x = a if type(a) is Dimension else _operand(a)
        y = b if type(b) is Dimension else _operand(b)
        both = broadcast_or_none(x, y)
        if both is None:
            raise ValueError(f"{x.described()} and {y.described()} do not broadcast")
        return both

    # As a Python value: a static one is its int.

    def __eq__(self, other: object) -> bool:
        if type(other) is Dimension:
            return self._lo == other._lo and self._hi == other._hi
        if isinstance(other, int):
            return self._lo == other == self._hi
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._lo) if self._lo == self._hi else hash((self._lo, self._hi))

    def __lt__(self, other: Extent) -> bool:
        return self._length_for("<", other) < _operand(other)._lo

    def __le__(self, other: Extent) -> bool:
        return self._length_for("<=", other) <= _operand(other)._lo

    def __gt__(self, other: Extent) -> bool:
        return self._length_for(">", other) > _operand(other)._lo

    def __ge__(self, other: Extent) -> bool:
        return self._length_for(">=", other) >= _operand(other)._lo

    def __index__(self) -> int:
        if self._lo == self._hi:
            return self._lo
        raise TypeError(f"the unknown length {self.described()} is not an integer; {_ADVICE}")

    def __len__(self) -> int:
        return self.__index__()

    def __bool__(self) -> bool:
        return self.__index__() != 0

    def to_string(self) -> str:
        """Return the bounds as text, which ``Dimension`` reads back: ``1..8``, ``..8``, ``?``."""
        lo, hi = self._lo, self._hi
        if lo == hi:
            return str(lo)
        if lo > hi:
            return "empty"
        if hi == _UNBOUNDED:
            return f"{lo}.." if lo else "?"
        return f"{lo or ''}..{hi}"

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<Dimension: {self.described()}>"

    def __copy__(self) -> Dimension:
        return self

    def __deepcopy__(self, memo: object) -> Dimension:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self._lo, self._hi, self._label)

    def described(self) -> str:
        """Return the text with the given name, if there is one: ``batch:1..8``."""
        return f"{self._label}:{self}" if isinstance(self._label, str) else self.to_string()

    def _length_for(self, sign: str, other: Extent) -> int:
        b = _operand(other)
        if self._lo == self._hi and b._lo == b._hi:
            return self._lo
        raise TypeError(
            f"{self} {sign} {b} has no one answer for an unknown length; compare min_length and "
            "max_length, or ask contains, relaxes or compatible"
        )


Extent: TypeAlias = int | Dimension
"""One entry of a shape: an int where it is known, a Dimension where it is not."""

_ADVICE = "use min_length and max_length, or give the extent a value"


def extent(value: Extent) -> Extent:
    """Return an int (the label dropped) where one length is possible, else the argument."""
    if type(value) is Dimension and value._lo == value._hi:
        return value._lo
    return value


def minimum(a: Extent, b: Extent) -> Extent:
    """Return the smaller of two extents."""
    if type(a) is int and type(b) is int:
        return a if a <= b else b
    return extent(_operand(a).min(b))


def maximum(a: Extent, b: Extent) -> Extent:
    """Return the larger of two extents."""
    if type(a) is int and type(b) is int:
        return a if a >= b else b
    return extent(_operand(a).max(b))


def ceildiv(a: Extent, b: Extent) -> Extent:
    """Return the quotient of two extents, rounded up."""
    if type(a) is int and type(b) is int:
        return -(-a // b)
    return extent(_operand(a).ceildiv(b))


def same_length(a: Extent, b: Extent) -> bool:
    """Return whether two extents are known to be one length."""
    return _is_one_length(_operand(a), _operand(b))


def broadcast_or_none(a: Dimension, b: Dimension) -> Dimension | None:
    """Return the length of both broadcast together; None if no pair of lengths broadcasts."""
    if not _is_one_length(a, b):
        if a._lo <= 1 <= a._hi:
            return _wider(a, b) if b._lo <= 1 <= b._hi else b
        if b._lo <= 1 <= b._hi:
            return a
    both = a & b
    return both if both._lo <= both._hi else None


def parse_field(text: str, start: int, stop: int) -> Dimension:
    """Return the dimension written in ``text[start:stop]``.

    Raises: ``ValueError`` with the position in the whole text.
    """
    field = _FIELD.match(text, start, stop)
    assert field is not None  # every part of the pattern is optional
    name, body = field["name"], field["body"]
    if field.end() < stop:
        _refuse(
            text, field.end() if not (name and body and not field["colon"]) else field.end("name")
        )
    if name and not field["colon"]:
        if body:
            _refuse(text, field.end("name"))
        return _EMPTY if name == "empty" else _make(0, _UNBOUNDED, sys.intern(name))
    if not body:
        _refuse(text, stop)
    label = sys.intern(name) if name else None
    if field["unknown"] or (not field["dots"] and body == "-1"):
        return _make(0, _UNBOUNDED, label)
    lo = max(int(field["lower"] or 0), 0)
    if not field["dots"]:
        return _within(lo, lo, label, f"{text!r}: ")
    hi = int(field["upper"]) if field["upper"] else _UNBOUNDED
    return _within(lo, hi, label, f"{text!r}: ")


def trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return the ends of the text without the blanks of ASCII around it."""
    while start < stop and text[start] in _BLANKS:
        start += 1
    while start < stop and text[stop - 1] in _BLANKS:
        stop -= 1
    return start, stop


def _refuse(text: str, position: int) -> NoReturn:
    found = repr(text[position]) if position < len(text) else "the end"
    raise ValueError(
        f"{text!r}: expected '?', a length, bounds such as 1..8 or a name at position {position}, "
        f"got {found}"
    )


def _make(lo: int, hi: int, label: str | Dimension | None = None) -> Dimension:
    made = object.__new__(Dimension)
    made._lo = lo
    made._hi = hi
    made._label = label
    return made


_EMPTY = _make(
    _UNBOUNDED + 1, _UNBOUNDED
)  # absorbs: its bounds take every operation off the fast path
_ZERO = _make(0, 0)
_ONE = _make(1, 1)


def _restored(lo: int, hi: int, label: str | Dimension | None) -> Dimension:
    return _make(lo, hi, sys.intern(label) if isinstance(label, str) else label)


def _within(lo: int, hi: int, label: str | None = None, where: str = "") -> Dimension:
    """Check bounds that a caller gave; an upper one that reaches the largest length is none."""
    if lo > hi:
        raise ValueError(f"{where}the lower bound {lo} is above the upper bound {hi}")
    if lo > MAX_LENGTH:
        raise ValueError(f"{where}a length is at most 2**63 - 1, got {lo}")
    if hi >= MAX_LENGTH and not lo == hi == MAX_LENGTH:
        hi = _UNBOUNDED
    return _make(lo, hi, label)


def _from_value(value: object) -> Dimension:
    if isinstance(value, Dimension):
        return value
    if isinstance(value, str):
        return parse_field(value, *trimmed(value, 0, len(value)))
    length = _integer(value)
    return _make(0, _UNBOUNDED) if length == -1 else _within(_length(length), length)


def _from_bounds(lower: object, upper: object) -> Dimension:
    lo = 0 if lower is None else _integer(lower)
    hi = _UNBOUNDED if upper is None else _integer(upper)
    return _within(0 if lo == -1 else _length(lo), _UNBOUNDED if hi == -1 else _length(hi))


def _integer(value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"a length is an integer, got {value!r}")
    return index(value)


def _length(value: int) -> int:
    if value < 0:
        raise ValueError(f"a length is at least 0 (-1 as an argument means unknown), got {value}")
    return value


def _operand_or_none(value: object) -> Dimension | None:
    """Return an operand as a Dimension, or None for a kind that is not ours."""
    if type(value) is int and 0 <= value <= MAX_LENGTH:
        return _make(value, value)
    if type(value) is Dimension:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    length = index(value)
    if length < 0:
        raise ValueError(f"a length is at least 0, got {length}; to take away, subtract")
    return _within(length, length)


def _operand(value: object) -> Dimension:
    operand = _operand_or_none(value)
    if operand is None:
        raise TypeError(f"expected an int or a Dimension, got {value!r}")
    return operand


def _is_one_length(a: Dimension, b: Dimension) -> bool:
    if a._lo == a._hi and b._lo == b._hi:
        return a._lo == b._lo
    return (a if a._label is None else a._label) is (b if b._label is None else b._label)


def _saturated(a: Dimension, sign: str, b: Dimension, lo: int, hi: int) -> Dimension:
    """Return a sum or product that is empty, or zero, or reaches the largest length."""
    if a._lo > a._hi or b._lo > b._hi:
        return _EMPTY
    if lo > MAX_LENGTH:
        raise ValueError(f"{a} {sign} {b} is past the largest length, 2**63 - 1")
    return _make(lo, hi if lo == hi else _UNBOUNDED if hi >= MAX_LENGTH else hi)


def _check_divisor(a: Dimension, sign: str, b: Dimension) -> None:
    if b._hi == 0:
        raise ZeroDivisionError(f"{a} {sign} {b}: division by zero")


def _known_quotient(a: Dimension, sign: str, b: Dimension) -> Dimension | None:
    """Return a quotient that needs no arithmetic; a divisor's 0 is left out if it may be more."""
    _check_divisor(a, sign, b)
    if a._lo > a._hi or b._lo > b._hi:
        return _EMPTY
    if b._lo == 1 == b._hi:
        return a
    return _ONE if _is_one_length(a, b) else None


def _wider(a: Dimension, b: Dimension) -> Dimension:
    """Return the hull; the other operand itself where one is the static 1, which gives way."""
    if a._hi == 1 == a._lo:
        return b
    if b._hi == 1 == b._lo:
        return a
    return _make(min(a._lo, b._lo), max(a._hi, b._hi))
