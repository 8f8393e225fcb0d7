"""Searching functions against NumPy's, with Python scalars and mixed dtypes."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import strata_api.abstract as abstract
from oracle import array, check_equal, check_same, some
from strata_api import Dimension, default_dtypes, strict
from strategies import small_shapes

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
REAL = [np.dtype(name) for name in ("i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8")]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_extremes_are_where_numpy_finds_them(backend: ModuleType, name: str) -> None:
    cases = [
        (shape, axis, keepdims)
        for shape in small_shapes(rank=3, most=2)
        for axis in (None, *range(-len(shape) - 1, len(shape) + 1))
        for keepdims in (False, True)
    ]
    for shape, axis, keepdims in some(backend, cases, 40):
        x = np.random.default_rng(5).integers(0, 3, shape)
        if shape == () and axis is not None:  # where NumPy lets axis 0 pass
            continue
        check_same(
            lambda x=x, axis=axis, keepdims=keepdims: getattr(backend, name)(
                array(backend, x), axis=axis, keepdims=keepdims
            ),
            lambda x=x, axis=axis, keepdims=keepdims: getattr(np, name)(
                x, axis=axis, keepdims=keepdims
            ),
            what=(name, shape, axis, keepdims),
        )


@pytest.mark.parametrize("dtype", [*REAL, BFLOAT16, np.dtype("bool")], ids=str)
def test_extremes_of_every_dtype_are_the_first(backend: ModuleType, dtype: Any) -> None:
    x = array(backend, np.array([1, 0, 1, 0]).astype(dtype))
    check_equal(backend.argmax(x), np.int64(0))
    check_equal(backend.argmin(x), np.int64(1))
    with default_dtypes(integral="int32"):
        assert backend.argmax(x).dtype == np.int32


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", BFLOAT16], ids=str)
def test_the_first_nan_is_both_extremes(backend: ModuleType, dtype: Any) -> None:
    x = array(backend, np.array([1, np.inf, np.nan, np.nan, -np.inf], dtype))
    check_equal(backend.argmax(x), np.int64(2))
    check_equal(backend.argmin(x), np.int64(2))


def test_the_extreme_of_nothing_is_an_error(backend: ModuleType) -> None:
    x = array(backend, np.zeros((0, 2)))
    assert backend.argmax(x, axis=1).shape == (0,)
    with pytest.raises(ValueError, match="argmax: no elements along axes"):
        backend.argmax(x, axis=0)
    with pytest.raises(ValueError, match="argmin: no elements along axes"):
        backend.argmin(x)


@pytest.mark.parametrize("dtype", [*REAL, "c8", "bool", BFLOAT16], ids=str)
def test_counting_is_numpys(backend: ModuleType, dtype: Any) -> None:
    x = np.random.default_rng(6).integers(0, 2, (3, 4)).astype(dtype)
    for axis in (None, 0, -1, (0, 1), ()):
        for keepdims in (False, True):
            check_equal(
                backend.count_nonzero(array(backend, x), axis=axis, keepdims=keepdims),
                np.sum(x != 0, axis=axis, keepdims=keepdims),
                what=(axis, keepdims),
            )
    assert int(backend.count_nonzero(array(backend, np.array([np.nan, -0.0])))) == 1


def test_nonzero_is_numpys(backend: ModuleType) -> None:
    for shape in some(backend, [shape for shape in small_shapes() if shape], 8):
        x = np.random.default_rng(7).integers(0, 2, shape)
        check_equal(backend.nonzero(array(backend, x)), np.nonzero(x))
    check_equal(backend.nonzero(array(backend, np.array([0, 1j]))), (np.array([1]),))
    with pytest.raises(ValueError, match="expected an array with axes"):
        backend.nonzero(array(backend, np.array(1)))


@pytest.mark.parametrize("dtype", [*REAL, BFLOAT16], ids=str)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_is_numpys(backend: ModuleType, dtype: Any, side: str) -> None:
    x1 = np.array([0, 1, 1, 3, 4]).astype(dtype)
    x2 = np.array([[0, 1, 2], [5, 4, 0]]).astype(dtype)
    want = np.searchsorted(x1.astype("f8"), x2.astype("f8"), side=side)
    check_equal(backend.searchsorted(array(backend, x1), array(backend, x2), side=side), want)
    empty = array(backend, np.zeros(0, dtype))
    check_equal(backend.searchsorted(empty, array(backend, x2), side=side), np.zeros((2, 3), int))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_has_nan_at_the_end_as_sort_has(backend: ModuleType, side: str) -> None:
    x1 = np.array([-np.inf, 0.0, 1.0, np.inf, np.nan, np.nan])
    x2 = np.array([np.nan, np.inf, -0.0, 2.0, -np.inf])
    check_equal(
        backend.searchsorted(array(backend, x1), array(backend, x2), side=side),
        np.searchsorted(x1, x2, side=side),
    )


def test_searchsorted_takes_scalars_and_a_sorter(backend: ModuleType) -> None:
    x1 = array(backend, np.array([3.0, 1.0, 2.0], "f4"))
    order = array(backend, np.array([1, 2, 0]))
    check_equal(backend.searchsorted(x1, 2, sorter=order), np.int64(1))
    check_equal(backend.searchsorted(x1, 2.5, sorter=order, side="right"), np.int64(2))
    check_equal(backend.searchsorted(x1, array(backend, np.array([9.0])), sorter=order), [3])
    for sorter, error in (
        (np.array([1, 2]), ValueError),
        (np.array([1.0, 2.0, 0.0]), TypeError),
        (np.array([1, 2, 3]), IndexError),
    ):
        with pytest.raises(error):
            backend.searchsorted(x1, 2, sorter=array(backend, sorter))
    with pytest.raises(ValueError, match="side"):
        backend.searchsorted(x1, 2, side="middle")
    with pytest.raises(ValueError, match="one axis"):
        backend.searchsorted(array(backend, np.zeros((2, 2))), 2)


def test_where_promotes_and_broadcasts(backend: ModuleType) -> None:
    c = np.array([[True], [False]])
    for left, right in (("i1", "i4"), ("f4", "f8"), ("u1", "i1"), ("f4", "c8"), ("bool", "bool")):
        x1, x2 = np.array([1, 0, 1]).astype(left), np.array(0).astype(right)
        check_equal(
            backend.where(array(backend, c), array(backend, x1), array(backend, x2)),
            np.where(c, x1, x2),
            what=(left, right),
        )
    with pytest.raises(ValueError, match="where: shapes"):
        backend.where(*[array(backend, np.ones(n)) for n in (2, 3, 1)])


def test_where_takes_weak_scalars(backend: ModuleType) -> None:
    c = array(backend, np.array([True, False]))
    half = array(backend, np.array([1, 2], "f2"))
    check_equal(backend.where(c, half, 0), np.array([1, 0], "f2"))
    check_equal(backend.where(c, 3.5, half), np.array([3.5, 2], "f2"))
    small = array(backend, np.array([1, 2], "u1"))
    check_equal(backend.where(c, small, 7), np.array([1, 7], "u1"))
    with pytest.raises(OverflowError):
        backend.where(c, small, 256)


def test_where_beyond_the_standard(backend: ModuleType) -> None:
    c = array(backend, np.array([2, 0]))
    check_equal(backend.where(c, 1, 0), np.array([1, 0]))
    check_equal(backend.where(c, True, 2.5), np.array([1.0, 2.5]))
    flags = array(backend, np.array([True, False]))
    with strict():
        with pytest.raises(TypeError, match="boolean condition"):
            backend.where(c, flags, flags)
        with pytest.raises(TypeError, match="an array to choose from"):
            backend.where(flags, 1, 0)


def test_nonzero_is_refused_under_a_trace(jax_backend: ModuleType) -> None:
    jax = import_module("jax")
    with pytest.raises(TypeError, match="use where"):
        jax.jit(jax_backend.nonzero)(jax_backend.asarray(np.arange(3)))


def test_shapes_of_unknown_extents() -> None:
    x = abstract.empty((Dimension(1, 4), 3), dtype=np.dtype("float32"))
    assert abstract.argmax(x, axis=0, keepdims=True).dims == (1, 3)
    assert abstract.argmax(x).dims == ()
    assert [k.dims for k in abstract.nonzero(x)] == [(Dimension(0, 12),)] * 2
    assert abstract.searchsorted(x[:, 0], x).dims == x.dims
    condition = abstract.empty((3,), dtype=np.dtype("bool"))
    assert abstract.where(condition, x, 0).dims == x.dims
