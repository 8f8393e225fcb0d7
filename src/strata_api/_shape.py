"""Shapes: tuples of extents, and the rules that find the shape of a result.

An extent is an ``int``, or a ``Dimension`` where the length is unknown. Every rule here works on
both, so that the abstract backend needs no second set of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from operator import index
from typing import TypeAlias, TypeGuard

from strata_api._dimension import Dimension, Extent, extent
from strata_api._dtypes import AxisError

Shape: TypeAlias = tuple[Extent, ...]
ShapeLike: TypeAlias = Extent | Iterable[Extent]  # what a user gives as one


def as_extent(value: object) -> Extent:
    """Return the extent that a user gave, or raise ``TypeError`` or ``ValueError``."""
    if isinstance(value, Dimension):
        return extent(value)
    try:
        length = index(value)  # type: ignore[arg-type]  # the call is the check
    except TypeError:
        raise TypeError(f"expected an integer as an extent, got {value!r}") from None
    if length < 0:
        raise ValueError(f"expected an extent of 0 or more, got {length}")
    return length


def as_shape(shape: object) -> Shape:
    """Return the shape that a user gave: an integer, a ``Dimension``, or an iterable of them."""
    if isinstance(shape, tuple | list):
        return tuple([as_extent(value) for value in shape])
    if hasattr(shape, "__index__") or isinstance(shape, Dimension):
        return (as_extent(shape),)
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise TypeError(f"expected a shape (a tuple of integers), got {shape!r}")
    return tuple([as_extent(value) for value in shape])


def is_static(shape: Iterable[Extent]) -> TypeGuard[tuple[int, ...]]:
    """Tell whether every extent is known."""
    return all(type(n) is int for n in shape)


def visible(shape: Shape) -> tuple[int | None, ...]:
    """Return the shape as the standard shows it: ``None`` for an unknown extent."""
    return tuple([n if type(n) is int else None for n in shape])


def size(shape: Iterable[Extent]) -> Extent:
    """Return the number of elements."""
    total: Extent = 1
    for n in shape:
        total = total * n
    return extent(total)


def may_be(a: Extent, b: Extent) -> bool:
    """Tell whether two extents can be the same length."""
    if type(a) is int and type(b) is int:
        return a == b
    return Dimension(a).compatible(Dimension(b))


def merge(a: Extent, b: Extent) -> Extent:
    """Return the extents that satisfy both, or raise ``ValueError``."""
    if type(a) is int and type(b) is int:
        if a != b:
            raise ValueError(f"extents {a} and {b} differ")
        return a
    return extent(Dimension.merge(Dimension(a), Dimension(b)))


def broadcast(*shapes: Shape, what: str = "broadcast") -> Shape:
    """Return the shape that the shapes broadcast to.

    Raises: ``ValueError`` that names all of them. Source: the standard, broadcasting.
    """
    result = shapes[0]
    for shape in shapes[1:]:
        if shape == result and is_static(shape):
            continue
        longer, shorter = (shape, result) if len(shape) > len(result) else (result, shape)
        lead = len(longer) - len(shorter)
        try:
            result = longer[:lead] + tuple(
                [_broadcast_extent(a, b) for a, b in zip(longer[lead:], shorter, strict=True)]
            )
        except ValueError:
            listed = " and ".join(str(shown(shape)) for shape in shapes)
            raise ValueError(f"{what}: shapes {listed} do not broadcast") from None
    return result


def _broadcast_extent(a: Extent, b: Extent) -> Extent:
    if type(a) is int and type(b) is int:
        if a == b or b == 1:
            return a
        if a == 1:
            return b
        raise ValueError
    return extent(Dimension.broadcast_merge(Dimension(a), Dimension(b)))


def shown(shape: Shape) -> str:
    """Return the shape as an error shows it: unknown extents as their interval."""
    inner = ", ".join(str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def normalize_axis(axis: object, ndim: int, what: str = "axis") -> int:
    """Return the axis counted from the front.

    Raises: ``TypeError`` for what is no integer, ``AxisError`` (an ``IndexError`` and a
    ``ValueError``) out of range.
    """
    try:
        position = index(axis)  # type: ignore[arg-type]  # the call is the check
    except TypeError:
        raise TypeError(f"{what}: expected an integer, got {axis!r}") from None
    if not -ndim <= position < ndim:
        raise AxisError(f"{what}: {position} is out of range for an array of {ndim} dimensions")
    return position % ndim


def normalize_axes(axes: object, ndim: int, what: str = "axis") -> tuple[int, ...]:
    """Return the axes counted from the front; ``None`` is all of them.

    Raises: as ``normalize_axis``, and ``ValueError`` for an axis given twice.
    """
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, tuple | list):
        return (normalize_axis(axes, ndim, what),)
    result = tuple([normalize_axis(axis, ndim, what) for axis in axes])
    if len(set(result)) != len(result):
        raise ValueError(f"{what}: an axis is given twice in {tuple(axes)}")
    return result


def reduced(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Return the shape without the axes, or with extent 1 in their place."""
    if keepdims:
        return tuple([1 if axis in axes else n for axis, n in enumerate(shape)])
    return tuple([n for axis, n in enumerate(shape) if axis not in axes])


