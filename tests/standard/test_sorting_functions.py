"""Sorting functions against NumPy's stable sort, both ways."""

from __future__ import annotations

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
from strata_api import Dimension, strict
from strategies import small_shapes

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    np.dtype(name)
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "bool")
] + [BFLOAT16]


def order(x: Any, axis: int, descending: bool) -> Any:
    """Return the stable order; NaN is the largest, and equal ones stay as they are."""
    key = x.astype(np.float64 if x.dtype.kind in "fV" else object)
    if not descending:
        return np.argsort(key, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(key, axis), axis, kind="stable"), axis)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sorting_keeps_the_order_of_equal_elements(
    backend: ModuleType, dtype: np.dtype[Any], descending: bool
) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0 if dtype.kind == "u" else -2, 3, (4, 9)).astype(dtype)
    for axis in (0, 1, -1):
        want = order(x, axis, descending)
        ours = array(backend, x)
        check_equal(backend.argsort(ours, axis=axis, descending=descending), want)
        values = backend.sort(ours, axis=axis, descending=descending)
        check_equal(values, np.take_along_axis(x, want, axis))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", BFLOAT16], ids=str)
def test_nan_is_the_largest_and_zeros_are_equal(backend: ModuleType, dtype: Any) -> None:
    x = np.array([np.nan, 0.0, -np.inf, -0.0, np.nan, np.inf, 0.0, -0.0], dtype)
    ours = array(backend, x)
    for descending in (False, True):
        want = order(x, 0, descending)
        check_equal(backend.argsort(ours, descending=descending), want)
        result = host(backend.sort(ours, descending=descending)).astype("f4")
        expected = x[want].astype("f4")
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


def test_every_small_shape_and_axis(backend: ModuleType) -> None:
    cases = [
        (shape, axis)
        for shape in small_shapes(rank=3, most=3)
        for axis in range(-len(shape), len(shape))
    ]
    for shape, axis in some(backend, cases, 10):
        x = np.random.default_rng(2).integers(0, 4, shape)
        check_equal(backend.sort(array(backend, x), axis=axis), np.sort(x, axis=axis))
        check_equal(
            backend.argsort(array(backend, x), axis=axis), np.argsort(x, axis, kind="stable")
        )


@given(st.lists(st.floats(width=32), max_size=20), st.booleans())
def test_unstable_sorting_gives_the_same_values(numbers: list[float], descending: bool) -> None:
    x = snp.asarray(np.array(numbers, "f4"))
    stable = snp.sort(x, descending=descending)
    check_equal(snp.sort(x, descending=descending, stable=False), host(stable))


def test_sorting_does_not_write_the_operand(backend: ModuleType) -> None:
    x = array(backend, np.array([3, 1, 2]))
    backend.sort(x)
    check_equal(x, np.array([3, 1, 2]))


def test_what_cannot_be_sorted(backend: ModuleType) -> None:
    with pytest.raises(TypeError, match="sort: expected a real-valued dtype"):
        backend.sort(array(backend, np.array([1j])))
    with pytest.raises(IndexError, match="out of range"):
        backend.argsort(array(backend, np.array(1)))
    with strict(), pytest.raises(TypeError, match="argsort: expected a real-valued dtype"):
        backend.argsort(array(backend, np.array([True])))


def test_unknown_extents_stay() -> None:
    x = abstract.empty((Dimension(0, 5), 3), dtype=np.dtype("float32"))
    assert abstract.sort(x).dims == x.dims
    assert abstract.argsort(x, axis=0).dtype == np.int64
