"""The dtypes, their categories, and the one table of promotion that every backend follows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from strata_api import _context

Scalar: TypeAlias = bool | int | float | complex
DType: TypeAlias = np.dtype[np.generic]

SCALARS = (bool, int, float, complex)  # a tuple: a union would be rebuilt at every isinstance
HostArray: TypeAlias = "np.ndarray[tuple[int, ...], DType]"
NDArray = np.ndarray  # how the modules above ask for a host array without importing numpy
AxisError = np.exceptions.AxisError  # both a ValueError and an IndexError, as NumPy's users expect

bool_: DType = np.dtype("bool")
int8: DType = np.dtype("int8")
int16: DType = np.dtype("int16")
int32: DType = np.dtype("int32")
int64: DType = np.dtype("int64")
uint8: DType = np.dtype("uint8")
uint16: DType = np.dtype("uint16")
uint32: DType = np.dtype("uint32")
uint64: DType = np.dtype("uint64")
float16: DType = np.dtype("float16")
float32: DType = np.dtype("float32")
float64: DType = np.dtype("float64")
complex64: DType = np.dtype("complex64")
complex128: DType = np.dtype("complex128")
bfloat16: DType = np.dtype(ml_dtypes.bfloat16)
int4: DType = np.dtype(ml_dtypes.int4)
uint4: DType = np.dtype(ml_dtypes.uint4)
float4_e2m1fn: DType = np.dtype(ml_dtypes.float4_e2m1fn)
float8_e4m3fn: DType = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e5m2: DType = np.dtype(ml_dtypes.float8_e5m2)
float8_e8m0fnu: DType = np.dtype(ml_dtypes.float8_e8m0fnu)


class Category:
    """A named set of dtypes, as the standard's text names them."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: Iterable[DType]) -> None:
        self.name = name
        self.members = frozenset(members)

    def __contains__(self, dtype: object) -> bool:
        return dtype in self.members

    def __repr__(self) -> str:
        return f"Category({self.name!r})"


SIGNED = Category("signed integer", (int8, int16, int32, int64))
UNSIGNED = Category("unsigned integer", (uint8, uint16, uint32, uint64))
INTEGER = Category("integer", SIGNED.members | UNSIGNED.members)
BOOLEAN = Category("boolean", (bool_,))
INTEGER_OR_BOOLEAN = Category("integer or boolean", INTEGER.members | BOOLEAN.members)
REAL_FLOATING = Category("real floating-point", (float16, bfloat16, float32, float64))
COMPLEX = Category("complex floating-point", (complex64, complex128))
FLOATING = Category("floating-point", REAL_FLOATING.members | COMPLEX.members)
REAL = Category("real-valued", INTEGER.members | REAL_FLOATING.members)
NUMERIC = Category("numeric", REAL.members | COMPLEX.members)
STANDARD = Category("boolean or numeric", NUMERIC.members | BOOLEAN.members)
FEW_BITS_INTEGER = Category("4-bit integer", (int4, uint4))
FEW_BITS_FLOATING = Category(
    "4- or 8-bit floating-point", (float4_e2m1fn, float8_e4m3fn, float8_e5m2, float8_e8m0fnu)
)
NARROW = Category("narrow", FEW_BITS_INTEGER.members | FEW_BITS_FLOATING.members)
ANY = Category("any", STANDARD.members | NARROW.members)
TRANSFORMABLE = Category("float32 or float64", (float32, float64))
LAPACK = Category("float32, float64 or complex", COMPLEX.members | TRANSFORMABLE.members)
NARROW_FLOATING = Category("16-bit floating-point", (float16, bfloat16))

KINDS = {  # by the standard's names
    "bool": BOOLEAN,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGER,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": NUMERIC,
}

_CANONICAL = {dtype: dtype for dtype in ANY.members}
_BOUNDS: dict[DType, tuple[int, int]] = {
    dtype: (int(np.iinfo(dtype.name).min), int(np.iinfo(dtype.name).max))
    for dtype in INTEGER.members
}


