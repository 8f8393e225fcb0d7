"""Random programs of views and writes: NumPy is the oracle for all that can be seen of them.

A program is drawn line by line while NumPy runs it, and is then run by us: on NumPy, on JAX, and on
JAX compiled as one. Values, shapes, dtypes, aliasing and the types of exceptions must agree. What
differs from NumPy on purpose is listed in docs/views.md and tested at the end, case by case.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strata_api
from oracle import array, check_equal, host, kinds, outcome
from strata_api import Array, jit, views
from strategies import basic_keys, counted, keys, moves, shapes

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
CI = bool(os.environ.get("CI")) or os.environ.get("HYPOTHESIS_PROFILE") == "ci"
NUMPY_PROGRAMS = 100_000 if DEEP else 2_000 if CI else 300
JAX_PROGRAMS = 5_000 if DEEP else 150 if CI else 15

DTYPES = (np.int64, np.int16, np.float64)
OPERATORS = ("iadd", "isub", "imul", "ifloordiv", "imod", "iand", "ior", "ixor", "itruediv")
DIVISIONS = ("ifloordiv", "imod", "itruediv")


class Line(NamedTuple):
    """One line of a program: what it says, and how each side does it, given all arrays so far.

    What it returns is a new array, or ``None``.
    """

    text: str
    numpys: Callable[[list[Any]], Any]
    ours: Callable[[ModuleType, list[Any]], Any]

    def __repr__(self) -> str:
        return self.text


class Program(NamedTuple):
    """Lines, the arrays that they begin with, and what NumPy made of them."""

    bases: list[Any]
    lines: list[Line]
    errors: list[frozenset[str] | None]  # what each line raised
    arrays: list[Any]  # all at the end
    groups: list[int]  # arrays of one number share memory

    def __repr__(self) -> str:
        bases = [f"{a.dtype}{a.shape}" for a in self.bases]
        return "\n".join([f"{bases}", *map(str, self.lines)])


# -- drawing --------------------------------------------------------------------------------------


@st.composite
def writing_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Draw a key to write at: of any kind."""
    if draw(st.booleans()):
        return draw(basic_keys(shape))
    return draw(keys(shape))


@st.composite
def sources(draw: st.DrawFn, target: Any, shape: tuple[int, ...], count: int) -> Any:
    """Draw what to write: a number, an array that fits, or does not, or the number of an array."""
    kind = draw(st.sampled_from(["number", "number", "array", "another", "misfit"]))
    floating = target.dtype.kind == "f"
    if kind == "number":
        numbers = [-3, 0, 2, 5, True] + ([0.5, -2.0] if floating else [70_000])
        return draw(st.sampled_from(numbers))
    if kind == "another":
        return ("array", draw(st.integers(0, count - 1)))
    if kind == "misfit":
        shape = (*shape, 2)
    own = tuple(1 if draw(st.integers(0, 4)) == 0 else n for n in shape)
    own = own[draw(st.integers(0, len(own))) :]
    return counted(own, dtype=target.dtype, start=1)


def keeps_kind(source: Any, target: Any, arrays: list[Any]) -> bool:
    """Tell whether NumPy's assignment and ours agree: it would drop fractions, ours refuses."""
    if isinstance(source, tuple):
        source = arrays[source[1]]
    return np.asarray(source).dtype.kind != "f" or target.dtype.kind == "f"


def is_one_element(source: Any, arrays: list[Any]) -> bool:
    """Tell whether a source is one element with axes, which some versions of NumPy refuse to put
    where integers alone point."""
    source = np.asarray(_numpys_source(source, arrays))
    return source.ndim > 0 and source.size == 1


def is_mask(key: object) -> bool:
    """Tell whether a key is one mask, for which NumPy has a path of its own that refuses sources of
    more than one axis, also where all but the last are of extent 1."""
    items = [item for item in (key if isinstance(key, tuple) else (key,)) if item is not Ellipsis]
    return len(items) == 1 and np.asarray(items[0]).dtype == np.bool_


