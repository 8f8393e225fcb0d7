"""Data type functions: casting, and what a dtype can hold."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from strata_api import _dtypes as d
from strata_api._apply import as_array, converted, copied
from strata_api._array import Array
from strata_api._dtypes import SCALARS, DType, Scalar
from strata_api.backends import backend_of, resolve


class FloatLimits(NamedTuple):
    """What a real floating-point dtype can hold, as Python numbers. Returned by ``finfo``."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerLimits(NamedTuple):
    """What an integer dtype can hold, as Python numbers. Returned by ``iinfo``."""

    bits: int
    max: int
    min: int
    dtype: DType


def astype(x: Array, dtype: DType, /, *, copy: bool = True, device: object = None) -> Array:
    """Return ``x`` in another dtype; ``x`` itself if nothing changes and ``copy`` is false.

    A floating-point number that an integer dtype cannot hold becomes the nearest one it can, and
    NaN becomes 0; an integer too large for another integer dtype wraps.

    Shape: that of ``x``.
    Dtype: given.
    Raises: ``TypeError`` for complex numbers in a real dtype.
    Source: the standard, ``astype``.
    """
    array = as_array(x, "astype")
    result = converted(array, d.as_dtype(dtype), "astype")
    if device is not None and resolve(device)[1] != result.device:
        result = result.to_device(device)
    return copied(array) if copy and result is array else result


def can_cast(from_: DType | Array, to: DType, /) -> bool:
    """Tell whether promotion may turn one dtype into another.

    Source: the standard, ``can_cast``.
    """
    return d.can_cast(_dtype_of(from_), d.as_dtype(to))


def finfo(type: DType | Array, /) -> FloatLimits:
    """Return the limits of a floating-point dtype; of a complex one, those of its components.

    Raises: ``TypeError`` for a dtype that is not floating-point.
    Source: the standard, ``finfo``.
    """
    dtype = d.real_of(_dtype_of(type))
    if dtype not in d.REAL_FLOATING and dtype not in d.FEW_BITS_FLOATING:
        raise TypeError(f"finfo: expected a floating-point dtype, got {dtype}")
    return FloatLimits(*d.float_limits(dtype), dtype)


def iinfo(type: DType | Array, /) -> IntegerLimits:
    """Return the limits of an integer dtype.

    Raises: ``TypeError`` for a dtype that is not an integer dtype.
    Source: the standard, ``iinfo``.
    """
    dtype = _dtype_of(type)
    if dtype not in d.INTEGER and dtype not in d.FEW_BITS_INTEGER:
        raise TypeError(f"iinfo: expected an integer dtype, got {dtype}")
    return IntegerLimits(*d.integer_limits(dtype), dtype)


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Tell whether a dtype is of a kind, is another dtype, or is one of several.

    float16 and bfloat16 are ``"real floating"``; the dtypes of fewer bits are of no kind.

    Raises: ``TypeError`` for what is no dtype, ``ValueError`` for an unknown kind.
    Source: the standard, ``isdtype``.
    """
    asked = d.as_dtype(dtype)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    found = [_is_of(asked, one) for one in kinds]
    return True in found


def result_type(*arrays_and_dtypes: Array | Scalar | DType) -> DType:
    """Return the dtype that arrays, dtypes and Python scalars promote to.

    Raises: ``ValueError`` without an array or a dtype, ``TypeError`` for dtypes that do not
    promote.
    Source: the standard, ``result_type``.
    """
    dtypes = []
    scalars = []
    for item in arrays_and_dtypes:
        if isinstance(item, SCALARS) and backend_of(item) is None:
            scalars.append(item)
        else:
            dtypes.append(_dtype_of(item))
    if not dtypes:
        raise ValueError("result_type: expected at least one array or dtype")
    return reduce(d.promote_scalar, map(type, scalars), reduce(d.promote, dtypes))


def _dtype_of(item: object) -> DType:
    """Return the dtype of an array, or the dtype that was given."""
    if item.__class__ is Array:
        return item._element.dtype
    if backend_of(item) is not None:
        return d.as_dtype(item.dtype)  # type: ignore[attr-defined]  # arrays of all backends have it
    return d.as_dtype(item)


def _is_of(dtype: DType, kind: object) -> bool:
    if not isinstance(kind, str):
        return dtype == d.as_dtype(kind)
    if kind not in d.KINDS:
        expected = ", ".join(map(repr, d.KINDS))
        raise ValueError(f"isdtype: expected a dtype or one of {expected}, got {kind!r}")
    return dtype in d.KINDS[kind]
