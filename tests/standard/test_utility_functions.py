"""Utility functions against NumPy."""

from __future__ import annotations

import itertools
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strata_api
from oracle import array, check_equal, check_same, some
from strata_api import Dimension, abstract
from strategies import counted, shapes, small_shapes

DTYPES = ["bool", "int8", "uint64", "float32", "float64", "complex64", "complex128"]


def axes_of(rank: int) -> list[int | tuple[int, ...] | None]:
    """Return the axes that a reduction may name, some out of range or named twice."""
    positions = range(-rank - 1, rank + 1)
    return [None, (), *positions, *itertools.product(positions, repeat=2)]


def test_all_and_any_are_numpys_along_all_axes(backend: ModuleType) -> None:
    cases = [
        (s, axis, k) for s in small_shapes() for axis in axes_of(len(s)) for k in (True, False)
    ]
    for shape, axis, keepdims in some(backend, cases, 25):
        a = counted(shape) % 3 != 0
        x = array(backend, a)
        for name in ("all", "any"):
            check_same(
                lambda: getattr(backend, name)(x, axis=axis, keepdims=keepdims),  # noqa: B023
                lambda: getattr(np, name)(a, axis=axis, keepdims=keepdims),  # noqa: B023
                what=(name, shape, axis),
            )


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_but_zero_is_true(backend: ModuleType, dtype: str) -> None:
    values = [0, 1] if dtype in ("bool", "uint64") else [0, 1, -1]
    if dtype[0] in "fc":
        values = [0.0, -0.0, 0.5, float("nan"), float("inf"), 1e-40]
    if dtype[0] == "c":
        values = [*values, 1j, complex(0, float("nan"))]
    for value in values[: None if backend.__name__.endswith("numpy") else 5]:
        x = backend.asarray([value], dtype=getattr(backend, dtype))
        truth = bool(np.asarray([value]).astype(dtype).any())
        assert (bool(backend.all(x)), bool(backend.any(x))) == (truth, truth), value


def test_all_and_any_of_what_is_half_a_float(backend: ModuleType) -> None:
    for dtype in (strata_api.float16, strata_api.bfloat16):
        x = backend.asarray([0.0, 2.0], dtype=dtype)
        assert (bool(backend.all(x)), bool(backend.any(x))) == (False, True)


@given(shapes(max_rank=3).filter(len), st.integers(1, 3), st.data())
def test_diff_is_numpys_on_numpy(shape: tuple[int, ...], n: int, data: st.DataObject) -> None:
    xp = strata_api.numpy
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    a = counted(shape, np.float64) ** 2
    ends = {}
    for name in ("prepend", "append"):
        count = data.draw(st.none() | st.integers(0, 2))
        if count is not None and -len(shape) <= axis < len(shape):
            ends[name] = counted((*shape[:axis], count, *shape[axis:][1:]), np.float64)
    arrays = {name: array(xp, value) for name, value in ends.items()}
    check_same(
        lambda: xp.diff(array(xp, a), axis=axis, n=n, **arrays),
        lambda: np.diff(a, n=n, axis=axis, **ends),
        what=(shape, axis, n),
    )


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_diff_keeps_the_dtype_and_wraps(backend: ModuleType, dtype: str) -> None:
    a = np.array([3, 1, 7, 0]).astype(dtype)
    check_equal(backend.diff(array(backend, a)), np.diff(a))
    check_equal(backend.diff(array(backend, a), n=3), np.diff(a, n=3))
    check_equal(backend.diff(array(backend, a), n=10**9), a[:0])


def test_no_difference_at_all_leaves_what_is_joined(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3)))
    check_equal(backend.diff(x, n=0), counted((2, 3)))
    check_equal(backend.diff(x, n=0, append=x), np.tile(counted((2, 3)), (1, 2)))
    with pytest.raises(IndexError):
        backend.diff(x, n=0, axis=2)


def test_diff_takes_numbers_at_the_ends(backend: ModuleType) -> None:
    a = counted((2, 3))
    x = array(backend, a)
    check_equal(
        backend.diff(x, prepend=5, append=x[0, 0, ...]), np.diff(a, prepend=5, append=a[0, 0])
    )
    check_equal(backend.diff(x, prepend=0.5, axis=0), np.diff(a, prepend=0.5, axis=0))


def test_diff_refuses_what_has_no_differences(backend: ModuleType) -> None:
    with pytest.raises(TypeError, match="numeric"):
        backend.diff(backend.asarray([True, False]))
    with pytest.raises(ValueError, match="-1"):
        backend.diff(backend.ones(3), n=-1)
    with pytest.raises(ValueError, match="join"):
        backend.diff(backend.ones((2, 3)), prepend=backend.ones((3, 1)))
    with pytest.raises(IndexError):
        backend.diff(backend.ones(()))


@given(st.integers(0, 5), st.integers(0, 4), st.integers(0, 7))
def test_diff_of_an_interval_holds_every_length_it_can_have(low: int, width: int, n: int) -> None:
    unknown = Dimension(low, low + width)
    (have,) = abstract.diff(abstract.ones(unknown), n=n).dims
    for length in range(low, low + width + 1):
        assert Dimension(have).contains(np.diff(np.ones(length), n=n).size)
    (joined,) = abstract.diff(abstract.ones(unknown), prepend=0.0, append=0.0).dims
    assert Dimension(joined) == Dimension(low + 1, low + width + 1)
