"""infer: the shapes of a program, without its data."""

from __future__ import annotations

import copy
import pickle
import time
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import strata_api as xp
from oracle import host
from strata_api import Dimension, PartialShape, infer


class Pair(NamedTuple):
    first: Any
    second: Any


def text(tree: Any) -> str:
    return str(tree)


# -- what is given --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        (("float32", "[1..8, 3, ?, ?]"), "float32[1..8, 3, ?, ?]"),
        (("float32", "[batch:1..8, height, 3]"), "float32[batch:1..8, height, 3]"),
        ((xp.int16, (2, 3)), "int16[2, 3]"),
        ((np.float32, PartialShape([2, "n:1.."])), "float32[2, n:1..]"),
        (("bool", [Dimension(1, 4), 2]), "bool[1..4, 2]"),
        (("complex64", ()), "complex64[]"),
        (np.ones((2, 3), dtype=np.int8), "int8[2, 3]"),
    ],
    ids=str,
)
def test_a_spec_is_what_says_dtype_and_shape(spec: Any, want: str) -> None:
    result = infer(lambda x: x, spec)
    assert str(result) == want
    assert infer(lambda x: x, result) == result, "a result is a spec"
    assert result.dtype == np.dtype(result.dtype)
    assert type(result.shape) is PartialShape


def test_an_array_of_any_backend_is_a_spec(backend: ModuleType) -> None:
    x = backend.ones((2, 3), dtype="int16")
    result = infer(lambda a: a[:, 1:] + 1, x)
    assert str(result) == "int16[2, 2]"
    assert np.array_equal(host(x), np.ones((2, 3)))


def test_a_result_is_a_value() -> None:
    a, b = infer(lambda x: (x, x[:, 0]), ("float32", "[n:1..8, 3]"))
    assert a == infer(lambda x: +x, a)
    assert a != b
    assert len({a, infer(lambda x: +x, a), b}) == 2
    assert repr(a) == 'ArraySpec("float32", "[n:1..8, 3]")'
    for other in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert repr(other) == repr(a)
    with pytest.raises(AttributeError, match="never changes"):
        a.shape = b.shape
    with pytest.raises(AttributeError, match="never changes"):
        del a.dtype