def _numpys_source(source: Any, arrays: list[Any]) -> Any:
    """Return what NumPy writes: a copy, since at masks it reads what it has just written."""
    return arrays[source[1]].copy() if isinstance(source, tuple) else source


def _our_source(xp: ModuleType, source: Any, arrays: list[Any]) -> Any:
    if isinstance(source, tuple):
        return arrays[source[1]]
    return array(xp, source) if isinstance(source, np.ndarray) else source


def viewed(k: int, move: Any) -> Line:
    return Line(
        f"new = a{k} {move}",
        lambda a: move.numpys(a[k]),
        lambda xp, a: move.ours(xp, a[k]),
    )


def written(k: int, key: Any, source: Any) -> Line:
    return Line(
        f"a{k}[{key!r}] = {source!r}",
        lambda a: a[k].__setitem__(key, _numpys_source(source, a)),
        lambda xp, a: a[k].__setitem__(key, _our_source(xp, source, a)),
    )


def updated(k: int, name: str, source: Any) -> Line:
    do = getattr(operator, name)
    return Line(
        f"{name}(a{k}, {source!r})",
        lambda a: (do(a[k], _numpys_source(source, a)), None)[1],
        lambda xp, a: (do(a[k], _our_source(xp, source, a)), None)[1],
    )


def updated_at(k: int, key: Any, name: str, source: Any) -> Line:
    do = getattr(operator, name)
    return Line(
        f"{name}(a{k}[{key!r}], {source!r})",
        lambda a: a[k].__setitem__(key, do(a[k][key], _numpys_source(source, a))),
        lambda xp, a: a[k].__setitem__(key, do(a[k][key], _our_source(xp, source, a))),
    )


def computed(k: int, other: int, name: str) -> Line:
    do = getattr(operator, name)
    return Line(
        f"new = {name}(a{k}, a{other})",
        lambda a: np.array(do(a[k], a[other]), order="C"),  # fresh arrays are row-major
        lambda xp, a: do(a[k], a[other]),
    )


def gathered(k: int, key: Any) -> Line:
    return Line(
        f"new = copy of a{k}[{key!r}]",
        lambda a: np.array(a[k][key], order="C"),
        lambda xp, a: xp.asarray(a[k][key], copy=True),
    )


def swapped(k: int, i: tuple[int, ...], j: tuple[int, ...]) -> Line:
    def swap(a: Any) -> None:
        a[i], a[j] = a[j], a[i]

    return Line(f"swap a{k} at {i} and {j}", lambda a: swap(a[k]), lambda xp, a: swap(a[k]))


def assigned(k: int, other: int) -> Line:
    def assign(target: Any, source: Any) -> None:
        if target.shape != source.shape:
            raise ValueError("another shape")
        target[...] = source

    return Line(
        f"views.assign(a{k}, a{other})",
        lambda a: assign(a[k], a[other]),
        lambda xp, a: (views.assign(a[k], a[other]), None)[1],
    )


