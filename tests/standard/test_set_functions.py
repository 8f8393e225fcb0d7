"""Set functions against NumPy's, with NaN and signed zeros."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strata_api.abstract as abstract
import strata_api.numpy as snp
from oracle import array, check_equal, host, some
from strata_api import Dimension
from strategies import small_shapes

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(name) for name in ("i1", "i8", "u4", "f2", "f4", "f8", "c8", "c16", "bool")]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unique_is_numpys(backend: ModuleType, dtype: np.dtype[Any]) -> None:
    for shape in some(backend, small_shapes(rank=2, most=3), 6):
        x = np.random.default_rng(4).integers(0, 3, shape).astype(dtype)
        ours = array(backend, x)
        values, indices, inverse, counts = np.unique(
            x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
        )
        found = backend.unique_all(ours)
        assert type(found)._fields == ("values", "indices", "inverse_indices", "counts")
        check_equal(tuple(found), (values, indices, inverse.reshape(shape), counts), what=shape)
        check_equal(backend.unique_values(ours), values)
        check_equal(tuple(backend.unique_counts(ours)), (values, counts))
        check_equal(tuple(backend.unique_inverse(ours)), (values, inverse.reshape(shape)))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", BFLOAT16], ids=str)
def test_every_nan_is_its_own_and_zeros_are_one(backend: ModuleType, dtype: Any) -> None:
    x = np.array([np.nan, -0.0, 1, 0.0, np.nan], dtype)
    found = backend.unique_all(array(backend, x))
    np.testing.assert_array_equal(host(found.values).astype("f4"), [0, 1, np.nan, np.nan])
    assert np.signbit(host(found.values).astype("f4"))[0]  # the first of the zeros
    check_equal(found.indices, np.array([1, 2, 0, 4]))
    check_equal(found.inverse_indices, np.array([2, 0, 1, 0, 3]))
    check_equal(found.counts, np.array([2, 1, 1, 1]))
    values = host(backend.unique_values(array(backend, x))).astype("f4")
    assert np.signbit(values)[0]


@given(st.lists(st.integers(0, 5), max_size=12))
def test_the_parts_put_the_operand_together_again(numbers: list[int]) -> None:
    x = snp.asarray(np.array(numbers, np.int64))
    found = snp.unique_all(x)
    check_equal(snp.take(found.values, found.inverse_indices), host(x))
    check_equal(snp.take(x, found.indices), host(found.values))
    assert int(snp.sum(found.counts)) == len(numbers)


def test_isin_is_numpys(backend: ModuleType) -> None:
    x1 = np.array([[1, 2, 3], [4, 5, 1]])
    for x2 in (np.array([1, 5]), np.array([[2], [9]]), np.array([], np.int64), np.array(4)):
        for invert in (False, True):
            check_equal(
                backend.isin(array(backend, x1), array(backend, x2), invert=invert),
                np.isin(x1, x2, invert=invert),
            )
    ours = array(backend, x1)
    check_equal(backend.isin(ours, 1), x1 == 1)
    check_equal(backend.isin(5, ours), np.array(True))
    check_equal(backend.isin(7, ours, invert=True), np.array(True))
    with pytest.raises(TypeError, match="at least one array"):
        backend.isin(1, 2)


@pytest.mark.parametrize("dtype", ["f4", "f8", BFLOAT16], ids=str)
def test_nan_is_in_nothing(backend: ModuleType, dtype: Any) -> None:
    x = array(backend, np.array([np.nan, 1.0, 0.0], dtype))
    y = array(backend, np.array([np.nan, -0.0], dtype))
    check_equal(backend.isin(x, y), np.array([False, False, True]))


def test_unique_is_refused_under_a_trace(jax_backend: ModuleType) -> None:
    jax = import_module("jax")
    with pytest.raises(TypeError, match="depends on the data"):
        jax.jit(jax_backend.unique_values)(jax_backend.asarray(np.arange(3)))


def test_the_number_of_distinct_elements_is_an_interval() -> None:
    x = abstract.empty((2, 3), dtype=np.dtype("int32"))
    found = abstract.unique_all(x)
    assert found.values.dims == (Dimension(1, 6),)
    assert found.values.dtype == np.int32
    assert found.inverse_indices.dims == (2, 3)
    assert found.counts.dims == (Dimension(1, 6),)
    assert abstract.unique_values(abstract.empty((Dimension(0, 4), 2))).dims == (Dimension(0, 8),)
    assert abstract.unique_values(abstract.empty((0,))).dims == (0,)
    assert abstract.unique_values(abstract.empty(())).dims == (1,)
    (found.values + abstract.ones(found.counts.dims)).dims  # noqa: B018 - one length: it broadcasts
