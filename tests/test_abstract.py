"""Arrays without data: their shapes and dtypes are those that the call with data has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import strata_api
from examples import EXAMPLES, Example
from oracle import host, is_numpy
from strata_api import Array, Dimension

STANDARD = json.loads((Path(__file__).parent / "data" / "standard.json").read_text())
DATA_DEPENDENT = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}


def parts(result: Any) -> list[Any]:
    """Return the arrays of a result, or what it is instead."""
    return list(result) if isinstance(result, tuple | list) else [result]


def unknown(a: Any, dims: tuple[Any, ...]) -> Array:
    """Return an array without data, of these extents and the dtype of ``a``."""
    x: Array = strata_api.abstract.empty(dims, dtype=a.dtype)
    return x


def inferred(example: Example, inputs: list[Array]) -> list[Any]:
    return parts(example.call(strata_api.abstract, *inputs))


def check_inside(have: Any, want: Any, what: object) -> None:
    """Check that the extents of an inferred array contain those of the real one."""
    assert type(have) is Array, what
    assert have.dtype == want.dtype, what
    assert have.ndim == want.ndim, f"{what}: inferred {have.dims}, got {want.shape}"
    for extent, n in zip(have.dims, want.shape, strict=True):
        assert Dimension(extent).contains(n), f"{what}: inferred {have.dims}, got {want.shape}"


def test_every_function_has_an_example() -> None:
    names = {
        *STANDARD["main"],
        *[f"{space}.{name}" for space in ("linalg", "fft") for name in STANDARD[space]],
    }
    assert names == {example.name for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_inferred_shape_and_dtype_are_the_real_ones(
    numpy_backend: ModuleType, example: Example
) -> None:
    real = parts(example.run(numpy_backend))
    found = inferred(example, [unknown(a, a.shape) for a in example.inputs])
    assert len(found) == len(real)
    for have, want in zip(found, real, strict=True):
        if not isinstance(want, Array):
            assert have == want
        elif example.name in DATA_DEPENDENT or example.note == "counts":
            check_inside(have, want, example)
        else:
            assert (have.dims, have.dtype) == (want.dims, want.dtype)
            assert all(type(n) is int for n in have.dims), "a known extent is an int"


def widened(example: Example) -> Iterator[list[Array]]:
    """Yield the operands with one extent unknown, for each extent and some intervals around it."""
    for k, a in enumerate(example.inputs):
        for axis, n in enumerate(a.shape):
            if k == 0 and axis in example.counted:
                continue
            for unsure in (Dimension(n, n + 2), Dimension(max(n - 1, 0), n), Dimension()):
                dims = [b.shape for b in example.inputs]
                dims[k] = (*a.shape[:axis], unsure, *a.shape[axis + 1 :])
                yield [unknown(b, d) for b, d in zip(example.inputs, dims, strict=True)]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.inputs], ids=str)
def test_what_is_inferred_of_an_unknown_extent_contains_the_real_shape(
    numpy_backend: ModuleType, example: Example
) -> None:
    real = parts(example.run(numpy_backend))
    for inputs in widened(example):
        what = f"{example} of {[x.dims for x in inputs]}"
        try:
            found = inferred(example, inputs)
        except Exception as error:
            raise AssertionError(f"{what}: it can succeed, but raised {error!r}") from error
        assert len(found) == len(real), what
        for have, want in zip(found, real, strict=True):
            if isinstance(want, Array):
                check_inside(have, want, what)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.inputs], ids=str)
def test_an_extent_of_everything_is_enough(numpy_backend: ModuleType, example: Example) -> None:
    if example.counted:
        pytest.skip("how many results there are must be known")
    real = parts(example.run(numpy_backend))
    inputs = [unknown(a, tuple(Dimension() for _ in a.shape)) for a in example.inputs]
    for have, want in zip(inferred(example, inputs), real, strict=True):
        if isinstance(want, Array):
            check_inside(have, want, example)


# -- views and fresh arrays, the same on every backend --------------------------------------------


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.inputs], ids=str)
def test_a_result_is_a_view_or_fresh_as_the_table_says(
    backend: ModuleType, example: Example
) -> None:
    for xp in (backend, strata_api.abstract):
        if xp is strata_api.abstract:
            operands = [unknown(a, a.shape) for a in example.inputs]
        else:
            operands = [xp.asarray(a, copy=True) for a in example.inputs]
        if xp is strata_api.abstract and example.name == "from_dlpack":
            continue  # there is no memory to share
        for result in parts(example.call(xp, *operands)):
            if isinstance(result, Array):
                shares = any(result._storage is x._storage for x in operands)
                assert shares == example.is_view, f"on {xp.__name__}"


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_fresh_result_is_row_major_and_nobody_elses_memory(
    numpy_backend: ModuleType, example: Example
) -> None:
    operands = [numpy_backend.asarray(a, copy=True) for a in example.inputs]
    for result in parts(example.call(numpy_backend, *operands)):
        if isinstance(result, Array) and not example.is_view:
            buffer = np.asarray(result)
            assert buffer.flags.c_contiguous
            assert buffer.flags.writeable
            assert not any(np.shares_memory(buffer, np.asarray(x)) for x in operands)


def test_no_function_changes_its_operands(backend: ModuleType) -> None:
    if not is_numpy(backend):
        pytest.skip("JAX's own arrays never change")
    for example in EXAMPLES:
        operands = [backend.asarray(a, copy=True) for a in example.inputs]
        example.call(backend, *operands)
        for x, a in zip(operands, example.inputs, strict=True):
            np.testing.assert_array_equal(host(x), a, err_msg=str(example))


# -- what has no values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask", [bool, int, float, complex, list, np.asarray, repr], ids=lambda f: f.__name__
)
def test_asking_an_abstract_array_for_values_is_a_type_error_but_showing_it_is_not(
    ask: Any,
) -> None:
    xp = strata_api.abstract
    x = xp.zeros(()) if ask in (bool, int, float, complex) else xp.zeros((Dimension(), 2))
    if ask is repr:
        assert "abstract" in ask(x)
        return
    with pytest.raises(TypeError):
        ask(x)


def test_what_cannot_succeed_for_any_length_raises_what_the_real_call_raises() -> None:
    xp = strata_api.abstract
    x = xp.zeros((Dimension(2, 4), 3))
    for call, error in (
        (lambda: x + xp.zeros((5, 3)), ValueError),
        (lambda: xp.reshape(x, (7,)), ValueError),
        (lambda: xp.squeeze(x, 0), ValueError),
        (lambda: x[4], IndexError),
        (lambda: x[-5], IndexError),
        (lambda: xp.sum(x, axis=2), IndexError),
        (lambda: x @ xp.zeros((2, 2)), ValueError),
        (lambda: xp.concat([x, xp.zeros((2, 2))]), ValueError),
        (lambda: xp.linalg.inv(xp.zeros((Dimension(4, 5), 3))), ValueError),
        (lambda: x.__setitem__(Ellipsis, xp.zeros((5, 3))), ValueError),
        (lambda: xp.max(xp.zeros((Dimension(), 0)), axis=1), ValueError),
    ):
        with pytest.raises(error):
            call()


def test_what_may_succeed_passes() -> None:
    xp = strata_api.abstract
    x = xp.zeros((Dimension(2, 4), 3))
    assert (x + xp.zeros((4, 3))).dims == (4, 3)
    assert xp.reshape(x, (9,)).dims == (9,)
    assert xp.reshape(x, (-1,)).dims == (Dimension(6, 12),)
    assert x[3].dims == (3,)
    assert x[1:].dims == (Dimension(1, 3), 3)
    assert x[x > 0].dims == (Dimension(0, 12),)
    assert xp.nonzero(x)[0].dims == (Dimension(0, 12),)
    assert xp.unique_values(x).dims == (Dimension(1, 12),)
    assert xp.concat([x, x]).dims == (Dimension(4, 8), 3)
    assert (x + x[::-1]).dims == x.dims
    assert xp.reshape(x, (x.dims[0], -1)).dims == x.dims
    assert xp.max(xp.zeros((Dimension(0, 3),))).dims == ()
