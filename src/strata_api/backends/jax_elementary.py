"""Elementary functions for JAX, of complex numbers and, where XLA loses digits, of real ones.

XLA's complex ones lose signed zeros, the sides of branch cuts and the special cases at infinities,
which the standard takes from C99. Most are worked out where both parts are positive and carried
over by their symmetries. The derivatives are given: those of the special cases would not be right.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp


def _differentiable(
    function: Callable[..., Any], derivative: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the function with its derivative, which is told the argument and the value."""
    primal = jax.custom_jvp(function)

    def jvp(primals: Any, tangents: Any) -> Any:
        (z,), (dz,) = primals, tangents
        value = primal(z)
        return value, derivative(z, value) * dz

    primal.defjvp(jvp)
    return primal


def _parts(z: Any) -> tuple[Any, Any]:
    return lax.real(z), lax.imag(z)


def _top(a: Any) -> float:
    """Return a number whose exponential is finite, and so large that ``2 sinh`` is ``exp``."""
    return 85.0 if a.dtype == jnp.float32 else 705.0


def _limits(a: Any) -> Any:
    return jnp.finfo(a.dtype)  # type: ignore[no-untyped-call]  # JAX has no types here


def _times_i(z: Any) -> Any:
    a, b = _parts(z)
    return lax.complex(-b, a)


def _over_i(z: Any) -> Any:
    a, b = _parts(z)
    return lax.complex(b, -a)


# -- real functions --------------------------------------------------------------------------------


def rounded_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, worked out in float32 for 16-bit numbers: XLA rounds at every step."""

    def rounded(*xs: Any) -> Any:
        dtype = xs[0].dtype
        if dtype.itemsize != 2:
            return function(*xs)
        return function(*[x.astype(jnp.float32) for x in xs]).astype(dtype)

    return rounded


def _real_log1p(x: Any) -> Any:
    """Return ``log(1 + x)``; XLA's own loses seven bits of it between -0.5 and -0.29."""
    return jnp.where(x < -0.25, jnp.log(1 + x), jnp.log1p(x))


def _real_cosh(x: Any) -> Any:
    low = jnp.minimum(jnp.abs(x), _top(x))
    power = jnp.exp(low)
    return (power + 1 / power) / 2 * jnp.exp(jnp.abs(x) - low)


def _real_sinh(x: Any) -> Any:
    low = jnp.minimum(jnp.abs(x), _top(x))
    power = jnp.exp(low)
    far = (power - 1 / power) / 2 * jnp.exp(jnp.abs(x) - low)
    return jnp.where(x == 0, x, jnp.where(low < 1, jnp.sinh(x), jnp.copysign(far, x)))


def _real_atanh(x: Any) -> Any:
    size = jnp.abs(x)
    return jnp.where(x == 0, x, jnp.copysign(_real_log1p(2 * size / (1 - size)) / 2, x))


# -- exponentials ----------------------------------------------------------------------------------


def _exp(z: Any) -> Any:
    a, b = _parts(z)
    size = jnp.exp(jnp.minimum(a, _top(a)))
    rest = jnp.exp(jnp.maximum(a - _top(a), 0))
    real = jnp.where(b == 0, size * rest, size * jnp.cos(b) * rest)
    imag = jnp.where(b == 0, b, size * jnp.sin(b) * rest)
    wild = jnp.isinf(a) & ~jnp.isfinite(b)
    real = jnp.where(wild, jnp.where(a < 0, 0, jnp.inf), real)
    return lax.complex(real, jnp.where(wild & (a < 0), jnp.copysign(0, b), imag))


def _expm1(z: Any) -> Any:
    a, b = _parts(z)
    half = jnp.sin(b / 2)
    near = jnp.where((a == 0) & (b == 0), 0, jnp.expm1(a) * jnp.cos(b) - 2 * half * half)
    power = _exp(z)
    usual = jnp.isfinite(near) & jnp.isfinite(a)
    real = jnp.where(usual, near, jnp.where(jnp.isneginf(a), -1, lax.real(power) - 1))
    return lax.complex(real, lax.imag(power))