@st.composite
def lines(draw: st.DrawFn, arrays: list[Any]) -> Line:
    """Draw one line for the arrays that there are."""
    k = draw(st.integers(0, len(arrays) - 1))
    other = draw(st.integers(0, len(arrays) - 1))
    a = arrays[k]
    kind = draw(
        st.sampled_from(
            ["view", "view", "view", "write", "write", "update", "update at", "new", "assign"]
        )
    )
    if kind == "view" and a.ndim < 5:
        return viewed(k, draw(moves(a.shape, writable=draw(st.integers(0, 7)) > 0)))
    if kind in ("write", "update at"):
        key = draw(writing_keys(a.shape))
        part = outcome(lambda: a[key])
        shape = () if isinstance(part, Exception) else np.shape(part)
        source = draw(sources(a, shape, len(arrays)))
        if part.__class__ is not np.ndarray and is_one_element(source, arrays):
            source = 1
        axes = np.ndim(_numpys_source(source, arrays))
        if is_mask(key) and axes > 1:
            source = 1
        if 0 in shape and axes > len(shape):  # for nothing, NumPy takes what does not broadcast
            source = 1
        is_element = part.__class__ is not np.ndarray  # of NumPy a scalar, which never changes
        if kind == "update at" and (not is_element or isinstance(source, int)):
            return updated_at(k, key, draw(st.sampled_from(OPERATORS[:3])), source)
        return written(k, key, source if keeps_kind(source, a, arrays) else 1)
    if kind == "new":
        if a.size and a.ndim and draw(st.booleans()):
            i, j = (tuple(draw(st.integers(-n, n - 1)) for n in a.shape) for _ in range(2))
            return swapped(k, i, j)
        if draw(st.booleans()):
            return computed(k, other, draw(st.sampled_from(["add", "sub", "mul"])))
        key = draw(writing_keys(a.shape))
        return gathered(k, key)
    if kind == "assign":
        fits = keeps_kind(("array", other), a, arrays)
        return assigned(k, other if fits else k)
    source = draw(sources(a, a.shape, len(arrays)))
    name = draw(st.sampled_from(OPERATORS))
    if name in DIVISIONS and (a.dtype.kind == "f" or isinstance(source, tuple)):
        name, source = "itruediv", draw(st.sampled_from([2, -0.5]))  # nothing that is not finite
    return updated(k, name, source)


@st.composite
def programs(draw: st.DrawFn, shape: st.SearchStrategy[tuple[int, ...]], length: int) -> Program:
    """Draw a program while NumPy runs it."""
    bases = [
        counted(draw(shape), dtype=draw(st.sampled_from(DTYPES)), start=start)
        for start in range(0, draw(st.sampled_from([10, 10, 20])), 10)
    ]
    arrays = [a.copy() for a in bases]
    groups = list(range(len(arrays)))
    program = Program(bases, [], [], arrays, groups)
    for _ in range(draw(st.integers(1, length))):
        line = draw(lines(arrays))
        with np.errstate(all="ignore"):
            result = outcome(lambda: line.numpys(arrays))  # noqa: B023
        program.lines.append(line)
        program.errors.append(kinds(result) if isinstance(result, Exception) else None)
        if isinstance(result, np.ndarray):
            of = [k for k, a in enumerate(arrays) if np.may_share_memory(a, result)]
            groups.append(groups[of[0]] if of else max(groups) + 1)
            arrays.append(result)
    return program


# -- running --------------------------------------------------------------------------------------


def run(xp: ModuleType, program: Program, arrays: list[Any]) -> tuple[list[Any], list[Any]]:
    """Run the lines on our arrays; return all arrays and what each line raised."""
    errors: list[Any] = []
    for line in program.lines:
        result = outcome(lambda: line.ours(xp, arrays))  # noqa: B023
        errors.append(kinds(result) if isinstance(result, Exception) else None)
        if isinstance(result, Array):
            arrays.append(result)
    return arrays, errors


def check(program: Program, arrays: list[Any], errors: list[Any]) -> None:
    """Check all that can be seen against what NumPy made of the program."""
    assert errors == program.errors, program
    assert len(arrays) == len(program.arrays), program
    for k, (have, want) in enumerate(zip(arrays, program.arrays, strict=True)):
        check_equal(have, want, what=f"a{k} of\n{program}")
    for i, a in enumerate(arrays):
        for j, b in enumerate(arrays[:i]):
            if program.arrays[i].size and program.arrays[j].size:
                alias = program.groups[i] == program.groups[j]
                assert views.shares_storage(a, b) == alias, f"a{i} and a{j} of\n{program}"


@settings(
    max_examples=NUMPY_PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs(shapes(max_rank=3, max_extent=3), 10))
def test_any_program_does_on_numpy_what_numpy_does(
    numpy_backend: ModuleType, program: Program
) -> None:
    bases = [array(numpy_backend, a) for a in program.bases]
    with np.errstate(all="ignore"):
        check(program, *run(numpy_backend, program, bases))


