"""Elementwise functions: one for each pair of elements after broadcasting, or for each element.

Operators name the same rules, so ``x + y`` and ``add(x, y)`` are one thing.
"""

from __future__ import annotations

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._apply import apply, as_array, binary, cast, copied, filled, operands, unary
from strata_api._array import Array
from strata_api._context import is_strict
from strata_api._dtypes import SCALARS, Scalar
from strata_api._shape import broadcast


def abs(x: Array, /) -> Array:
    """Return the absolute value; the modulus of complex numbers.

    The absolute value of the smallest signed integer is itself.

    Shape: that of ``x``.
    Dtype: numeric, the real dtype of the components.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, abs.
    """
    return unary(rules.ABS, x)


def acos(x: Array, /) -> Array:
    """Return the inverse cosine, in radians.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, acos.
    """
    return unary(rules.ACOS, x)


def acosh(x: Array, /) -> Array:
    """Return the inverse hyperbolic cosine.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, acosh.
    """
    return unary(rules.ACOSH, x)


def add(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return the sum ``x1 + x2``.

    Shape: broadcast of both.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, add.
    """
    return binary(rules.ADD, x1, x2)


def asin(x: Array, /) -> Array:
    """Return the inverse sine, in radians.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, asin.
    """
    return unary(rules.ASIN, x)


def asinh(x: Array, /) -> Array:
    """Return the inverse hyperbolic sine.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, asinh.
    """
    return unary(rules.ASINH, x)


def atan(x: Array, /) -> Array:
    """Return the inverse tangent, in radians.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, atan.
    """
    return unary(rules.ATAN, x)


def atan2(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the angle of the point (x2, x1), in radians, in the right quadrant.

    Shape: broadcast of both.
    Dtype: real floating-point, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, atan2.
    """
    return binary(rules.ATAN2, x1, x2)


def atanh(x: Array, /) -> Array:
    """Return the inverse hyperbolic tangent.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, atanh.
    """
    return unary(rules.ATANH, x)


def bitwise_and(x1: Array | int, x2: Array | int, /) -> Array:
    """Return the bitwise ``x1 & x2``.

    Shape: broadcast of both.
    Dtype: integer or boolean, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, bitwise_and.
    """
    return binary(rules.BITWISE_AND, x1, x2)


def bitwise_left_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """Return ``x1 << x2``; a shift by the width or more, or by less than 0, gives 0.

    Shape: broadcast of both.
    Dtype: integer, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, bitwise_left_shift.
    """
    return binary(rules.BITWISE_LEFT_SHIFT, x1, x2)


def bitwise_invert(x: Array, /) -> Array:
    """Return the bitwise ``~x``.

    Shape: that of ``x``.
    Dtype: integer or boolean, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, bitwise_invert.
    """
    return unary(rules.BITWISE_INVERT, x)


def bitwise_or(x1: Array | int, x2: Array | int, /) -> Array:
    """Return the bitwise ``x1 | x2``.

    Shape: broadcast of both.
    Dtype: integer or boolean, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, bitwise_or.
    """
    return binary(rules.BITWISE_OR, x1, x2)


def bitwise_right_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """Return ``x1 >> x2``; a shift by the width or more leaves only copies of the sign bit.

    So does a shift by less than 0.

    Shape: broadcast of both.
    Dtype: integer, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, bitwise_right_shift.
    """
    return binary(rules.BITWISE_RIGHT_SHIFT, x1, x2)


def bitwise_xor(x1: Array | int, x2: Array | int, /) -> Array:
    """Return the bitwise ``x1 ^ x2``.

    Shape: broadcast of both.
    Dtype: integer or boolean, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, bitwise_xor.
    """
    return binary(rules.BITWISE_XOR, x1, x2)


def ceil(x: Array, /) -> Array:
    """Return the least integer that is not below; integers stay as they are.

    Shape: that of ``x``.
    Dtype: real-valued, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, ceil.
    """
    return unary(rules.CEIL, x)


def clip(
    x: Array,
    /,
    min: Array | float | None = None,
    max: Array | float | None = None,
) -> Array:
    """Return ``x`` kept between bounds; ``None`` is no bound, and NaN in any of the three wins.

    Where the lower bound is above the upper one the result is the upper one. Bounds take no part in
    promotion: they are converted to the dtype of ``x``, integers to the nearest that it can hold.

    Shape: broadcast of all.
    Dtype: real-valued, that of ``x``.
    Raises: ``TypeError`` for another dtype and for bounds of a higher kind than ``x``,
        ``ValueError`` if the shapes do not broadcast, ``OverflowError`` for a Python integer as a
        bound that no element of the dtype could reach.
    Source: the standard, clip.
    """
    array = as_array(operands("clip", x, *[b for b in (min, max) if b is not None])[0], "clip")
    rules.CLIP.check(array.dtype)
    low = None if min is None else _bound(array, min, is_lower=True)
    high = None if max is None else _bound(array, max, is_lower=False)
    given = [bound for bound in (low, high) if bound is not None]
    if not given:
        return copied(array)
    shape = broadcast(array.dims, *[bound.dims for bound in given], what="clip")
    return apply(
        rules.CLIP,
        (array, *given),
        shape,
        array.dtype,
        has_min=low is not None,
        has_max=high is not None,
    )


def _bound(x: Array, bound: Array | Scalar, is_lower: bool) -> Array | None:
    """Return a bound as an array of x's dtype, or ``None`` if every element is within it."""
    other = operands("clip", x, bound)[1]
    if isinstance(other, SCALARS):
        return _scalar_bound(x, other, is_lower)
    if other.dtype == x.dtype:
        return other
    if is_strict() or d.kind(d.promote(x.dtype, other.dtype)) != d.kind(x.dtype):
        raise TypeError(f"clip: expected bounds of dtype {x.dtype}, got {other.dtype}")
    if x.dtype in d.INTEGER and other.dtype in d.INTEGER:
        other = clip(other, *d.bounds(x.dtype))
    return cast(other, x.dtype)


def _scalar_bound(x: Array, bound: Scalar, is_lower: bool) -> Array | None:
    if d.promote_scalar(x.dtype, type(bound)) != x.dtype:
        raise TypeError(f"clip: expected bounds that go into {x.dtype}, got {bound!r}")
    if x.dtype in d.INTEGER:
        least, most = d.bounds(x.dtype)
        number = int(bound)  # type: ignore[arg-type]  # no float or complex promotes to an integer
        if number < least if is_lower else number > most:
            return None
    return filled(bound, x.dtype, x._element.backend, what="clip")


def conj(x: Array, /) -> Array:
    """Return the complex conjugate; a copy of real numbers.

    Shape: that of ``x``.
    Dtype: numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, conj.
    """
    return unary(rules.CONJ, x)


def copysign(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the magnitude of ``x1`` with the sign of ``x2``.

    Shape: broadcast of both.
    Dtype: real floating-point, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, copysign.
    """
    return binary(rules.COPYSIGN, x1, x2)


def cos(x: Array, /) -> Array:
    """Return the cosine of angles in radians.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, cos.
    """
    return unary(rules.COS, x)


def cosh(x: Array, /) -> Array:
    """Return the hyperbolic cosine.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, cosh.
    """
    return unary(rules.COSH, x)


def divide(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return the quotient ``x1 / x2``.

    Two integers, for which the standard leaves it open, divide as default real numbers; not under
    ``strict``.

    Shape: broadcast of both.
    Dtype: floating-point, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, divide.
    """
    return binary(rules.DIVIDE, x1, x2)


def equal(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return ``x1 == x2``.

    A Python integer that the dtype cannot hold is compared as the number that it is.

    Shape: broadcast of both.
    Dtype: boolean or numeric, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, equal.
    """
    return binary(rules.EQUAL, x1, x2)


def exp(x: Array, /) -> Array:
    """Return the exponential.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, exp.
    """
    return unary(rules.EXP, x)


def expm1(x: Array, /) -> Array:
    """Return ``exp(x) - 1``, exact near 0.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, expm1.
    """
    return unary(rules.EXPM1, x)


def floor(x: Array, /) -> Array:
    """Return the greatest integer that is not above; integers stay as they are.

    Shape: that of ``x``.
    Dtype: real-valued, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, floor.
    """
    return unary(rules.FLOOR, x)


def floor_divide(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the greatest integer that is not above ``x1 / x2``.

    Where an operand is infinite it is ``floor(x1 / x2)``. An integer divided by 0 gives 0.

    Shape: broadcast of both.
    Dtype: real-valued, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, floor_divide.
    """
    return binary(rules.FLOOR_DIVIDE, x1, x2)


def greater(x1: Array | float, x2: Array | float, /) -> Array:
    """Return ``x1 > x2``.

    A Python integer that the dtype cannot hold is compared as the number that it is.

    Shape: broadcast of both.
    Dtype: real-valued, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, greater.
    """
    return binary(rules.GREATER, x1, x2)


def greater_equal(x1: Array | float, x2: Array | float, /) -> Array:
    """Return ``x1 >= x2``.

    A Python integer that the dtype cannot hold is compared as the number that it is.

    Shape: broadcast of both.
    Dtype: real-valued, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, greater_equal.
    """
    return binary(rules.GREATER_EQUAL, x1, x2)


def hypot(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the length of the hypotenuse, without undue overflow.

    Shape: broadcast of both.
    Dtype: real floating-point, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, hypot.
    """
    return binary(rules.HYPOT, x1, x2)


def imag(x: Array, /) -> Array:
    """Return the imaginary part, as a fresh array; zeros for real numbers, not under ``strict``.

    Shape: that of ``x``.
    Dtype: numeric, the real dtype of the components.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, imag.
    """
    array = as_array(x, "imag")
    if is_strict() and array.dtype not in d.COMPLEX:
        raise TypeError(f"imag: expected a complex floating-point dtype, got {array.dtype}")
    return unary(rules.IMAG, array)


def isfinite(x: Array, /) -> Array:
    """Tell which elements are finite; a complex number is if both parts are.

    Shape: that of ``x``.
    Dtype: numeric, boolean.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, isfinite.
    """
    return unary(rules.ISFINITE, x)


def isinf(x: Array, /) -> Array:
    """Tell which elements are infinite; a complex number is if a part is.

    Shape: that of ``x``.
    Dtype: numeric, boolean.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, isinf.
    """
    return unary(rules.ISINF, x)


def isnan(x: Array, /) -> Array:
    """Tell which elements are NaN; a complex number is if a part is.

    Shape: that of ``x``.
    Dtype: numeric, boolean.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, isnan.
    """
    return unary(rules.ISNAN, x)


def less(x1: Array | float, x2: Array | float, /) -> Array:
    """Return ``x1 < x2``.

    A Python integer that the dtype cannot hold is compared as the number that it is.

    Shape: broadcast of both.
    Dtype: real-valued, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, less.
    """
    return binary(rules.LESS, x1, x2)


def less_equal(x1: Array | float, x2: Array | float, /) -> Array:
    """Return ``x1 <= x2``.

    A Python integer that the dtype cannot hold is compared as the number that it is.

    Shape: broadcast of both.
    Dtype: real-valued, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, less_equal.
    """
    return binary(rules.LESS_EQUAL, x1, x2)


def log(x: Array, /) -> Array:
    """Return the natural logarithm.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, log.
    """
    return unary(rules.LOG, x)


def log1p(x: Array, /) -> Array:
    """Return ``log(1 + x)``, exact near 0.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, log1p.
    """
    return unary(rules.LOG1P, x)


def log2(x: Array, /) -> Array:
    """Return the logarithm to base 2.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, log2.
    """
    return unary(rules.LOG2, x)


def log10(x: Array, /) -> Array:
    """Return the logarithm to base 10.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, log10.
    """
    return unary(rules.LOG10, x)


def logaddexp(x1: Array | float, x2: Array | float, /) -> Array:
    """Return ``log(exp(x1) + exp(x2))``, without undue overflow.

    Shape: broadcast of both.
    Dtype: real floating-point, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, logaddexp.
    """
    return binary(rules.LOGADDEXP, x1, x2)


def logical_and(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Tell where both operands are true.

    Shape: broadcast of both.
    Dtype: boolean, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, logical_and.
    """
    return binary(rules.LOGICAL_AND, x1, x2)


def logical_not(x: Array, /) -> Array:
    """Tell where ``x`` is false.

    Shape: that of ``x``.
    Dtype: boolean, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, logical_not.
    """
    return unary(rules.LOGICAL_NOT, x)


def logical_or(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Tell where at least one operand is true.

    Shape: broadcast of both.
    Dtype: boolean, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, logical_or.
    """
    return binary(rules.LOGICAL_OR, x1, x2)


def logical_xor(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Tell where exactly one operand is true.

    Shape: broadcast of both.
    Dtype: boolean, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, logical_xor.
    """
    return binary(rules.LOGICAL_XOR, x1, x2)


def maximum(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the larger of each pair; NaN if one of them is NaN.

    Shape: broadcast of both.
    Dtype: real-valued, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, maximum.
    """
    return binary(rules.MAXIMUM, x1, x2)


def minimum(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the smaller of each pair; NaN if one of them is NaN.

    Shape: broadcast of both.
    Dtype: real-valued, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, minimum.
    """
    return binary(rules.MINIMUM, x1, x2)


def multiply(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return the product ``x1 * x2``.

    Shape: broadcast of both.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, multiply.
    """
    return binary(rules.MULTIPLY, x1, x2)


def negative(x: Array, /) -> Array:
    """Return ``-x``.

    Shape: that of ``x``.
    Dtype: numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, negative.
    """
    return unary(rules.NEGATIVE, x)


def nextafter(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the next number after ``x1`` in the direction of ``x2``.

    Shape: broadcast of both.
    Dtype: real floating-point, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, nextafter.
    """
    return binary(rules.NEXTAFTER, x1, x2)


def not_equal(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return ``x1 != x2``.

    A Python integer that the dtype cannot hold is compared as the number that it is.

    Shape: broadcast of both.
    Dtype: boolean or numeric, boolean.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast.
    Source: the standard, not_equal.
    """
    return binary(rules.NOT_EQUAL, x1, x2)


def positive(x: Array, /) -> Array:
    """Return a copy of ``x``.

    Shape: that of ``x``.
    Dtype: numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, positive.
    """
    return unary(rules.POSITIVE, x)


def pow(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return ``x1`` raised to the power of ``x2``.

    Shape: broadcast of both.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast and for
        integers to a negative power (of a traced exponent: no error, and the power truncated),
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, pow.
    """
    return binary(rules.POW, x1, x2)


def real(x: Array, /) -> Array:
    """Return the real part, as a fresh array; a copy of real numbers.

    Shape: that of ``x``.
    Dtype: numeric, the real dtype of the components.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, real.
    """
    return unary(rules.REAL, x)


def reciprocal(x: Array, /) -> Array:
    """Return ``1 / x``.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, reciprocal.
    """
    return unary(rules.RECIPROCAL, x)


def remainder(x1: Array | float, x2: Array | float, /) -> Array:
    """Return the remainder of the division, with the sign of ``x2``, as Python's ``%``.

    An integer modulo 0 gives 0.

    Shape: broadcast of both.
    Dtype: real-valued, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, remainder.
    """
    return binary(rules.REMAINDER, x1, x2)


def round(x: Array, /) -> Array:
    """Return the nearest integer, the even one of two; integers stay as they are.

    Shape: that of ``x``.
    Dtype: numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, round.
    """
    return unary(rules.ROUND, x)


def sign(x: Array, /) -> Array:
    """Return -1, 0 or 1; of a complex number ``x / abs(x)``; of NaN, NaN.

    Shape: that of ``x``.
    Dtype: numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, sign.
    """
    return unary(rules.SIGN, x)


def signbit(x: Array, /) -> Array:
    """Tell which elements have their sign bit set, -0 and NaN included.

    Shape: that of ``x``.
    Dtype: real floating-point, boolean.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, signbit.
    """
    return unary(rules.SIGNBIT, x)


def sin(x: Array, /) -> Array:
    """Return the sine of angles in radians.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, sin.
    """
    return unary(rules.SIN, x)


def sinh(x: Array, /) -> Array:
    """Return the hyperbolic sine.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, sinh.
    """
    return unary(rules.SINH, x)


def square(x: Array, /) -> Array:
    """Return ``x * x``.

    Shape: that of ``x``.
    Dtype: numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, square.
    """
    return unary(rules.SQUARE, x)


def sqrt(x: Array, /) -> Array:
    """Return the principal square root.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, sqrt.
    """
    return unary(rules.SQRT, x)


def subtract(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Return the difference ``x1 - x2``.

    Shape: broadcast of both.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` if the shapes do not broadcast,
        ``OverflowError`` for a Python integer that the dtype cannot hold.
    Source: the standard, subtract.
    """
    return binary(rules.SUBTRACT, x1, x2)


def tan(x: Array, /) -> Array:
    """Return the tangent of angles in radians.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, tan.
    """
    return unary(rules.TAN, x)


def tanh(x: Array, /) -> Array:
    """Return the hyperbolic tangent.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, tanh.
    """
    return unary(rules.TANH, x)


def trunc(x: Array, /) -> Array:
    """Return the integer part; integers stay as they are.

    Shape: that of ``x``.
    Dtype: real-valued, that of ``x``.
    Raises: ``TypeError`` for another dtype.
    Source: the standard, trunc.
    """
    return unary(rules.TRUNC, x)