def _cosh(z: Any) -> Any:
    a, b = _parts(z)
    low = jnp.clip(a, -_top(a), _top(a))
    rest = jnp.exp(jnp.abs(a) - jnp.abs(low))
    cosh, sinh = _real_cosh(low), _real_sinh(low)
    real = jnp.where(b == 0, cosh * rest, cosh * jnp.cos(b) * rest)
    real = jnp.where(jnp.isinf(a) & ~jnp.isfinite(b), jnp.inf, real)
    flat = (b == 0) | ((a == 0) & ~jnp.isfinite(b))
    zero = jnp.copysign(0, jnp.where(jnp.isnan(a), 1, a)) * jnp.copysign(1, b)
    return lax.complex(real, jnp.where(flat, zero, sinh * jnp.sin(b) * rest))


def _sinh(z: Any) -> Any:
    a, b = _parts(z)
    low = jnp.clip(a, -_top(a), _top(a))
    rest = jnp.exp(jnp.abs(a) - jnp.abs(low))
    cosh, sinh = _real_cosh(low), _real_sinh(low)
    real = jnp.where(b == 0, sinh * rest, sinh * jnp.cos(b) * rest)
    real = jnp.where(((a == 0) | jnp.isinf(a)) & ~jnp.isfinite(b), a, real)
    return lax.complex(real, jnp.where(b == 0, b, cosh * jnp.sin(b) * rest))


def _tanh(z: Any) -> Any:
    a, b = _parts(z)
    near = jnp.clip(a, -20, 20)
    tan = jnp.tan(b)
    sinh = _real_sinh(near)
    slope = 1 + tan * tan
    below = 1 + slope * sinh * sinh
    real = slope * jnp.sqrt(1 + sinh * sinh) * sinh / below
    far = jnp.abs(a) > 20
    tail = 4 * jnp.sin(b) * jnp.cos(b) * jnp.exp(-2 * jnp.abs(a))
    real = jnp.where(a == 0, a, jnp.where(far, jnp.copysign(1, a), real))
    imag = jnp.where(b == 0, b, jnp.where(far, tail, tan / below))
    wild = ~jnp.isfinite(b)
    real = jnp.where(wild & jnp.isfinite(a) & (a != 0), jnp.nan, real)
    imag = jnp.where(jnp.isinf(a), jnp.copysign(0, b), imag)
    return lax.complex(real, imag)


# -- logarithms and roots --------------------------------------------------------------------------


def _log_abs(a: Any, b: Any) -> Any:
    """Return the logarithm of the modulus: exact near 1, and for every size."""
    x, y = jnp.maximum(jnp.abs(a), jnp.abs(b)), jnp.minimum(jnp.abs(a), jnp.abs(b))
    near = _real_log1p((x - 1) * (x + 1) + y * y) / 2
    ratio = jnp.where(x == 0, 0, y / x)
    far = jnp.log(x) + _real_log1p(ratio * ratio) / 2
    result = jnp.where((x > 0.5) & (x < 3), near, far)
    return jnp.where(jnp.isinf(a) | jnp.isinf(b), jnp.inf, result)


def _log(z: Any) -> Any:
    a, b = _parts(z)
    return lax.complex(_log_abs(a, b), jnp.arctan2(b, a))


def _log1p(z: Any) -> Any:
    a, b = _parts(z)
    near = _real_log1p(a * (2 + a) + b * b) / 2
    is_near = jnp.maximum(jnp.abs(a), jnp.abs(b)) < 0.5
    return lax.complex(jnp.where(is_near, near, _log_abs(1 + a, b)), jnp.arctan2(b, 1 + a))


def _scaled_log(base: float) -> Callable[..., Any]:
    def logarithm(z: Any) -> Any:
        a, b = _parts(_log(z))
        return lax.complex(a / log(base), b / log(base))

    return logarithm


