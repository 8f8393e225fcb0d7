"""NumPy's elementwise kernels, corrected where NumPy departs from the standard.

A plain ufunc is called without further ado and follows ``numpy.errstate``; a corrected kernel is
silent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_quiet = np.errstate(all="ignore")


def _is_integer(x: Any) -> bool:
    return x.dtype.kind in "iu"


# -- integers that stay as they are, parts of complex numbers -------------------------------------


@_quiet
def _round(x: Any) -> Any:
    return x if _is_integer(x) else np.rint(x)


def _imag(x: Any) -> Any:
    return x.imag if x.dtype.kind == "c" else np.zeros_like(x)


@_quiet
def _sign(x: Any) -> Any:
    """Return the sign; that of a complex number is ``x / abs(x)``, without undue overflow."""
    if x.dtype.kind != "c":
        return np.sign(x) + x.dtype.type(0)  # bfloat16 has a negative zero here
    largest = np.maximum(np.abs(x.real), np.abs(x.imag))
    scaled = np.where(np.isfinite(largest) & (largest != 0), _scaled(x, largest), x)
    length = np.abs(scaled)
    is_nan = np.isnan(x)
    return _complex(
        np.where(is_nan, np.nan, np.where(length == 0, 0, scaled.real / length)),
        np.where(is_nan, np.nan, np.where(length == 0, 0, scaled.imag / length)),
    )


def _scaled(x: Any, by: Any) -> Any:
    return _complex(x.real / by, x.imag / by)


def _complex(real: Any, imag: Any) -> Any:
    """Return a complex array with these parts; ``real + 1j * imag`` would spoil infinities."""
    real, imag = np.broadcast_arrays(real, imag)
    result = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    result.real, result.imag = real, imag
    return result


# -- division -------------------------------------------------------------------------------------


@_quiet
def _floor_divide(x1: Any, x2: Any) -> Any:
    """Return ``floor(x1 / x2)`` where one is infinite, too; NumPy follows Python's ``divmod``."""
    quotient = np.floor_divide(x1, x2)
    if _is_integer(quotient):
        return quotient
    infinite = np.isinf(x1) | np.isinf(x2)
    if not infinite.any():
        return quotient
    return np.where(infinite, np.floor(np.divide(x1, x2)), quotient)


@_quiet
def _reciprocal(x: Any) -> Any:
    """Return ``1 / x``; NumPy's own reciprocal of a complex zero is another."""
    return np.divide(x.dtype.type(1), x)


@_quiet
def _remainder(x1: Any, x2: Any) -> Any:
    return np.remainder(x1, x2)


@_quiet
def _pow(x1: Any, x2: Any) -> Any:
    """Return the power; of complex numbers that are not finite ``exp(x2 * log(x1))``."""
    result = np.power(x1, x2)
    if result.dtype.kind != "c":
        return result
    wild = ~(np.isfinite(x1) & np.isfinite(x2)) & (x2 != 0)
    return np.where(wild, np.exp(x2 * np.log(x1)), result) if wild.any() else result


# -- complex functions -----------------------------------------------------------------------------


@_quiet
def _expm1(x: Any) -> Any:
    """Return ``exp(x) - 1`` without cancellation, with the standard's complex special cases."""
    if x.dtype.kind != "c":
        return np.expm1(x)
    a, b = x.real, x.imag
    half = np.sin(b / 2)
    near = np.where((a == 0) & (b == 0), 0, np.expm1(a) * np.cos(b) - 2 * half * half)
    exact = _complex(near, np.exp(a) * np.sin(b))
    power = np.exp(x)
    special = _complex(
        np.where(np.isneginf(a), -1, power.real - 1), np.where(b == 0, b, power.imag)
    )
    return np.where(np.isfinite(exact) & np.isfinite(x), exact, special)


@_quiet
def _log1p(x: Any) -> Any:
    """Return ``log(1 + x)``; NumPy's complex one loses the digits of a small real part."""
    if x.dtype.kind != "c":
        return np.log1p(x)
    a, b = x.real, x.imag
    near = np.log1p(a * (2 + a) + b * b) / 2
    is_near = np.maximum(np.abs(a), np.abs(b)) < 0.5
    result = np.log1p(x)
    return _complex(np.where(is_near, near, result.real), result.imag)


@_quiet
def _tanh(x: Any) -> Any:
    """Return the hyperbolic tangent; C gives the zero beside an infinite part another sign.

    Older C libraries make the real part NaN on the imaginary axis, too.
    """
    result = np.tanh(x)
    if x.dtype.kind != "c":
        return result
    a, b = x.real, x.imag
    on_axis = (a == 0) & ~np.isfinite(b)
    result = np.where(on_axis, _complex(a, np.full_like(a, np.nan)), result)
    return np.where(np.isinf(a), _complex(np.copysign(1, a), np.copysign(0, b)), result)


@_quiet
def _tan(x: Any) -> Any:
    if x.dtype.kind != "c":
        return np.tan(x)
    turned = _tanh(_complex(-x.imag, x.real))
    return _complex(turned.imag, -turned.real)


# -- the rest --------------------------------------------------------------------------------------


@_quiet
def _nextafter(x1: Any, x2: Any) -> Any:
    """Return the neighbour towards ``x2``; that of a zero towards the other zero is the other."""
    return np.where(x1 == x2, x2, np.nextafter(x1, x2))


def _clip(x: Any, *bounds: Any, has_min: bool, has_max: bool) -> Any:
    if has_min:
        x = np.maximum(x, bounds[0])
    return np.minimum(x, bounds[-1]) if has_max else x


KERNELS: dict[str, Callable[..., Any]] = {
    "abs": np.absolute,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "add": np.add,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "bitwise_and": np.bitwise_and,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_or": np.bitwise_or,
    "bitwise_right_shift": np.right_shift,
    "bitwise_xor": np.bitwise_xor,
    "ceil": np.ceil,
    "clip": _clip,
    "conj": np.conjugate,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "divide": np.true_divide,
    "equal": np.equal,
    "exp": np.exp,
    "expm1": _expm1,
    "floor": np.floor,
    "floor_divide": _floor_divide,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "hypot": np.hypot,
    "imag": _imag,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "less": np.less,
    "less_equal": np.less_equal,
    "log": np.log,
    "log1p": _log1p,
    "log2": np.log2,
    "log10": np.log10,
    "logaddexp": np.logaddexp,
    "logical_and": np.logical_and,
    "logical_not": np.logical_not,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "negative": np.negative,
    "nextafter": _nextafter,
    "not_equal": np.not_equal,
    "positive": np.positive,
    "pow": _pow,
    "real": np.real,
    "reciprocal": _reciprocal,
    "remainder": _remainder,
    "round": _round,
    "sign": _sign,
    "signbit": np.signbit,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "subtract": np.subtract,
    "tan": _tan,
    "tanh": _tanh,
    "trunc": np.trunc,
}
