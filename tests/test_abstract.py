"""Arrays without data: their shapes and dtypes are those that the call with data has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

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


# -- on small intervals, what is inferred is the hull of what there is -----------------------------

# Where the inferred extents only enclose the real ones, and why.
ENCLOSED = {
    "repeat counts": "the counts are data, and without a bound",
    "reshape to (-1, 3)": "of two unknown extents, which products are multiples of 3 is not kept",
    "reshape to (3, -1)": "as before",
}
ENDS: tuple[Callable[[int], Dimension], ...] = (
    lambda n: Dimension(n, n + 2),
    lambda n: Dimension(max(n - 1, 0), n + 1),
    lambda n: Dimension(n + 1, n + 2),
    lambda n: Dimension(0, 2),
)
_reshaped = [
    Example("reshape", lambda xp, x: xp.reshape(x, (2, -1)), (np.ones((2, 3)),), "to (2, -1)"),
    Example("reshape", lambda xp, x: xp.reshape(x, (-1, 3)), (np.ones((2, 3)),), "to (-1, 3)"),
    Example("reshape", lambda xp, x: xp.reshape(x, (3, -1)), (np.ones((3, 2)),), "to (3, -1)"),
]
_keys: dict[str, Any] = {
    "x[1:]": np.s_[1:],
    "x[:2]": np.s_[:2],
    "x[::2]": np.s_[::2],
    "x[-2:]": np.s_[-2:],
    "x[::-1]": np.s_[::-1],
    "x[-1:0:-2]": np.s_[-1:0:-2],
    "x[1:-1]": np.s_[1:-1],
    "x[:, None, 0]": np.s_[:, None, 0],
    "x[..., 1:3]": np.s_[..., 1:3],
    "x[[0, 1, 0]]": [0, 1, 0],
}
_keyed = [
    Example("getitem", lambda xp, x, key=key: x[key], (np.ones((3, 4)),), text)
    for text, key in _keys.items()
]
_masked = [
    Example("getitem", lambda xp, x, m: x[m], (np.ones((2, 2)), np.ones((2, 2)) > 0), "mask"),
    Example("getitem", lambda xp, x, m: x[:, m], (np.ones((2, 3)), np.ones(3) > 0), "column mask"),
]
SMALL = [*[e for e in EXAMPLES if e.inputs], *_reshaped, *_keyed, *_masked]


class Outcomes(NamedTuple):
    """What a call gives for every member of some intervals."""

    shapes: list[list[Any]]  # of the results of one member; None for a result that is no array
    errors: set[type[Exception]]


def spots(example: Example) -> Iterator[tuple[int, int]]:
    """Yield operand and axis of each extent that may be unknown."""
    for k, a in enumerate(example.inputs):
        for axis in range(a.ndim):
            if k or axis not in example.counted:
                yield k, axis


def unsure(example: Example) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the operands' extents, with one or two of them, and then all, as small intervals."""
    every = [*spots(example)]
    for ends in ENDS:
        for chosen in {*combinations(every, 1), *combinations(every, 2), tuple(every[:3])}:
            yield [
                tuple([ends(n) if (k, axis) in chosen else n for axis, n in enumerate(a.shape)])
                for k, a in enumerate(example.inputs)
            ]


def members(dims: list[tuple[Any, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Yield every choice of lengths out of the intervals."""
    lengths = [
        range(n.min_length, n.max_length + 1) if isinstance(n, Dimension) else (n,)
        for shape in dims
        for n in shape
    ]
    for chosen in product(*lengths):
        rest = iter(chosen)
        yield [tuple([next(rest) for _ in shape]) for shape in dims]


def of_shape(example: Example, a: Any, shape: tuple[int, ...]) -> Any:
    """Return an operand of another shape, of the same values; matrices stay well conditioned."""
    b = np.resize(a, shape) if a.size else np.zeros(shape)
    if b.ndim > 1 and example.name.startswith("linalg.") and b.dtype.kind in "fc":
        b = b + 10 * np.eye(*shape[-2:])
    return b.astype(a.dtype)


def fillings(example: Example, k: int, b: Any) -> Iterator[Any]:
    """Yield operands of one shape, as different as a shape that depends on the data needs."""
    yield b
    picks = (example.name.startswith("take") or example.note.endswith(("counts", "mask"))) and k
    if example.name == "nonzero" or picks:
        yield np.zeros_like(b)
    if example.name == "nonzero" or example.note == "counts":
        yield np.ones_like(b)
    if example.name.startswith("unique"):
        yield np.ones_like(b)
        yield np.arange(b.size, dtype=b.dtype).reshape(b.shape)


def outcomes(xp: ModuleType, example: Example, dims: list[tuple[Any, ...]]) -> Outcomes:
    result = Outcomes([], set())
    for shapes in members(dims):
        given = [of_shape(example, a, s) for a, s in zip(example.inputs, shapes, strict=True)]
        for operands in product(*[fillings(example, k, b) for k, b in enumerate(given)]):
            try:
                found = example.call(xp, *[xp.asarray(b, copy=True) for b in operands])
            except Exception as error:
                result.errors.add(type(error))
            else:
                result.shapes.append(
                    [x.shape if isinstance(x, Array) else None for x in parts(found)]
                )
    return result


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # means and logarithms of what is there
@pytest.mark.parametrize("example", SMALL, ids=str)
def test_what_is_inferred_on_small_intervals_is_the_hull_of_the_real_shapes(
    numpy_backend: ModuleType, example: Example
) -> None:
    for dims in unsure(example):
        what = f"{example} of {dims}"
        real = outcomes(numpy_backend, example, dims)
        operands = [unknown(a, d) for a, d in zip(example.inputs, dims, strict=True)]
        if not real.shapes:
            with pytest.raises(tuple(real.errors)):
                inferred(example, operands)
            continue
        for have, *wants in zip(inferred(example, operands), *real.shapes, strict=True):
            if wants[0] is None:
                continue
            assert {len(want) for want in wants} == {have.ndim}, what
            for extent, *lengths in zip(have.dims, *wants, strict=True):
                hull = Dimension(min(lengths), max(lengths))
                if str(example) in ENCLOSED:
                    assert Dimension(extent).relaxes(hull), f"{what}: {extent}, really {hull}"
                else:
                    assert extent == hull, f"{what}: {extent}, really {hull}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ENCLOSED)
def test_what_only_encloses_is_looser_somewhere(numpy_backend: ModuleType, name: str) -> None:
    (example,) = [e for e in SMALL if str(e) == name]
    for dims in unsure(example):
        real = outcomes(numpy_backend, example, dims)
        if not real.shapes:
            continue
        operands = [unknown(a, d) for a, d in zip(example.inputs, dims, strict=True)]
        for have, *wants in zip(inferred(example, operands), *real.shapes, strict=True):
            for extent, *lengths in zip(have.dims, *wants, strict=True):
                if extent != Dimension(min(lengths), max(lengths)):
                    return
    raise AssertionError(f"{name} is tight everywhere: take it off the list")


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