def replaced(shape: Shape, axis: int, n: Extent) -> Shape:
    """Return the shape with another extent along one axis."""
    return (*shape[:axis], n, *shape[axis + 1 :])


def reshaped(shape: Shape, new: Sequence[object]) -> Shape:
    """Return the target of a reshape, with the one ``-1`` worked out.

    Raises: ``ValueError`` where the number of elements cannot be the same.
    """
    wanted = [-1 if _is_minus_one(n) else as_extent(n) for n in new]
    holes = [axis for axis, n in enumerate(wanted) if type(n) is int and n == -1]
    if len(holes) > 1:
        raise ValueError(f"reshape: at most one extent may be -1, got {tuple(new)}")
    have = list(shape)
    if holes:
        wanted[holes[0]] = _quotient(have, wanted, holes[0], shape, new)
    elif not _same_size(have, wanted):
        raise ValueError(
            f"reshape: shape {shown(shape)} has {size(shape)} elements, "
            f"{shown(tuple(wanted))} has {size(wanted)}"
        )
    return tuple(wanted)


def _is_minus_one(n: object) -> bool:
    return not isinstance(n, Dimension) and hasattr(n, "__index__") and index(n) == -1


def _without_common(a: Iterable[Extent], b: Iterable[Extent]) -> tuple[list[Extent], list[Extent]]:
    """Cancel the unknown extents that are one length (equal labels) on both sides."""
    left, right = list(a), list(b)
    for n in [n for n in left if isinstance(n, Dimension)]:
        for other in right:
            if isinstance(other, Dimension) and n.same_length(other):
                left.remove(n)
                right.remove(other)
                break
    return left, right


def _same_size(a: Sequence[Extent], b: Sequence[Extent]) -> bool:
    left, right = _without_common(a, b)
    return _may_have(left, size(right)) and _may_have(right, size(left))


def _may_have(extents: Sequence[Extent], total: Extent) -> bool:
    """Tell whether the extents can multiply to ``total``: the known ones must divide it."""
    known = size([n for n in extents if type(n) is int])
    if type(total) is not int or type(known) is not int or known == 0:
        return may_be(size(extents), total)
    unknown = size([n for n in extents if type(n) is not int])
    return total % known == 0 and may_be(unknown, total // known)


def _quotient(
    have: list[Extent], wanted: list[Extent], hole: int, shape: Shape, new: Sequence[object]
) -> Extent:
    left, right = _without_common(have, wanted[:hole] + wanted[hole + 1 :])
    total, known = size(left), size(right)
    if type(total) is int and type(known) is int:
        if known == 0 or total % known:
            raise ValueError(
                f"reshape: the {total} elements of shape {shown(shape)} cannot be {tuple(new)}"
            )
        return total // known
    if type(known) is int and known == 0:
        raise ValueError(f"reshape: -1 is not determined beside an extent of 0 in {tuple(new)}")
    unknown = [n for n in left if isinstance(n, Dimension)]
    if len(unknown) == 1 and type(known) is int:
        return _of_multiples(unknown[0], size([n for n in left if type(n) is int]), known, shape)
    return exact_quotient(total, known)


def _of_multiples(n: Dimension, factor: Extent, known: int, shape: Shape) -> Extent:
    """Return ``n * factor // known`` over those lengths ``n`` for which it leaves no rest."""
    assert type(factor) is int  # the product of what is known
    every = known // gcd(factor, known)
    by = factor // gcd(factor, known)
    if every == 1:
        return extent(n * by)
    low, high = n.get_interval()
    first, last = -(-low // every), None if high is None else high // every
    if last is not None and first > last:
        raise ValueError(
            f"reshape: the {n * factor} elements of shape {shown(shape)} are no multiple of {known}"
        )
    return extent(Dimension(first * by, None if last is None else last * by))


def exact_quotient(total: Extent, known: Extent) -> Extent:
    """Return the lengths ``n`` with ``n * known == total`` for some members of both."""
    if type(known) is int and known == 1:
        return total
    low, high = Dimension(total).get_interval()
    divisor_low, divisor_high = Dimension(known).get_interval()
    smallest = 0 if divisor_high is None else -(-low // max(divisor_high, 1))
    largest = None if high is None else high // max(divisor_low, 1)
    return extent(Dimension(smallest, largest))
