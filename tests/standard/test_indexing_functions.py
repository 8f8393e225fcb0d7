"""Indexing functions against NumPy's, and indices out of range."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import strata_api.abstract as abstract
from oracle import array, check_equal, check_same, some
from strata_api import Dimension, strict
from strategies import counted, small_shapes


def test_take_is_numpys_for_every_small_shape(backend: ModuleType) -> None:
    cases = [
        (shape, axis, picks)
        for shape in small_shapes(rank=3, most=3)
        for axis in range(-len(shape), len(shape))
        for picks in ([], [0], [-1, 0, 0], [2, -3, 1], [3], [-4])
    ]
    for shape, axis, picks in some(backend, cases, 40):
        x, k = counted(shape), np.array(picks, np.int32)
        check_same(
            lambda x=x, k=k, axis=axis: backend.take(
                array(backend, x), array(backend, k), axis=axis
            ),
            lambda x=x, k=k, axis=axis: x[(slice(None),) * (axis % x.ndim) + (k,)],
            what=(shape, axis, picks),
        )


@pytest.mark.parametrize("dtype", ["i1", "i8", "u1", "u8"])
def test_take_accepts_every_integer_dtype(backend: ModuleType, dtype: str) -> None:
    x = array(backend, counted((4,)))
    check_equal(backend.take(x, array(backend, np.array([3, 1], dtype))), np.array([3, 1]))


def test_take_along_axis_is_numpys_where_shapes_broadcast(backend: ModuleType) -> None:
    cases = [
        (shape, wanted, axis)
        for shape in small_shapes(rank=2, most=3)
        for wanted in small_shapes(rank=2, most=3)
        for axis in range(-len(shape), len(shape))
        if shape and len(wanted) == len(shape)
    ]
    for shape, wanted, axis in some(backend, cases, 25):
        x = counted(shape)
        n = max(shape[axis], 1)
        k = np.random.default_rng(3).integers(-n, n, wanted)
        check_same(
            lambda x=x, k=k, axis=axis: backend.take_along_axis(
                array(backend, x), array(backend, k), axis=axis
            ),
            lambda x=x, k=k, axis=axis: oracle(x, k, axis),
            what=(shape, wanted, axis),
        )


def oracle(x: np.ndarray, k: np.ndarray, axis: int) -> np.ndarray:
    """Take along an axis as the standard says: the other axes broadcast."""
    left, right = list(x.shape), list(k.shape)
    left[axis] = right[axis] = 1
    joint = list(np.broadcast_shapes(tuple(left), tuple(right)))
    left[:] = right[:] = joint
    left[axis], right[axis] = x.shape[axis], k.shape[axis]
    if k.size and not x.shape[axis]:
        raise IndexError
    k = np.broadcast_to(k, right)
    return np.take_along_axis(np.broadcast_to(x, left), k, axis=axis)


def test_the_last_axis_is_the_default(backend: ModuleType) -> None:
    x, k = counted((2, 3)), np.array([[0, 2], [1, -1]])
    check_equal(
        backend.take_along_axis(array(backend, x), array(backend, k)),
        np.take_along_axis(x, k, axis=-1),
    )


def test_indices_out_of_range_name_the_worst(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3)))
    for picks, worst in (([0, 3], 3), ([-4, 1], -4)):
        k = array(backend, np.array(picks))
        with pytest.raises(IndexError, match=f"index {worst} is out of range for axis 1"):
            backend.take(x, k, axis=1)
        rows = array(backend, np.array([picks, picks]))
        with pytest.raises(IndexError, match=f"index {worst} is out of range for axis 1"):
            backend.take_along_axis(x, rows)
    with pytest.raises(IndexError, match="extent 0"):
        backend.take(array(backend, np.ones(0)), array(backend, np.array([0])))


def test_what_is_no_index(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3)))
    k = array(backend, np.array([0]))
    with pytest.raises(ValueError, match="take: expected an axis"):
        backend.take(x, k)
    with pytest.raises(TypeError, match="expected integer indices"):
        backend.take(x, array(backend, np.array([True, False])), axis=0)
    with pytest.raises(IndexError, match="out of range"):
        backend.take(x, k, axis=2)
    with pytest.raises(ValueError, match="as many axes"):
        backend.take_along_axis(x, k)


def test_indices_may_have_any_number_of_axes_beyond_the_standard(backend: ModuleType) -> None:
    x, k = counted((2, 3)), np.array([[0, 2], [1, 1]])
    ours = array(backend, x), array(backend, k)
    check_equal(backend.take(*ours, axis=1), np.take(x, k, axis=1))
    with strict(), pytest.raises(ValueError, match="one axis"):
        backend.take(*ours, axis=1)


def test_a_traced_index_out_of_range_takes_the_nearest_position(jax_backend: ModuleType) -> None:
    jax = import_module("jax")
    x = jax_backend.asarray(np.arange(3.0))
    k = jax_backend.asarray(np.array([-5, -1, 0, 7]))
    for function in (jax_backend.take, jax_backend.take_along_axis):
        check_equal(jax.jit(lambda x, k, f=function: f(x, k))(x, k), np.array([0.0, 2.0, 0.0, 2.0]))


def test_unknown_extents_of_both() -> None:
    x = abstract.empty((Dimension(2, 4), 3))
    k = abstract.empty((Dimension(0, 7),), dtype=np.dtype("int64"))
    assert abstract.take(x, k, axis=1).dims == (Dimension(2, 4), Dimension(0, 7))
    rows = abstract.empty((1, Dimension(0, 7)), dtype=np.dtype("int64"))
    assert abstract.take_along_axis(x, rows).dims == (Dimension(2, 4), Dimension(0, 7))
