"""Statistical functions against NumPy's, and what the standard and this package add."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import strata_api.abstract as abstract
from oracle import array, check_equal, check_same, host, some
from strata_api import Dimension, default_dtypes, strict
from strata_api._apply import viewed
from strata_api._view import Reshape, permuted
from strategies import counted, small_shapes

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALVES = [np.dtype("float16"), BFLOAT16]
INTEGERS = [np.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
FLOATS = [np.dtype("float32"), np.dtype("float64")]
DTYPES = [*INTEGERS, *FLOATS, np.dtype("complex64"), np.dtype("complex128"), np.dtype("bool")]
CUMULATIVE = {"cumulative_sum": np.add, "cumulative_prod": np.multiply}


def values(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> Any:
    """Return an ndarray of small numbers, of both signs where there are two."""
    numbers = np.random.default_rng(seed).integers(-4, 5, shape)
    if dtype.kind == "u":
        numbers = np.abs(numbers)
    result = numbers.astype(dtype)
    if dtype.kind == "c":
        result = result + result.dtype.type(1j) * numbers[::-1].astype(dtype)
    return result


def reductions(shape: tuple[int, ...]) -> list[tuple[Any, bool]]:
    """Return axes to reduce along: none given, one, and every set of them; and keepdims."""
    rank = len(shape)
    sets = [axes for n in range(rank + 1) for axes in itertools.combinations(range(rank), n)]
    one = [*range(rank), *range(-rank, 0), rank, -rank - 1]
    return list(itertools.product([None, *one, *sets, (0, 0)], (False, True)))


CASES = [
    (shape, axis, keepdims)
    for shape in small_shapes(rank=3, most=2)
    for axis, keepdims in reductions(shape)
]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_reductions_are_numpys_for_every_shape_and_axis(backend: ModuleType, name: str) -> None:
    for shape, axis, keepdims in some(backend, CASES, 60):
        x = values(shape, np.dtype("int64"))
        check_same(
            lambda x=x, axis=axis, keepdims=keepdims: getattr(backend, name)(
                array(backend, x), axis=axis, keepdims=keepdims
            ),
            lambda x=x, axis=axis, keepdims=keepdims: getattr(np, name)(
                x, axis=axis, keepdims=keepdims
            ),
            what=(name, shape, axis, keepdims),
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the oracle's, of no elements
@pytest.mark.parametrize("name", ["mean", "std", "var"])
def test_averages_are_numpys_for_every_shape_and_axis(backend: ModuleType, name: str) -> None:
    for shape, axis, keepdims in some(backend, CASES, 40):
        x = values(shape, np.dtype("float64"))
        check_same(
            lambda x=x, axis=axis, keepdims=keepdims: getattr(backend, name)(
                array(backend, x), axis=axis, keepdims=keepdims
            ),
            lambda x=x, axis=axis, keepdims=keepdims: getattr(np, name)(
                x, axis=axis, keepdims=keepdims
            ),
            ulps=4,
            what=(name, shape, axis, keepdims),
        )


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_accumulation_widens_as_numpy_does(
    backend: ModuleType, name: str, dtype: np.dtype[Any]
) -> None:
    x = values((3, 4), dtype)
    for axis in (None, 0, 1):
        check_equal(
            getattr(backend, name)(array(backend, x), axis=axis),
            getattr(np, name)(x, axis=axis),
            ulps=4,
        )


def test_small_integers_widen_to_the_default_integer_of_the_moment(backend: ModuleType) -> None:
    x = {name: array(backend, np.ones(3, name)) for name in ("int8", "int32", "uint16", "int64")}
    with default_dtypes(integral="int32"):
        found = {name: str(backend.sum(x[name]).dtype) for name in x}
    assert found == {"int8": "int32", "int32": "int32", "uint16": "uint32", "int64": "int64"}
    found = {name: str(backend.sum(x[name]).dtype) for name in x}
    assert found == {"int8": "int64", "int32": "int64", "uint16": "uint64", "int64": "int64"}


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_a_given_dtype_is_computed_in(backend: ModuleType, name: str) -> None:
    x = array(backend, np.full(3, 200, np.uint8))
    function = getattr(backend, name)
    exact = {"sum": 600, "prod": 8000000, "cumulative_sum": 600, "cumulative_prod": 8000000}[name]
    assert int(function(x, dtype=np.dtype("int32"))[..., None][-1 if x.ndim else 0].item()) == exact
    assert function(x, dtype=np.dtype("float32")).dtype == np.float32
    floats = array(backend, np.array([1.9, 1.9]))
    assert host(function(floats, dtype=np.dtype("int64"))).reshape(-1)[-1] in (1, 2)  # cast first
    with pytest.raises(TypeError, match="does not go into"):
        function(array(backend, np.array([1j])), dtype=np.dtype("float64"))
    with pytest.raises(TypeError, match="expected a numeric dtype"):
        function(x, dtype=np.dtype("bool"))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_16_bit_numbers_are_summed_in_32_bits(backend: ModuleType, dtype: np.dtype[Any]) -> None:
    x = array(backend, np.ones(4096, dtype))
    assert float(backend.sum(x)) == 4096
    assert float(backend.mean(x)) == 1
    assert float(backend.cumulative_sum(x)[-1]) == 4096
    assert float(backend.var(x)) == 0
    spread = array(backend, np.array([[256.0, 1.0, -256.0]] * 2, dtype))
    check_equal(backend.sum(spread, axis=1), np.ones(2, dtype))
    check_equal(backend.max(spread, axis=1), np.full(2, 256, dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES], ids=str)
@pytest.mark.parametrize("name", ["max", "min", "sum", "mean", "var"])
def test_nan_goes_through_in_silence(backend: ModuleType, name: str, dtype: np.dtype[Any]) -> None:
    x = np.array([[1, np.nan, 3], [4, 5, 6]], dtype)
    result = getattr(backend, name)(array(backend, x), axis=1)
    assert result.dtype == dtype
    assert np.isnan(host(result).astype("float32")).tolist() == [True, False]


def test_the_largest_of_nothing_is_an_error(backend: ModuleType) -> None:
    x = array(backend, np.zeros((0, 3)))
    for name in ("max", "min"):
        function = getattr(backend, name)
        assert function(x, axis=1).shape == (0,)
        for axis in (None, 0, (0, 1)):
            with pytest.raises(ValueError, match=rf"{name}: no elements along axes .* \(0, 3\)"):
                function(x, axis=axis)


def test_averages_of_too_few_elements_are_nan_in_silence(backend: ModuleType) -> None:
    x = array(backend, np.ones((2, 0)))
    assert np.isnan(host(backend.mean(x, axis=1))).all()
    assert np.isnan(host(backend.var(x, axis=1))).all()
    two = array(backend, np.array([1.0, 3.0]))
    for correction in (2, 2.5, 3):
        assert np.isnan(host(backend.var(two, correction=correction)))
        assert np.isnan(host(backend.std(two, correction=correction)))
    assert float(backend.var(two, correction=1)) == 2
    assert float(backend.var(two, correction=1.5)) == 4


def test_the_parts_of_a_complex_mean_are_independent(backend: ModuleType) -> None:
    x = array(backend, np.array([complex(np.nan, 1), 1 + 2j, 1 + 3j]))
    mean = host(backend.mean(x))
    assert np.isnan(mean.real)
    assert mean.imag == 2
    empty = host(backend.mean(array(backend, np.zeros(0, np.complex64))))
    assert np.isnan(empty.real) and np.isnan(empty.imag)  # noqa: PT018 - one claim, of both parts


@pytest.mark.parametrize("dtype", [*INTEGERS, np.dtype("bool")], ids=str)
def test_integers_have_averages_beyond_the_standard(
    backend: ModuleType, dtype: np.dtype[Any]
) -> None:
    x = values((3, 4), dtype)
    ours = array(backend, x)
    for name in ("mean", "std", "var"):
        function = getattr(backend, name)
        check_equal(function(ours, axis=0), getattr(np, name)(x, axis=0), ulps=4)
        with default_dtypes(real="float32"):
            assert function(ours).dtype == np.float32
        with strict(), pytest.raises(TypeError, match=f"{name}: expected a "):
            function(ours)


def test_booleans_count_beyond_the_standard(backend: ModuleType) -> None:
    x = array(backend, np.array([True, False, True]))
    check_equal(backend.sum(x), np.int64(2))
    check_equal(backend.max(x), np.True_)
    check_equal(backend.cumulative_sum(x), np.array([1, 1, 2]))
    for name in ("sum", "prod", "max", "min", "cumulative_sum", "cumulative_prod"):
        with strict(), pytest.raises(TypeError, match=f"{name}: expected a "):
            getattr(backend, name)(x)


@pytest.mark.parametrize("name", list(CUMULATIVE))
@pytest.mark.parametrize("include_initial", [False, True])
def test_running_results_are_those_of_numpys_ufuncs(
    backend: ModuleType, name: str, include_initial: bool
) -> None:
    ufunc = CUMULATIVE[name]
    cases = [
        (shape, axis)
        for shape in small_shapes(rank=3, most=2)
        for axis in range(-len(shape), len(shape))
    ]
    for shape, axis in some(backend, cases, 12):
        x = values(shape, np.dtype("int32"))
        want = ufunc.accumulate(x, axis=axis, dtype=np.int64)
        if include_initial:
            first = [*shape]
            first[axis] = 1
            want = np.concatenate([np.full(first, ufunc.identity), want], axis=axis)
        result = getattr(backend, name)(
            array(backend, x), axis=axis, include_initial=include_initial
        )
        check_equal(result, want, what=(shape, axis))


def test_running_results_need_an_axis_unless_there_is_one(backend: ModuleType) -> None:
    for shape in ((), (2, 3)):
        x = array(backend, np.ones(shape))
        with pytest.raises(ValueError, match="expected an axis"):
            backend.cumulative_sum(x)
    check_equal(backend.cumulative_sum(array(backend, np.ones(3))), np.arange(1.0, 4))
    with pytest.raises(IndexError, match="out of range"):
        backend.cumulative_sum(array(backend, np.ones(3)), axis=1)


def test_results_are_row_major_whatever_the_order_of_the_operand(numpy_backend: ModuleType) -> None:
    x = np.asfortranarray(values((3, 4, 5), np.dtype("float64")))
    for name in ("sum", "max", "mean", "var", "cumulative_sum"):
        for axis in (0, 1, 2):
            function = getattr(numpy_backend, name)
            for _ in range(2):  # the second time the kernel is known
                result = function(numpy_backend.asarray(x), axis=axis)
                assert host_flags(result), (name, axis)


def host_flags(x: Any) -> bool:
    return bool(np.asarray(x).flags.c_contiguous)


def test_results_share_no_memory_with_the_operand(numpy_backend: ModuleType) -> None:
    x = np.ones((1, 3))
    for axis in ((), 0):
        result = numpy_backend.sum(numpy_backend.asarray(x), axis=axis)
        assert not np.shares_memory(np.asarray(result), x)


def test_unknown_extents_are_reduced_and_grow_by_the_initial_one() -> None:
    x = abstract.empty((Dimension(1, 8), 3), dtype=np.dtype("int32"))
    assert abstract.sum(x, axis=1).dims == (Dimension(1, 8),)
    assert abstract.sum(x).dtype == np.int64
    assert abstract.max(x, keepdims=True).dims == (1, 1)
    assert abstract.mean(x, axis=0).dims == (3,)
    grown = abstract.cumulative_sum(x, axis=0, include_initial=True)
    assert grown.dims == (Dimension(2, 9), 3)
    with pytest.raises(ValueError, match="no elements"):
        abstract.max(abstract.empty((Dimension(1, 8), 0)), axis=1)


def test_a_view_without_a_strided_layout_is_reduced_and_added(numpy_backend: ModuleType) -> None:
    x = numpy_backend.asarray(counted((3, 4)), copy=True)
    turned = viewed(x, permuted((3, 4), (1, 0)))
    folded = viewed(turned, Reshape((4, 3), (12,)))
    whole = numpy_backend.asarray(counted((12,)))
    for _ in range(2):  # the second time the kernels are known
        check_equal(numpy_backend.sum(whole), np.int64(66))
        check_equal(numpy_backend.sum(folded), np.int64(66))
        check_equal(numpy_backend.equal(whole, whole), np.ones(12, bool))
        check_equal(numpy_backend.equal(folded, folded), np.ones(12, bool))