SMALL = st.sampled_from([(4,), (2, 3)])


@settings(
    max_examples=JAX_PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs(SMALL, 5))
def test_any_program_does_on_jax_what_numpy_does(jax_backend: ModuleType, program: Program) -> None:
    bases = [array(jax_backend, a) for a in program.bases]
    check(program, *run(jax_backend, program, bases))


@settings(
    max_examples=JAX_PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs(SMALL, 5))
def test_any_program_compiled_as_one_does_what_numpy_does(
    jax_backend: ModuleType, program: Program
) -> None:
    bases = [array(jax_backend, a) for a in program.bases]
    captured = bases[1:]  # the first is passed, a second one is found outside
    raised: list[list[Any]] = []

    @jit
    def whole(first: Any) -> list[Any]:
        arrays, errors = run(jax_backend, program, [first, *captured])
        raised.append(errors)
        return arrays

    arrays = whole(bases[0])
    check(program, arrays, raised[-1])
    for base, want in zip(bases, program.arrays, strict=False):
        check_equal(base, want, what=f"the caller's array, after\n{program}")
    for k, base in enumerate(bases):
        assert views.shares_storage(base, arrays[k])


# -- what differs from NumPy on purpose -----------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(np.int64, 1.5), (np.int64, 1j), (np.float64, 1j), (bool, 2), (np.int16, np.float32(1))],
)
def test_a_write_that_loses_its_kind_is_refused(
    backend: ModuleType, dtype: Any, value: Any
) -> None:
    x = array(backend, np.ones(3, dtype=dtype))
    with pytest.raises(TypeError):
        x[0] = value
    with pytest.raises(TypeError):
        x[...] = array(backend, np.array([value] * 3))
    check_equal(x, np.ones(3, dtype=dtype))


def test_real_and_imag_are_copies(backend: ModuleType) -> None:
    x = array(backend, np.array([1 + 2j]))
    for part in (backend.real(x), backend.imag(x)):
        part[...] = 9.0
    check_equal(x, np.array([1 + 2j]))


def test_fresh_arrays_are_row_major(backend: ModuleType) -> None:
    a = counted((2, 3))
    x = array(backend, a)
    for fresh in (x.T + 1, backend.astype(x.T, backend.float64), backend.asarray(x.T, copy=True)):
        assert views.cursor(fresh).strides == (2, 1)
        flat = backend.reshape(fresh, (-1,))
        assert views.shares_storage(flat, fresh), "NumPy keeps the order, and would copy here"


def test_a_diagonal_may_be_written(backend: ModuleType) -> None:
    x = array(backend, counted((2, 2)))
    backend.linalg.diagonal(x)[...] = 9
    check_equal(x, np.array([[9, 1], [2, 9]]))


def test_arrays_broadcast_together_may_not_be_written(backend: ModuleType) -> None:
    x, y = array(backend, counted((2,))), array(backend, counted((1,)))
    for one in backend.broadcast_arrays(x, y):
        with pytest.raises(ValueError, match="read-only"):
            one[...] = 0


def test_one_element_with_axes_goes_where_integers_point(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    x[1] = array(backend, np.array([[5]]))
    assert host(x).tolist() == [0, 5]


def test_a_source_that_overlaps_is_read_before_anything_is_written_at_a_mask(
    backend: ModuleType,
) -> None:
    x = array(backend, counted((3,)))
    x[array(backend, np.ones(3, dtype=bool))] = x[::-1]
    check_equal(x, counted((3,))[::-1])


def test_elements_are_arrays_without_axes(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    element = x[1]
    assert type(element) is Array
    element += 5
    element[...] = 7
    assert host(x).tolist() == [0, 1]
    assert int(element) == 7


def test_a_transpose_of_other_than_two_axes_is_refused(backend: ModuleType) -> None:
    for shape in ((), (2,), (2, 2, 2)):
        with pytest.raises(ValueError, match="matrix"):
            _ = strata_api.zeros(shape, device=backend.__name__.rpartition(".")[2]).T