def as_dtype(obj: object) -> DType:
    """Return the dtype that ``obj`` names: a dtype, a NumPy or ml_dtypes scalar type, or a name.

    Raises: ``TypeError`` for what is no dtype of this namespace.
    """
    hashable = type(obj).__hash__ is not None
    known: DType | None = _CANONICAL.get(obj) if hashable else None  # type: ignore[call-overload]
    if known is not None:
        return known
    if _context.is_strict():
        raise TypeError(f"expected a dtype of the namespace, got {obj!r}")
    if obj is None:
        raise TypeError("expected a dtype, got None")
    try:
        dtype = _CANONICAL.get(np.dtype(obj))  # type: ignore[call-overload]  # numpy decides
    except TypeError:
        dtype = None
    if dtype is None:
        raise TypeError(f"expected a dtype of the namespace, got {obj!r}")
    return dtype


def bounds(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer dtype."""
    return _BOUNDS[dtype]


def default_real() -> DType:
    """Return the default real floating-point dtype."""
    return _CANONICAL[np.dtype(_context.default_dtypes_now().real)]


def default_complex() -> DType:
    """Return the default complex floating-point dtype."""
    return _CANONICAL[np.dtype(_context.default_dtypes_now().complex)]


def default_integral() -> DType:
    """Return the default integer dtype, which is the default index dtype too."""
    return _CANONICAL[np.dtype(_context.default_dtypes_now().integral)]


def default_for(scalar: Scalar) -> DType:
    """Return the dtype that an array of this Python scalar has by default."""
    if isinstance(scalar, bool):
        return bool_
    if isinstance(scalar, int):
        return default_integral()
    return default_real() if isinstance(scalar, float) else default_complex()


def default_like(dtype: DType) -> DType:
    """Return the default dtype for the widest dtype of a kind, and any other dtype unchanged."""
    if dtype == float64:
        return default_real()
    if dtype == int64:
        return default_integral()
    return default_complex() if dtype == complex128 else dtype


def kind(dtype: DType) -> str:
    """Return ``"bool"``, ``"int"``, ``"float"``, ``"complex"`` or ``"narrow"``."""
    for name, category in _KINDS:
        if dtype in category:
            return name
    raise TypeError(f"expected a dtype of the namespace, got {dtype!r}")


_KINDS = (
    ("float", REAL_FLOATING),
    ("int", INTEGER),
    ("bool", BOOLEAN),
    ("complex", COMPLEX),
    ("narrow", NARROW),
)


@cache
def same_kind(a: DType, b: DType) -> DType | None:
    """Return the dtype that the standard promotes two dtypes to, or ``None`` where it is silent.

    Source: the standard, type promotion rules; float16 and bfloat16 join the floating-point row.
    """
    if a == b:
        return a
    kinds = {kind(a), kind(b)}
    if "narrow" in kinds or not (len(kinds) == 1 or kinds == {"float", "complex"}):
        return None
    if {a, b} == {float16, bfloat16}:
        return None
    if kinds == {"int"} and uint64 in (a, b) and (a in SIGNED or b in SIGNED):
        return None
    if bfloat16 in (a, b) and kinds == {"float", "complex"}:
        return a if a in COMPLEX else b
    return _CANONICAL[np.promote_types(a, b)]


def promote(a: DType, b: DType) -> DType:
    """Return the dtype of an operation on both.

    Mixed kinds, where the standard is silent, follow one table on every backend: boolean joins any
    kind; an integer with a floating-point dtype is NumPy's result, capped at the wider of the
    default dtype and the operand; uint64 with a signed integer is the default real dtype; bfloat16
    with an integer is bfloat16.

    Raises: ``TypeError`` for other pairs, and for every mixed pair under ``strict``.
    """
    dtype = same_kind(a, b)
    if dtype is not None:
        return dtype
    if _context.is_strict():
        raise TypeError(f"the standard does not promote {a} with {b} (strict mode)")
    kinds = {kind(a), kind(b)}
    if "bool" in kinds and "narrow" not in kinds:
        return b if a == bool_ else a
    if kinds == {"int"}:
        return default_real()
    if kinds in ({"int", "float"}, {"int", "complex"}):
        integer, inexact = (a, b) if a in INTEGER else (b, a)
        return _integer_with(integer, inexact)
    raise TypeError(f"{a} does not promote with {b}: convert one of them with astype")


def _integer_with(integer: DType, inexact: DType) -> DType:
    if inexact == bfloat16:
        return bfloat16
    default = default_real() if inexact in REAL_FLOATING else default_complex()
    result = _CANONICAL[np.promote_types(integer, inexact)]
    widest = max(default, inexact, key=lambda dtype: dtype.itemsize)
    return result if result.itemsize <= widest.itemsize else widest


def promote_scalar(dtype: DType, scalar: type) -> DType:
    """Return the dtype of an operation on an array of ``dtype`` and a Python scalar's type.

    A scalar is weak: it never widens a dtype of its own or a higher kind.

    Raises: ``TypeError`` for kinds that the standard leaves open, under ``strict``.
    """
    kind_of = kind(dtype)
    rank = _RANK[kind_of]
    wanted = _RANK[_SCALAR_KIND[scalar]]
    if wanted == rank or (wanted < rank and wanted > 0):
        return dtype
    if kind_of == "float" and scalar is complex:
        return complex128 if dtype == float64 else complex64
    if _context.is_strict():
        raise TypeError(f"the standard does not promote {dtype} with a {scalar.__name__} (strict)")
    if wanted < rank:
        return dtype
    return {int: default_integral, float: default_real, complex: default_complex}[scalar]()


_RANK = {"bool": 0, "int": 1, "float": 2, "complex": 3, "narrow": 2}
_SCALAR_KIND: dict[type, str] = {bool: "bool", int: "int", float: "float", complex: "complex"}


@cache
def context_free(a: DType, b: DType | type) -> bool:
    """Tell whether the promotion of the two consults no context."""
    if isinstance(b, type):
        return _RANK[_SCALAR_KIND[b]] <= _RANK[kind(a)] and (b is not bool or kind(a) == "bool")
    return same_kind(a, b) is not None


def can_cast(source: DType, target: DType) -> bool:
    """Tell whether promotion may turn ``source`` into ``target``."""
    if source == target:
        return True
    if _RANK[kind(source)] > _RANK[kind(target)]:
        return False
    try:
        return promote(source, target) == target
    except TypeError:
        return False


def real_of(dtype: DType) -> DType:
    """Return the dtype of the components of a complex dtype, and any other dtype unchanged."""
    return {complex64: float32, complex128: float64}.get(dtype, dtype)


def complex_of(dtype: DType) -> DType:
    """Return the complex dtype with components of this real floating-point dtype."""
    return dtype if dtype in COMPLEX else complex128 if dtype == float64 else complex64


def working(dtype: DType) -> DType:
    """Return the dtype that sums and products of this dtype are computed in."""
    return float32 if dtype in NARROW_FLOATING else dtype


def host_array(data: object, dtype: DType | None = None) -> HostArray:
    """Return a scalar or nested sequences of scalars as an array in host memory.

    Raises: ``TypeError`` for leaves that are no numbers, ``ValueError`` for ragged sequences,
    ``OverflowError`` for an integer out of the range of ``dtype``.
    """
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(data, dtype=dtype)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError("expected sequences of equal lengths, got a ragged one") from None
    if array.dtype not in _CANONICAL:
        raise TypeError(f"expected numbers, got data of dtype {array.dtype}")
    return array


def exported_array(obj: object, copy: bool | None) -> HostArray | None:
    """Return the array that an object of another library shows of itself, or ``None``.

    Asked in this order: the buffer protocol, NumPy's ``__array__`` and DLPack. Whatever it is, the
    memory is shared if ``copy`` is not true.
    """
    try:
        obj = memoryview(obj)  # type: ignore[arg-type]  # the call is the check
    except TypeError:
        if not hasattr(obj, "__array__") and not hasattr(obj, "__array_interface__"):
            return dlpack_array(obj, copy) if hasattr(obj, "__dlpack__") else None
    return np.asarray(obj, copy=copy)


def dlpack_array(obj: Any, copy: bool | None) -> HostArray:
    """Return the array that an object exports by DLPack, brought to host memory if it may be."""
    kind_of_device, _ = obj.__dlpack_device__()
    if copy is not False and kind_of_device != _DLPACK_CPU:
        return np.from_dlpack(obj, device="cpu", copy=True)
    return np.from_dlpack(obj, copy=copy)


_DLPACK_CPU = 1


def float_limits(dtype: DType) -> tuple[int, float, float, float, float]:
    """Return bits, eps, the largest, the smallest and the smallest normal number of a dtype."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # its stub has no types
    return (
        int(info.bits),
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
    )


def integer_limits(dtype: DType) -> tuple[int, int, int]:
    """Return bits, the largest and the smallest number of an integer dtype, a 4-bit one too."""
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]  # its stub has no types
    return int(info.bits), int(info.max), int(info.min)