def _sqrt(z: Any) -> Any:
    a, b = _parts(z)
    size = jnp.maximum(jnp.abs(a), jnp.abs(b))
    limit = _limits(a)
    scale = jnp.where(
        size > limit.max / 8, 1 / 16, jnp.where(size < limit.tiny * 2**60, 2.0**60, 1)
    )
    x, y = jnp.abs(a) * scale, jnp.abs(b) * scale
    long = jnp.sqrt((x + _modulus(x, y)) / 2)
    short = jnp.where(long == 0, 0, y / (2 * long))
    long, short = long / jnp.sqrt(scale), short / jnp.sqrt(scale)
    real = jnp.where(jnp.signbit(a), short, long)
    imag = jnp.where(jnp.signbit(a), long, short)
    real = jnp.where(jnp.isinf(a), jnp.where(a > 0, jnp.inf, jnp.where(jnp.isnan(b), b, 0)), real)
    imag = jnp.where(jnp.isinf(a), jnp.where(a < 0, jnp.inf, jnp.where(jnp.isnan(b), b, 0)), imag)
    real = jnp.where(jnp.isinf(b), jnp.inf, real)
    imag = jnp.where(jnp.isinf(b), jnp.inf, imag)
    return lax.complex(real, jnp.copysign(imag, b))


def _modulus(x: Any, y: Any) -> Any:
    """Return the hypotenuse of numbers of no extreme size."""
    large, small = jnp.maximum(x, y), jnp.minimum(x, y)
    ratio = jnp.where(large == 0, 0, small / large)
    return large * jnp.sqrt(1 + ratio * ratio)


# -- inverse functions -----------------------------------------------------------------------------


def _quadrant(z: Any) -> Any:
    a, b = _parts(z)
    return lax.complex(jnp.abs(a), jnp.abs(b))


def _asin(z: Any) -> Any:
    a, b = _parts(z)
    real, imag = _parts(jnp.arcsin(_quadrant(z)))
    imag = jnp.where(jnp.isnan(a) & jnp.isfinite(b), jnp.nan, imag)
    imag = jnp.where(jnp.isnan(b) & jnp.isfinite(a), jnp.nan, imag)
    return lax.complex(jnp.copysign(jnp.where(a == 0, 0, real), a), jnp.copysign(imag, b))


def _acos(z: Any) -> Any:
    a, b = _parts(z)
    real, imag = _parts(jnp.arccos(_quadrant(z)))
    real = jnp.where(a == 0, pi / 2, jnp.where(jnp.signbit(a), pi - real, real))
    imag = jnp.where(jnp.isnan(b) & jnp.isfinite(a), jnp.nan, imag)
    return lax.complex(real, -jnp.copysign(imag, b))


def _acosh(z: Any) -> Any:
    real, imag = _parts(_acos(z))
    return lax.complex(jnp.abs(imag), jnp.copysign(real, lax.imag(z)))


def _asinh(z: Any) -> Any:
    return _times_i(_asin(_over_i(z)))


def _atanh(z: Any) -> Any:
    a, b = _parts(z)
    x, y = jnp.abs(a), jnp.abs(b)
    size = jnp.maximum(x, y)
    ratio = jnp.minimum(x, y) / size
    far = x / size / (size * (1 + ratio * ratio))
    near = _real_log1p(4 * x / ((1 - x) * (1 - x) + y * y)) / 4
    at_pole = (log(2) - jnp.log(y)) / 2
    is_far = size > (1e9 if a.dtype == jnp.float32 else 1e80)
    is_pole = (x == 1) & (y < _limits(a).eps)
    real = jnp.where(is_far, far, jnp.where(is_pole, at_pole, near))
    real = jnp.where((x == 0) | jnp.isinf(x) | jnp.isinf(y), 0, real)
    imag = jnp.where(is_far, pi / 2, jnp.arctan2(2 * y, (1 - x) * (1 + x) - y * y) / 2)
    imag = jnp.where(jnp.isinf(y) | (jnp.isinf(x) & ~jnp.isnan(y)), pi / 2, imag)
    return lax.complex(jnp.copysign(real, a), jnp.copysign(imag, b))


# -- what the kernels use --------------------------------------------------------------------------

real_log1p = _differentiable(_real_log1p, lambda x, y: 1 / (1 + x))
real_cosh = _differentiable(_real_cosh, lambda x, y: real_sinh(x))
real_sinh: Callable[..., Any] = _differentiable(_real_sinh, lambda x, y: real_cosh(x))
real_atanh = _differentiable(_real_atanh, lambda x, y: 1 / (1 - x * x))