def test_containers_go_in_and_come_out_as_they_are() -> None:
    def program(
        weights: dict[str, Any], pair: Pair, n: int, *, nothing: None = None
    ) -> dict[str, Any]:
        assert type(pair) is Pair
        return {
            "list": [pair.first @ weights["w"][0], n, None],
            "pair": Pair(pair.second.T, (weights["w"][1],)),
            "unique": xp.unique_counts(pair.second),
        }

    weights = {"w": [("float32", (3, 4)), ("float32", "[4]")]}
    result = infer(program, weights, Pair(("float32", "[n, 3]"), ("int8", "[2..3, 2]")), 7)
    assert text(result["list"][0]) == "float32[n, 4]"
    assert result["list"][1:] == [7, None]
    assert type(result["pair"]) is Pair
    assert text(result["pair"].first) == "int8[2, 2..3]"
    assert text(result["pair"].second[0]) == "float32[4]"
    assert type(result["unique"]).__name__ == "UniqueCountsResult"
    assert text(result["unique"].counts) == "int64[1..6]"


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        (("float32", "[1..8, %]"), ValueError, "position"),
        (("float32", "[5..2]"), ValueError, "5"),
        (("float31", "[2]"), TypeError, "float31"),
        (("float32", "[...]"), ValueError, "rank"),
        (PartialShape([2]), TypeError, "dtype"),
        (("float32", (-3,)), ValueError, "-3"),
    ],
    ids=str,
)
def test_what_is_no_spec_is_refused(spec: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        infer(lambda x: x, spec)


# -- names ----------------------------------------------------------------------------------------


def test_one_name_is_one_length_across_arguments() -> None:
    specs = ("float32", "[n:1..8, 3]"), [("float32", "[n:4.., 2]")]
    x, ys = infer(lambda x, ys: (x, ys), *specs)
    assert text(x) == "float32[n:4..8, 3]"
    assert text(ys[0]) == "float32[n:4..8, 2]"
    assert text(infer(lambda x, ys: xp.concat([x, ys[0]], axis=1), *specs)) == "float32[n:4..8, 5]"


def test_a_contradiction_between_arguments_is_reported_by_name() -> None:
    with pytest.raises(ValueError, match=r"'n' stands for 1\.\.8 and for 9\.\."):
        infer(lambda x, y: x, ("float32", "[n:1..8]"), {"y": ("int8", "[2, n:9..]")})


def test_a_name_goes_through_what_keeps_a_length() -> None:
    def program(x: Any, y: Any) -> Any:
        flat = xp.reshape(x, (x.dims[0], -1))
        assert flat.dims[1] == 6
        assert (y.dims[0] - x.dims[0]) == 0
        return [x + y[::-1, None, None], x[:], x * 1, flat, xp.reshape(flat, (-1, 2, 3))]

    for result in infer(program, ("float32", "[n:1..8, 2, 3]"), ("float32", "[n]")):
        assert result.shape[0].label == "n", result


# -- the program ----------------------------------------------------------------------------------


def test_code_that_writes_is_run_and_changes_nothing_outside() -> None:
    x = xp.asarray(np.zeros((4, 3)))

    def program(x: Any) -> Any:
        x[0] = 1
        x[1:] += x[:-1]
        x[x > 1] = 0
        xp.expand_dims(x, axis=0)[...] = 2
        return x

    assert text(infer(program, x)) == "float64[4, 3]"
    assert not host(x).any()
    with pytest.raises(ValueError, match="does not broadcast"):
        infer(lambda x: x.__setitem__(0, xp.zeros(2)), x)


def test_creation_follows_the_program_and_arrays_from_outside_are_lifted(
    backend: ModuleType,
) -> None:
    weights = backend.ones((3, 4), dtype="float32")

    def program(x: Any) -> Any:
        hidden = x @ weights + np.ones(4, dtype=np.float32)
        hidden[0] = weights[0]
        hidden += weights[:1]
        picked = x[:, backend.asarray([0, 2])]
        return hidden, xp.concat([xp.ones((1, 4), dtype="float32"), weights]), picked, weights

    hidden, joined, picked, same = infer(program, ("float32", "[n:1..8, 3]"))
    assert text(hidden) == "float32[n:1..8, 4]"
    assert text(joined) == "float32[4, 4]"
    assert text(picked) == "float32[n:1..8, 2]"
    assert text(same) == "float32[3, 4]"


def test_what_is_outside_cannot_be_written_with_what_has_no_value(backend: ModuleType) -> None:
    outside = backend.ones(3)
    for program in (
        lambda x: outside.__setitem__(slice(None), x),
        lambda x: outside.__iadd__(x),
    ):
        with pytest.raises(TypeError, match="abstract"):
            infer(program, ("float64", (3,)))
    assert np.array_equal(host(outside), np.ones(3))


def test_arrays_of_two_backends_stay_an_error_outside_of_a_program(jax_backend: ModuleType) -> None:
    x, y = jax_backend.ones(3), xp.asarray(np.ones(3))
    with pytest.raises(TypeError, match="jax and numpy; move"):
        x + y


@pytest.mark.usefixtures("no_leaked_tracers")
def test_jit_reads_an_ndarray_from_outside_anew_in_loops_too(jax_backend: ModuleType) -> None:
    outside = np.arange(3.0)
    program = xp.jit(lambda x: xp.fori_loop(0, 2, lambda i, y: y + outside, x))
    assert host(program(jax_backend.zeros(3))).tolist() == [0, 2, 4]
    outside[0] = np.nan
    outside[1] = -1
    assert np.array_equal(host(program(jax_backend.zeros(3))), [np.nan, -2, 4], equal_nan=True)


@pytest.mark.usefixtures("no_leaked_tracers")
def test_jit_lifts_arrays_of_numpy_too(jax_backend: ModuleType) -> None:
    outside = xp.asarray(np.arange(3), device="numpy")

    @xp.jit
    def program(x: Any) -> Any:
        x[1:] = outside[1:]
        x += outside
        return x * outside

    result = program(jax_backend.ones(3, dtype="int64"))
    assert result.device == jax_backend.ones(3).device
    assert host(result).tolist() == [0, 2, 8]
    outside[2] = 5
    assert host(program(jax_backend.ones(3, dtype="int64"))).tolist() == [0, 2, 50]


def test_a_jitted_function_is_inferred_as_it_is() -> None:
    program = xp.jit(lambda x: xp.sum(x, axis=0))
    assert text(infer(program, ("float32", "[1..8, 3]"))) == "float32[3]"


def test_loops_and_branches_of_the_namespace_are_inferred() -> None:
    def program(x: Any) -> Any:
        return xp.fori_loop(0, 3, lambda i, x: x + 1, x)

    assert text(infer(program, ("float32", "[1..8, 3]"))) == "float32[1..8, 3]"


# -- what goes wrong, and what to do instead ------------------------------------------------------


def test_arithmetic_on_an_unknown_extent_says_which_line_to_write() -> None:
    def program(x: Any) -> Any:
        return xp.zeros((x.shape[0] * 2, 3))

    with pytest.raises(TypeError) as caught:
        infer(program, ("float32", "[1..8, 3]"))
    (note,) = caught.value.__notes__
    assert note.endswith("Write: return xp.zeros((x.dims[0] * 2, 3))")


def test_a_none_that_reaches_a_function_says_so_too() -> None:
    with pytest.raises(TypeError) as caught:
        infer(lambda x: xp.zeros(x.shape), ("float32", "[1..8, 3]"))
    assert "x.dims" in caught.value.__notes__[0]


def test_another_error_has_no_note() -> None:
    with pytest.raises(TypeError) as caught:
        infer(lambda x: x + "1", ("float32", "[1..8, 3]"))
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize("ask", [bool, int, float, complex], ids=lambda ask: ask.__name__)
def test_asking_for_a_value_says_what_to_do_instead(ask: Any) -> None:
    with pytest.raises(TypeError, match="has no values: use where"):
        infer(lambda x: ask(xp.sum(x)), ("float32", "[1..8, 3]"))


def test_an_error_leaves_no_program_running() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        infer(lambda x, y: x + y, ("float32", "[2]"), ("float32", "[3..5]"))
    assert host(xp.ones(2)).tolist() == [1, 1]


# -- the report -----------------------------------------------------------------------------------


def test_the_report_has_the_lines_of_the_program_and_what_each_call_gives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def program(x: Any, w: Any) -> Any:
        hidden = xp.tanh(x @ w) + 1
        hidden[0] = 0
        return xp.unique_counts(hidden.T)

    infer(program, ("float32", "[n:1..8, 3]"), ("float32", (3, 4)), report=True)
    lines = capsys.readouterr().out.splitlines()
    first = program.__code__.co_firstlineno + 1
    assert lines == [
        f"test_infer.py:{first}: hidden = xp.tanh(x @ w) + 1",
        "    matmul(float32[n:1..8, 3], float32[3, 4]) -> float32[n:1..8, 4]",
        "    tanh(float32[n:1..8, 4]) -> float32[n:1..8, 4]",
        "    add(float32[n:1..8, 4]) -> float32[n:1..8, 4]",
        f"test_infer.py:{first + 1}: hidden[0] = 0",
        "    setitem(float32[n:1..8, 4])",
        f"test_infer.py:{first + 2}: return xp.unique_counts(hidden.T)",
        "    T(float32[n:1..8, 4]) -> float32[4, n:1..8]",
        "    unique_counts(float32[4, n:1..8]) -> float32[1..32], int64[1..32]",
    ]


def test_the_report_comes_up_to_an_error_and_not_unasked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def program(x: Any) -> Any:
        y = xp.exp(x)
        return y + xp.zeros(5)

    with pytest.raises(ValueError, match="broadcast"):
        infer(program, ("float32", "[2..3]"), report=True)
    assert "exp(float32[2..3]) -> float32[2..3]" in capsys.readouterr().out
    with pytest.raises(ValueError, match="broadcast"):
        infer(program, ("float32", "[2..3]"))
    assert capsys.readouterr().out == ""


# -- time -----------------------------------------------------------------------------------------


def test_two_hundred_operations_take_no_more_than_the_budget() -> None:
    def program(x: Any, w: Any) -> Any:
        for _ in range(50):
            hidden = xp.tanh(x @ w) + 1.0
            hidden[0, :] = 0
            x = hidden
        return x

    def once() -> float:
        begin = time.perf_counter()
        infer(program, ("float32", "[n:1..8, m:1..16]"), ("float32", "[m, m]"))
        return time.perf_counter() - begin

    assert min(once() for _ in range(10)) < 0.020
