"""JAX's elementwise kernels: jax.numpy's, corrected to the answers of the NumPy backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

from strata_api.backends import jax_elementary
from strata_api.backends.jax_elementary import rounded_once


def _is_complex(x: Any) -> bool:
    return x.dtype.kind == "c"  # type: ignore[no-any-return]  # a bool


def _is_integer(x: Any) -> bool:
    return x.dtype.kind in ("i", "u")


def _by_kind(real: Callable[..., Any], complex_: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel that is one function for real and another for complex numbers."""
    real = rounded_once(real)
    return lambda x: complex_(x) if _is_complex(x) else real(x)


def _of_reals(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel that leaves integers as they are."""
    return lambda x: x if _is_integer(x) else function(x)


# -- parts and signs -------------------------------------------------------------------------------


def _abs(x: Any) -> Any:
    if not _is_complex(x):
        return jnp.abs(x)
    infinite = jnp.isinf(x.real) | jnp.isinf(x.imag)
    return jnp.where(infinite, jnp.inf, jnp.abs(x))


def _round(x: Any) -> Any:
    if _is_complex(x):
        return lax.complex(jnp.round(x.real), jnp.round(x.imag))
    return jnp.round(x)


def _sign(x: Any) -> Any:
    if not _is_complex(x):
        return jnp.where(x == 0, 0, jnp.sign(x)).astype(x.dtype)
    largest = jnp.maximum(jnp.abs(x.real), jnp.abs(x.imag))
    usual = jnp.isfinite(largest) & (largest != 0)
    by = jnp.where(usual, largest, 1)
    a, b = x.real / by, x.imag / by
    length = _abs(lax.complex(a, b))
    is_nan = jnp.isnan(a) | jnp.isnan(b)
    return lax.complex(
        jnp.where(is_nan, jnp.nan, jnp.where(length == 0, 0, a / length)),
        jnp.where(is_nan, jnp.nan, jnp.where(length == 0, 0, b / length)),
    )


# -- division and powers ---------------------------------------------------------------------------


def _divide(x1: Any, x2: Any) -> Any:
    return jax_elementary.divide(x1, x2) if _is_complex(x1) else jnp.true_divide(x1, x2)


def _reciprocal(x: Any) -> Any:
    return _divide(jnp.ones_like(x), x)


def _floor_divide(x1: Any, x2: Any) -> Any:
    """Return the floor of the exact quotient; of an infinite operand, of the quotient."""
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    if _is_integer(x1):
        by = jnp.where(x2 == 0, 1, x2)
        quotient = lax.div(x1, by)
        rest = lax.rem(x1, by)
        down = (rest != 0) & ((rest < 0) != (by < 0))
        return jnp.where(x2 == 0, 0, jnp.where(down, quotient - 1, quotient))
    return _floor_of_quotient(x1, x2)


@rounded_once
def _floor_of_quotient(x1: Any, x2: Any) -> Any:
    plain = x1 / x2
    rest = lax.rem(x1, x2)
    quotient = (x1 - rest) / x2
    quotient = jnp.where((rest != 0) & ((x2 < 0) != (rest < 0)), quotient - 1, quotient)
    whole = jnp.floor(quotient)
    whole = jnp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = jnp.where(quotient == 0, jnp.copysign(0, plain), whole)
    special = jnp.isinf(x1) | jnp.isinf(x2) | (x2 == 0)
    return jnp.where(special, jnp.floor(plain), whole)


@jax.custom_jvp
def _remainder(x1: Any, x2: Any) -> Any:
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    if _is_integer(x1):
        rest = lax.rem(x1, jnp.where(x2 == 0, 1, x2))
        return jnp.where((rest != 0) & ((rest < 0) != (x2 < 0)), rest + x2, rest)
    return _real_remainder(x1, x2)


@rounded_once
def _real_remainder(x1: Any, x2: Any) -> Any:
    rest = lax.rem(x1, x2)
    rest = jnp.where((rest != 0) & ((rest < 0) != (x2 < 0)), rest + x2, rest)
    rest = jnp.where(jnp.isinf(x2) & jnp.isfinite(x1), jnp.where(_differ(x1, x2), x2, x1), rest)
    return jnp.where(rest == 0, jnp.copysign(0, x2), rest)


def _differ(x1: Any, x2: Any) -> Any:
    return (x1 != 0) & ((x1 < 0) != (x2 < 0))


@_remainder.defjvp
def _remainder_jvp(primals: Any, tangents: Any) -> Any:
    (x1, x2), (dx1, dx2) = primals, tangents
    rest = _remainder(x1, x2)
    if _is_integer(x1):
        return rest, jnp.zeros(rest.shape, jax.dtypes.float0)
    return rest, dx1 - _floor_divide(x1, x2) * dx2


def _pow(x1: Any, x2: Any) -> Any:
    if _is_complex(x1):
        return jax_elementary.power(x1, x2)
    return _integer_pow(x1, x2) if _is_integer(x1) else rounded_once(jnp.power)(x1, x2)


def _integer_pow(x1: Any, x2: Any) -> Any:
    """Return the power with all its bits; a negative one, which only a trace lets in, truncated."""
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    one = jnp.ones_like(x1)

    def step(state: Any) -> Any:
        result, base, left = state
        result = jnp.where(left & 1 != 0, result * base, result)
        return result, base * base, lax.shift_right_logical(left, one)

    count = jnp.where(x2 < 0, 0, x2)
    result, _, _ = lax.while_loop(lambda state: jnp.any(state[2] != 0), step, (one, x1, count))
    if x2.dtype.kind == "u":
        return result
    inverse = jnp.where(x1 == 1, 1, jnp.where(x1 == -1, jnp.where(x2 & 1 != 0, -1, 1), 0))
    return jnp.where(x2 < 0, inverse.astype(x1.dtype), result)


# -- bits ------------------------------------------------------------------------------------------


def _left_shift(x1: Any, x2: Any) -> Any:
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    width = x1.dtype.itemsize * 8
    inside = (x2 >= 0) & (x2 < width)
    return jnp.where(inside, lax.shift_left(x1, jnp.where(inside, x2, 0)), 0)


def _right_shift(x1: Any, x2: Any) -> Any:
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    width = x1.dtype.itemsize * 8
    inside = (x2 >= 0) & (x2 < width)
    count = jnp.where(inside, x2, width - 1)
    if x1.dtype.kind == "u":
        return jnp.where(inside, lax.shift_right_logical(x1, count), 0)
    return lax.shift_right_arithmetic(x1, count)


# -- the rest --------------------------------------------------------------------------------------


def _nextafter(x1: Any, x2: Any) -> Any:
    return jnp.where(x1 == x2, x2, jnp.nextafter(x1, x2))


def _clip(x: Any, *bounds: Any, has_min: bool, has_max: bool) -> Any:
    if has_min:
        x = jnp.maximum(x, bounds[0])
    return jnp.minimum(x, bounds[-1]) if has_max else x


KERNELS: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "acos": _by_kind(jnp.arccos, jax_elementary.acos),
    "acosh": _by_kind(jnp.arccosh, jax_elementary.acosh),
    "add": jnp.add,
    "asin": _by_kind(jnp.arcsin, jax_elementary.asin),
    "asinh": _by_kind(jnp.arcsinh, jax_elementary.asinh),
    "atan": _by_kind(jnp.arctan, jax_elementary.atan),
    "atan2": rounded_once(jnp.arctan2),
    "atanh": _by_kind(jax_elementary.real_atanh, jax_elementary.atanh),
    "bitwise_and": jnp.bitwise_and,
    "bitwise_invert": jnp.invert,
    "bitwise_left_shift": _left_shift,
    "bitwise_or": jnp.bitwise_or,
    "bitwise_right_shift": _right_shift,
    "bitwise_xor": jnp.bitwise_xor,
    "ceil": _of_reals(jnp.ceil),
    "clip": _clip,
    "conj": jnp.conj,
    "copysign": jnp.copysign,
    "cos": _by_kind(jnp.cos, jax_elementary.cos),
    "cosh": _by_kind(jax_elementary.real_cosh, jax_elementary.cosh),
    "divide": _divide,
    "equal": jnp.equal,
    "exp": _by_kind(jnp.exp, jax_elementary.exp),
    "expm1": _by_kind(jnp.expm1, jax_elementary.expm1),
    "floor": _of_reals(jnp.floor),
    "floor_divide": _floor_divide,
    "greater": jnp.greater,
    "greater_equal": jnp.greater_equal,
    "hypot": rounded_once(jnp.hypot),
    "imag": jnp.imag,
    "isfinite": jnp.isfinite,
    "isinf": jnp.isinf,
    "isnan": jnp.isnan,
    "less": jnp.less,
    "less_equal": jnp.less_equal,
    "log": _by_kind(jnp.log, jax_elementary.log_),
    "log1p": _by_kind(jax_elementary.real_log1p, jax_elementary.log1p),
    "log2": _by_kind(jnp.log2, jax_elementary.log2),
    "log10": _by_kind(jnp.log10, jax_elementary.log10),
    "logaddexp": rounded_once(jnp.logaddexp),
    "logical_and": jnp.logical_and,
    "logical_not": jnp.logical_not,
    "logical_or": jnp.logical_or,
    "logical_xor": jnp.logical_xor,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "multiply": jnp.multiply,
    "negative": jnp.negative,
    "nextafter": _nextafter,
    "not_equal": jnp.not_equal,
    "positive": jnp.positive,
    "pow": _pow,
    "real": jnp.real,
    "reciprocal": _reciprocal,
    "remainder": _remainder,
    "round": _of_reals(_round),
    "sign": _sign,
    "signbit": jnp.signbit,
    "sin": _by_kind(jnp.sin, jax_elementary.sin),
    "sinh": _by_kind(jax_elementary.real_sinh, jax_elementary.sinh),
    "sqrt": _by_kind(jnp.sqrt, jax_elementary.sqrt),
    "square": jnp.square,
    "subtract": jnp.subtract,
    "tan": _by_kind(jnp.tan, jax_elementary.tan),
    "tanh": _by_kind(jnp.tanh, jax_elementary.tanh),
    "trunc": _of_reals(jnp.trunc),
}
