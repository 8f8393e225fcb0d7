"""Dtypes: the table of promotion, Python scalars beside it, and that both backends follow it."""

from __future__ import annotations

import itertools
import operator
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import strata_api
from oracle import array, check_equal, some
from strata_api import _dtypes as d

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
STANDARD = ("bool", *SIGNED, *UNSIGNED, *REAL, *COMPLEX)
NARROW = ("int4", "uint4", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")

# What goes with what where the standard is silent, under the default dtypes: a row for the
# integers, a column for the other. "-" is a TypeError.
MIXED = """
          bool    float16   bfloat16  float32   float64   complex64   complex128
    int8  int8    float16   bfloat16  float32   float64   complex64   complex128
    int16 int16   float32   bfloat16  float32   float64   complex64   complex128
    int32 int32   float64   bfloat16  float64   float64   complex128  complex128
    int64 int64   float64   bfloat16  float64   float64   complex128  complex128
    uint8 uint8   float16   bfloat16  float32   float64   complex64   complex128
    uint16 uint16 float32   bfloat16  float32   float64   complex64   complex128
    uint32 uint32 float64   bfloat16  float64   float64   complex128  complex128
    uint64 uint64 float64   bfloat16  float64   float64   complex128  complex128
"""
# The same under default_dtypes(real="float32"): no wider than the default or the float operand.
MIXED_WITH_FLOAT32 = """
          float16   bfloat16  float32   float64   complex64   complex128
    int8  float16   bfloat16  float32   float64   complex64   complex128
    int16 float32   bfloat16  float32   float64   complex64   complex128
    int32 float32   bfloat16  float32   float64   complex64   complex128
    int64 float32   bfloat16  float32   float64   complex64   complex128
    uint64 float32  bfloat16  float32   float64   complex64   complex128
"""


def dtype_of(name: str) -> Any:
    return d.as_dtype(name)


def table(text: str) -> list[tuple[str, str, str]]:
    """Return the cells of a table: row, column, what stands there."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return [
        (row[0], column, cell) for row in rows for column, cell in zip(head, row[1:], strict=True)
    ]


# -- the standard's part --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *itertools.product(SIGNED, SIGNED),
        *itertools.product(UNSIGNED, UNSIGNED),
        *[(s, u) for s, u in itertools.product(SIGNED, UNSIGNED) if u != "uint64"],
        *itertools.product(REAL + COMPLEX, REAL + COMPLEX),
        ("bool", "bool"),
        *itertools.product(["float16"], ["float16", *REAL, *COMPLEX]),
    ],
)
def test_promotion_inside_a_kind_is_the_standards(a: str, b: str) -> None:
    pair = dtype_of(a), dtype_of(b)
    assert d.promote(*pair) == np.promote_types(a, b)
    with strata_api.strict():
        assert d.promote(*pair) == np.promote_types(a, b)


def test_bfloat16_joins_the_floating_point_dtypes() -> None:
    for wide in (*REAL, *COMPLEX):
        assert d.promote(d.bfloat16, dtype_of(wide)) == dtype_of(wide)
    assert d.promote(d.bfloat16, d.bfloat16) == d.bfloat16


# -- beyond the standard --------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b", "want"), table(MIXED))
def test_mixed_kinds_follow_the_printed_table(a: str, b: str, want: str) -> None:
    pair = dtype_of(a), dtype_of(b)
    assert d.promote(*pair) == dtype_of(want)
    with strata_api.strict(), pytest.raises(TypeError, match="strict"):
        d.promote(*pair)


@pytest.mark.parametrize(("a", "b", "want"), table(MIXED_WITH_FLOAT32))
def test_mixed_kinds_follow_the_default_dtypes(a: str, b: str, want: str) -> None:
    with strata_api.default_dtypes(real="float32"):
        assert d.promote(dtype_of(a), dtype_of(b)) == dtype_of(want)


@pytest.mark.parametrize("signed", SIGNED)
def test_uint64_with_a_signed_integer_is_the_default_real_dtype(signed: str) -> None:
    assert d.promote(d.uint64, dtype_of(signed)) == d.float64
    with strata_api.default_dtypes(real="float32"):
        assert d.promote(d.uint64, dtype_of(signed)) == d.float32


@pytest.mark.parametrize("other", STANDARD)
def test_bool_joins_any_kind(other: str) -> None:
    assert d.promote(d.bool_, dtype_of(other)) == dtype_of(other)


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("other", [*STANDARD, "float16", "bfloat16", *NARROW])
def test_other_narrow_kinds_promote_with_themselves_alone(narrow: str, other: str) -> None:
    if narrow == other:
        assert d.promote(dtype_of(narrow), dtype_of(other)) == dtype_of(narrow)
        return
    with pytest.raises(TypeError, match="astype"):
        d.promote(dtype_of(narrow), dtype_of(other))


def test_float16_does_not_promote_with_bfloat16() -> None:
    with pytest.raises(TypeError, match="astype"):
        d.promote(d.float16, d.bfloat16)


@pytest.mark.parametrize("real", REAL)
def test_promotion_is_symmetric_and_keeps_equals(real: str) -> None:
    with strata_api.default_dtypes(real=real):
        for a, b in itertools.product(d.STANDARD.members, repeat=2):
            if {a, b} == {d.float16, d.bfloat16}:
                continue
            assert d.promote(a, b) == d.promote(b, a), (a, b)
            assert a != b or d.promote(a, b) == a


def test_what_promotion_says_needs_no_context_changes_with_no_context() -> None:
    for a, b in itertools.product(d.STANDARD.members, repeat=2):
        if {a, b} == {d.float16, d.bfloat16} or not d.context_free(a, b):
            continue
        usual = d.promote(a, b)
        with strata_api.default_dtypes(real="float32", integral="int32"), strata_api.strict():
            assert d.promote(a, b) == usual


# -- Python scalars -------------------------------------------------------------------------------

WEAK = """
                bool      int       float     complex
    bool        bool      int64     float64   complex128
    int8        int8      int8      float64   complex128
    int32       int32     int32     float64   complex128
    int64       int64     int64     float64   complex128
    uint8       uint8     uint8     float64   complex128
    uint64      uint64    uint64    float64   complex128
    float16     float16   float16   float16   complex64
    bfloat16    bfloat16  bfloat16  bfloat16  complex64
    float32     float32   float32   float32   complex64
    float64     float64   float64   float64   complex128
    complex64   complex64 complex64 complex64 complex64
    complex128  complex128 complex128 complex128 complex128
"""
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
SCALAR = {"bool": True, "int": 2, "float": 1.5, "complex": 1j}


@pytest.mark.parametrize(("dtype", "scalar", "want"), table(WEAK))
def test_a_python_scalar_is_weak(dtype: str, scalar: str, want: str) -> None:
    assert d.promote_scalar(dtype_of(dtype), type(SCALAR[scalar])) == dtype_of(want)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64", "complex64"])
def test_an_operator_takes_the_scalar_as_the_table_says(backend: ModuleType, dtype: str) -> None:
    x = array(backend, np.ones(2, dtype=dtype))
    for scalar in SCALAR.values():
        want = d.promote_scalar(dtype_of(dtype), type(scalar))
        assert (x * scalar).dtype == want
        assert (scalar * x).dtype == want
        assert backend.result_type(x, scalar) == want


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "int64"])
def test_a_python_integer_out_of_range_is_an_overflow_error(
    backend: ModuleType, dtype: str
) -> None:
    info = np.iinfo(dtype)
    x = array(backend, np.ones(2, dtype=dtype))
    check_equal(x + 1, np.full(2, 2, dtype=dtype))  # the kernel for the two is known from here on
    for value in (int(info.max) + 1, int(info.min) - 1):
        with pytest.raises(OverflowError, match=dtype):
            x + value
        with pytest.raises(OverflowError, match=dtype):
            x[0] = value
    check_equal(x, np.ones(2, dtype=dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "int64"])
def test_comparing_with_a_python_integer_out_of_range_is_exact(
    backend: ModuleType, dtype: str
) -> None:
    info = np.iinfo(dtype)
    x = array(backend, np.array([info.min, 1, info.max], dtype=dtype))
    for value in (int(info.max) + 1, int(info.min) - 1, 10**30, -(10**30)):
        for compare in COMPARISONS:
            want = np.array([compare(int(v), value) for v in (info.min, 1, info.max)])
            check_equal(compare(x, value), want, what=(compare, value))


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*STANDARD, "float16", "bfloat16", *NARROW])
def test_a_dtype_is_found_by_name_by_type_and_by_itself(name: str) -> None:
    dtype = dtype_of(name)
    assert dtype.name == name
    assert d.as_dtype(dtype) is dtype
    assert d.as_dtype(dtype.type) is dtype


def test_python_types_name_the_widest_dtype_of_their_kind() -> None:
    assert [d.as_dtype(kind) for kind in (bool, float, complex)] == [
        d.bool_,
        d.float64,
        d.complex128,
    ]


@pytest.mark.parametrize(
    "wrong",
    [None, "float", "nonsense", "U4", object, "datetime64[s]", [], 3, np.dtype(">i4"), "S", {}],
    ids=repr,
)
def test_what_is_no_dtype_is_a_type_error(wrong: Any) -> None:
    if wrong == "float":
        pytest.skip("a name that NumPy knows")
    with pytest.raises(TypeError, match="dtype"):
        d.as_dtype(wrong)


def test_strict_takes_dtypes_of_the_namespace_alone() -> None:
    with strata_api.strict():
        assert d.as_dtype(d.float32) is d.float32
        for wrong in ("float32", np.float32):
            with pytest.raises(TypeError, match="float32"):
                d.as_dtype(wrong)


def test_dtypes_are_numpys_on_every_backend(backend: ModuleType) -> None:
    for name in STANDARD:
        assert getattr(backend, name) == np.dtype(name)
        assert backend.zeros(1, dtype=getattr(backend, name)).dtype == np.dtype(name)
    assert backend.bfloat16 == np.dtype(ml_dtypes.bfloat16)
    assert backend.float16 == np.dtype("float16")


# -- on arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*STANDARD, "float16", "bfloat16", *NARROW])
def test_every_dtype_is_stored_read_written_and_viewed(backend: ModuleType, name: str) -> None:
    dtype = dtype_of(name)
    a = np.array([0.5, 1, 1, 2]).astype(dtype)
    x = array(backend, a)
    check_equal(x, a)
    check_equal(x[::-2], a[::-2])
    x[1:3] = x[:2]
    a[1:3] = a[:2].copy()
    check_equal(x, a)
    check_equal(backend.concat([x, x[:1]]), np.concatenate([a, a[:1]]))


@pytest.mark.parametrize(
    ("wide", "value"),
    [
        ("float64", 1 + 2.0**-40),
        ("int64", 2**62 + 1),
        ("uint64", 2**64 - 1),
        ("complex128", 1 + 2.0**-40 * 1j),
    ],
)
def test_sixty_four_bits_are_kept(backend: ModuleType, wide: str, value: complex) -> None:
    x = backend.asarray([value], dtype=getattr(backend, wide))
    check_equal(x, np.array([value], dtype=wide))
    check_equal(x + 0, np.array([value], dtype=wide))
    check_equal(backend.reshape(x, (1, 1))[0], np.array([value], dtype=wide))


def test_arrays_promote_as_dtypes_do_in_every_pair(backend: ModuleType) -> None:
    names = (*STANDARD, "float16", "bfloat16")
    pairs = list(itertools.combinations_with_replacement(names, 2))
    for a, b in some(backend, pairs, 30):
        x, y = (array(backend, np.ones(1, dtype=dtype_of(name))) for name in (a, b))
        if {a, b} == {"float16", "bfloat16"}:
            for call in (lambda: x + y, lambda: backend.result_type(x, y)):  # noqa: B023
                with pytest.raises(TypeError):
                    call()
            continue
        want = d.promote(dtype_of(a), dtype_of(b))
        assert backend.result_type(x, y) == want
        assert backend.result_type(x.dtype, y) == want
        assert backend.where(array(backend, np.array([True])), x, y).dtype == want
        if want != d.bool_:
            assert (x * y).dtype == want


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_iinfo_is_numpys(numpy_backend: ModuleType, name: str) -> None:
    have, want = numpy_backend.iinfo(getattr(numpy_backend, name)), np.iinfo(name)
    assert (have.bits, have.max, have.min, have.dtype) == (
        want.bits,
        want.max,
        want.min,
        want.dtype,
    )


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "float16"])
def test_finfo_is_numpys(numpy_backend: ModuleType, name: str) -> None:
    have, want = numpy_backend.finfo(getattr(numpy_backend, name)), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(have, field) == getattr(want, field), field
        assert type(getattr(have, field)) in (int, float), field
    assert have.dtype == want.dtype


def test_can_cast_is_promotion_that_changes_nothing(numpy_backend: ModuleType) -> None:
    for a, b in itertools.product(STANDARD, repeat=2):
        source, target = dtype_of(a), dtype_of(b)
        if d.same_kind(source, target) is not None:
            want = d.promote(source, target) == target
            assert numpy_backend.can_cast(source, target) == want, (a, b)


@pytest.mark.parametrize("source", ["float64", "int64", "uint8", "bool", "complex128"])
def test_astype_converts_as_numpy_does(backend: ModuleType, source: str) -> None:
    a = np.array([0, 1, 2, 100]).astype(source)
    x = array(backend, a)
    for target in ("int8", "uint16", "float32", "bool", "complex64", "float16"):
        if source == "complex128" and target not in ("bool", "complex64"):
            with pytest.raises(TypeError, match=r"real\(x\)"):
                backend.astype(x, getattr(backend, target))
            continue
        check_equal(backend.astype(x, getattr(backend, target)), a.astype(target), what=target)
