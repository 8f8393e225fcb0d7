"""Data type functions against NumPy and against the frozen facts of IEEE 754."""

from __future__ import annotations

import itertools
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strata_api
from oracle import array, check_equal, host, some
from strata_api import Dimension, abstract

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]

AWKWARD = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.5, -128.7, 255.9, 300.0, -300.0]
AWKWARD += [2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30]
AWKWARD += [float("inf"), float("-inf"), float("nan")]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_astype_is_numpys_where_every_number_fits(backend: ModuleType) -> None:
    values = {"bool": [True, False], "uint": [0, 1, 7], "int": [0, 1, 100]}
    for source, target in some(backend, list(itertools.product(ALL, ALL)), 20):
        data = values.get(source.rstrip("0123456789"), [0, 1, 100])
        a = np.array(data).astype(source)
        x = array(backend, a)
        if source.startswith("complex") and not target.startswith(("complex", "bool")):
            with pytest.raises(TypeError, match="real"):
                strata_api.astype(x, getattr(backend, target))
            continue
        check_equal(strata_api.astype(x, getattr(backend, target)), a.astype(target))


def saturated(value: float, dtype: str) -> int:
    """Return the nearest integer that a dtype holds, counted towards zero; 0 for NaN."""
    if np.isnan(value):
        return 0
    info = np.iinfo(dtype)
    return int(max(info.min, min(info.max, value)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_that_an_integer_cannot_hold_become_the_nearest(
    backend: ModuleType, dtype: str
) -> None:
    x = backend.asarray(AWKWARD)
    have = strata_api.astype(x, getattr(backend, dtype))
    assert have.tolist() == [saturated(value, dtype) for value in AWKWARD]


@given(st.sampled_from(INTEGERS), st.floats(width=32))
def test_casts_from_float32_saturate_too(dtype: str, value: float) -> None:
    x = strata_api.numpy.asarray([value, 1], dtype=strata_api.float32)
    have = strata_api.astype(x, getattr(strata_api, dtype))
    assert have.tolist() == [saturated(value, dtype), 1]


def test_integers_wrap_and_floats_overflow_to_infinity(backend: ModuleType) -> None:
    x = backend.asarray([300, -1, 2**40])
    assert strata_api.astype(x, backend.uint8).tolist() == [44, 255, 0]
    y = backend.asarray([1e300, -1e300])
    assert strata_api.astype(y, backend.float32).tolist() == [float("inf"), float("-inf")]


def test_astype_returns_the_array_itself_only_without_copy(backend: ModuleType) -> None:
    x = backend.arange(3)
    assert strata_api.astype(x, backend.int64, copy=False) is x
    assert strata_api.astype(x, backend.int64, copy=False, device=x.device) is x
    fresh = strata_api.astype(x, backend.int64)
    fresh[0] = 9
    other = strata_api.astype(x, backend.float64, copy=False)
    other[0] = 9
    assert x.tolist() == [0, 1, 2]


def test_astype_moves_to_a_device(backend: ModuleType) -> None:
    x = strata_api.numpy.arange(3)
    y = strata_api.astype(x, backend.float32, device=backend.zeros(()).device)
    assert y.device == backend.zeros(()).device
    check_equal(y, np.arange(3, dtype="float32"))


def test_astype_keeps_unknown_extents() -> None:
    n = Dimension(1, 8)
    y = strata_api.astype(abstract.ones((n, 2)), strata_api.int8)
    assert (y.dims, y.dtype) == ((n, 2), strata_api.int8)


# -- what dtypes are ------------------------------------------------------------------------------

FLOATS = {  # bits, eps, max, smallest normal
    "float16": (16, 2.0**-10, 65504.0, 2.0**-14),
    "bfloat16": (16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126),
    "float32": (32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126),
    "float64": (64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022),
}


@pytest.mark.parametrize("name", FLOATS)
def test_finfo_gives_the_limits_as_python_numbers(backend: ModuleType, name: str) -> None:
    bits, eps, largest, normal = FLOATS[name]
    dtype = getattr(backend, name)
    for given_ in (dtype, backend.zeros(2, dtype=dtype), host(backend.zeros(2, dtype=dtype))):
        limits = backend.finfo(given_)
        assert limits == (bits, eps, largest, -largest, normal, dtype)
        assert [type(value) for value in limits[:5]] == [int, float, float, float, float]


def test_finfo_of_a_complex_dtype_is_that_of_its_components() -> None:
    assert strata_api.finfo(strata_api.complex64) == strata_api.finfo(strata_api.float32)
    assert strata_api.finfo(strata_api.complex128).dtype == strata_api.float64


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo_gives_the_limits_as_python_numbers(name: str) -> None:
    bits = int(name.lstrip("uint"))
    low, high = (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    limits = strata_api.iinfo(getattr(strata_api, name))
    assert limits == (bits, high, low, np.dtype(name))
    assert [type(value) for value in limits[:3]] == [int, int, int]


def test_limits_are_refused_for_dtypes_of_another_kind() -> None:
    for function, name in [("finfo", "int8"), ("finfo", "bool"), ("iinfo", "float32")]:
        with pytest.raises(TypeError, match=function):
            getattr(strata_api, function)(getattr(strata_api, name))
    with pytest.raises(TypeError, match="dtype"):
        strata_api.finfo("no dtype")


KINDS = {
    "bool": {"bool"},
    "signed integer": {"int8", "int16", "int32", "int64"},
    "unsigned integer": {"uint8", "uint16", "uint32", "uint64"},
    "integral": set(INTEGERS),
    "real floating": {"float16", "float32", "float64", "bfloat16"},
    "complex floating": {"complex64", "complex128"},
    "numeric": {*ALL, "bfloat16"} - {"bool"},
}


@pytest.mark.parametrize("name", [*ALL, "bfloat16"])
def test_isdtype_tells_kinds_dtypes_and_unions(name: str) -> None:
    dtype = getattr(strata_api, name)
    for kind, members in KINDS.items():
        assert strata_api.isdtype(dtype, kind) == (name in members)
        for other in KINDS:
            either = name in members or name in KINDS[other]
            assert strata_api.isdtype(dtype, (kind, other)) == either
    for other in ALL:
        assert strata_api.isdtype(dtype, getattr(strata_api, other)) == (name == other)
    assert not strata_api.isdtype(dtype, ())


def test_isdtype_refuses_what_is_no_kind() -> None:
    with pytest.raises(ValueError, match="'real floating'"):
        strata_api.isdtype(strata_api.int8, "integer")
    with pytest.raises(ValueError, match="integer"):
        strata_api.isdtype(strata_api.int8, ("bool", "integer"))
    with pytest.raises(TypeError):
        strata_api.isdtype("no dtype", "bool")


# -- promotion ------------------------------------------------------------------------------------


def test_result_type_is_that_of_what_is_computed(backend: ModuleType) -> None:
    true = backend.asarray(True)
    for one, other in some(backend, list(itertools.product(ALL, ALL)), 20):
        a, b = getattr(backend, one), getattr(backend, other)
        x, y = backend.zeros((), dtype=a), backend.zeros((), dtype=b)
        result = backend.result_type(a, b)
        assert result == backend.where(true, x, y).dtype
        assert result == backend.result_type(b, a) == backend.result_type(x, b)
        assert result == backend.result_type(np.zeros(3, a), np.zeros(2, b))
        assert backend.can_cast(a, b) == (result == b)


def test_scalars_are_weak_in_result_type() -> None:
    for dtype, scalar, want in [
        ("float32", 1, "float32"),
        ("float32", 2.5, "float32"),
        ("float32", 1j, "complex64"),
        ("int8", 1, "int8"),
        ("int8", 2.5, "float64"),
        ("bool", 1, "int64"),
        ("bool", True, "bool"),
    ]:
        have = strata_api.result_type(scalar, getattr(strata_api, dtype))
        assert have == want, (dtype, scalar)
    with strata_api.strict(), pytest.raises(TypeError, match="strict"):
        strata_api.result_type(2.5, strata_api.int8)


def test_result_type_needs_an_array_or_a_dtype() -> None:
    for arguments in [(), (1,), (1, 2.5)]:
        with pytest.raises(ValueError, match="at least one"):
            strata_api.result_type(*arguments)
    with pytest.raises(TypeError, match="dtype"):
        strata_api.result_type(strata_api.int8, "no dtype")


def test_can_cast_takes_arrays_and_follows_promotion(backend: ModuleType) -> None:
    assert backend.can_cast(backend.zeros(2, dtype=backend.int8), backend.int16)
    assert not backend.can_cast(backend.zeros(2, dtype=backend.int16), backend.int8)
    assert not backend.can_cast(backend.float32, backend.int64)
    with strata_api.strict():
        assert not backend.can_cast(backend.int8, backend.float64)
        assert backend.can_cast(backend.int8, backend.int8)