exp = _differentiable(_exp, lambda z, w: w)
expm1 = _differentiable(_expm1, lambda z, w: w + 1)
cosh = _differentiable(_cosh, lambda z, w: sinh(z))
sinh: Callable[..., Any] = _differentiable(_sinh, lambda z, w: cosh(z))
tanh = _differentiable(_tanh, lambda z, w: 1 - w * w)
cos = _differentiable(lambda z: _cosh(_times_i(z)), lambda z, w: -sin(z))
sin: Callable[..., Any] = _differentiable(
    lambda z: _over_i(_sinh(_times_i(z))), lambda z, w: cos(z)
)
tan = _differentiable(lambda z: _over_i(_tanh(_times_i(z))), lambda z, w: 1 + w * w)
log_ = _differentiable(_log, lambda z, w: 1 / z)
log1p = _differentiable(_log1p, lambda z, w: 1 / (1 + z))
log2 = _differentiable(_scaled_log(2), lambda z, w: 1 / (z * log(2)))
log10 = _differentiable(_scaled_log(10), lambda z, w: 1 / (z * log(10)))
sqrt = _differentiable(_sqrt, lambda z, w: 0.5 / w)
asin = _differentiable(_asin, lambda z, w: 1 / sqrt(1 - z * z))
acos = _differentiable(_acos, lambda z, w: -1 / sqrt(1 - z * z))
asinh = _differentiable(_asinh, lambda z, w: 1 / sqrt(1 + z * z))
acosh = _differentiable(_acosh, lambda z, w: 1 / (sqrt(z - 1) * sqrt(z + 1)))
atanh = _differentiable(_atanh, lambda z, w: 1 / (1 - z * z))
atan = _differentiable(lambda z: _over_i(_atanh(_times_i(z))), lambda z, w: 1 / (1 + z * z))


@jax.custom_jvp
def divide(x: Any, y: Any) -> Any:
    """Divide by the larger part of the divisor first, as NumPy does: no part overflows unduly."""
    a, b = _parts(x)
    c, d = _parts(y)
    by_real = jnp.abs(c) >= jnp.abs(d)
    ratio = jnp.where(by_real, d / c, c / d)
    scale = 1 / jnp.where(by_real, c + d * ratio, c * ratio + d)
    real = jnp.where(by_real, a + b * ratio, a * ratio + b) * scale
    imag = jnp.where(by_real, b - a * ratio, b * ratio - a) * scale
    zero = (c == 0) & (d == 0)
    return lax.complex(jnp.where(zero, a / jnp.abs(c), real), jnp.where(zero, b / jnp.abs(c), imag))


@divide.defjvp
def _divide_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    quotient = divide(x, y)
    return quotient, dx / y - quotient / y * dy


@jax.custom_jvp
def power(x: Any, y: Any) -> Any:
    """Return ``exp(y * log(x))``; for small integers as ``y`` the product, as NumPy does."""
    a, b = _parts(x)
    c, d = _parts(y)
    usual = _exp(y * _log(x))
    count = jnp.abs(c)
    finite = jnp.isfinite(a) & jnp.isfinite(b)
    whole = finite & (d == 0) & (count == jnp.floor(count)) & (count < 100)
    product = _repeated(x, jnp.where(whole, count, 0).astype(jnp.int32))
    product = jnp.where(c < 0, divide(jnp.ones_like(x), product), product)
    at_zero = jnp.where(c > 0, 0, jnp.nan)
    result = jnp.where(whole, product, usual)
    is_zero = (a == 0) & (b == 0) & jnp.isfinite(c) & jnp.isfinite(d)
    result = jnp.where(is_zero, lax.complex(at_zero, at_zero), result)
    return jnp.where((c == 0) & (d == 0), 1, result)


def _repeated(x: Any, count: Any) -> Any:
    """Return ``x`` to the power of a count below 128."""
    result = jnp.ones_like(x)
    for bit in range(7):
        result = jnp.where(count & (1 << bit) != 0, result * x, result)
        x = x * x
    return result


@power.defjvp
def _power_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    value = power(x, y)
    slope = jnp.where(y == 0, 0, y * power(x, y - 1))
    growth = jnp.where(x == 0, 0, value * log_(jnp.where(x == 0, 1, x)))
    return value, slope * dx + growth * dy
