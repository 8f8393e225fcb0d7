"""Programs as a whole: `jit` with reference semantics, loops and branches that write, and what
JAX's own transformations make of programs that write."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import strata_api
from conftest import HAS_JAX, namespace
from oracle import array, check_equal, host, is_numpy, kinds, outcome
from strata_api import Array, cond, fori_loop, jit, scan, views, while_loop
from strategies import counted

if HAS_JAX:
    import jax
    from jax import numpy as jnp

needs_jax = pytest.mark.skipif(not HAS_JAX, reason="JAX is not installed")


def counted32(*shape: int) -> Any:
    return counted(shape, dtype=np.float32)


def on(name: str, *shape: int) -> Array:
    return array(namespace(name), counted32(*shape))


def pointer(x: Array) -> int:
    return int(x._storage.buffer.unsafe_buffer_pointer())


def leaves_of(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        tree = tuple(tree[key] for key in sorted(tree))
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in leaves_of(part)]
    return [] if tree is None else [tree]


# -- one program, run in every way ----------------------------------------------------------------


def seen(run: Callable[..., Any], xp: ModuleType) -> Any:
    """Return what can be seen of a program of two arrays: results, aliasing, arguments, error."""
    x, m = array(xp, counted32(3)), array(xp, counted32(3, 4))
    try:
        out = run(x, m)
    except (TypeError, ValueError, IndexError) as error:
        return kinds(error)
    arrays = [leaf for leaf in leaves_of(out) if isinstance(leaf, Array)]
    others = [leaf for leaf in leaves_of(out) if not isinstance(leaf, Array)]
    values = [(host(a).tolist(), a.shape, a.dtype.name) for a in (*arrays, x, m)]
    pairs = [[views.shares_storage(a, b) for b in (*arrays, x, m)] for a in arrays]
    return values, pairs, others


class Wrapped(NamedTuple):
    x: Any
    m: Any


def _writes_both(x: Any, m: Any) -> Any:
    x[0] = 7.0
    m[1:] += x
    return None


def _returns_views(x: Any, m: Any) -> Any:
    fresh = x * 2.0
    fresh[0] = -1.0
    return x[1:], m.T, fresh[:2], fresh, {"again": x}


_writes_both_then_views = lambda x, m: (_writes_both(x, m), _returns_views(x, m))[1]  # noqa: E731


def _overlapping(x: Any, m: Any) -> Any:
    square = m[:, :3]
    square[...] = square.T
    x[1:] = x[:-1]
    x[::-1] += x
    return square


def _reshaped(x: Any, m: Any) -> Any:
    flat = strata_api.reshape(m, (-1,))
    flat[::5] = -1.0
    wide = strata_api.reshape(m.T, (12,))  # a copy
    wide[...] = 0.0
    return flat, wide


def _index_arrays(x: Any, m: Any) -> Any:
    m[[0, 0, 2], [1, 1, 3]] = x
    m[m > 9.0] = 0.0
    m[:, [3, 0]] *= 2.0
    return m[[2, 0]]


def _reads_only(x: Any, m: Any) -> Any:
    return strata_api.sum(m[0, :3] * x)


def _of_one_storage(x: Any, m: Any) -> Any:
    def add(row: Any, column: Any) -> None:
        row += 10.0
        column *= 2.0

    jit(add)(m[0], m[:, 0])
    jit(add)(m[0], m[:, 0])


def _swaps(x: Any, m: Any) -> Any:
    for i in range(1):
        x[i], x[2 - i] = x[2 - i], x[i]
    m[0], m[2] = m[2] + 0.0, m[0] + 0.0


def _insertion_sort(x: Any, m: Any) -> Any:
    x[0] = 3.0
    for i in range(1, 3):
        for j in range(i, 0, -1):
            a, b = x[j - 1], x[j]
            x[j - 1], x[j] = strata_api.minimum(a, b), strata_api.maximum(a, b)


def _refused_write(x: Any, m: Any) -> Any:
    strata_api.broadcast_to(x, (3, 3))[0] = 1.0


def _loses_its_kind(x: Any, m: Any) -> Any:
    strata_api.astype(x, strata_api.int64)[0] = 1.5


def _created_inside(x: Any, m: Any) -> Any:
    z = x.__array_namespace__().zeros(4, dtype=strata_api.float32)
    z[1:] = x
    m[...] = z
    return z[::2], z


def _constants(x: Any, m: Any) -> Any:
    return x, 3, "text", None, (2.5, x[:0])


PROGRAMS = [
    _writes_both,
    _returns_views,
    _writes_both_then_views,
    _overlapping,
    _reshaped,
    _index_arrays,
    _reads_only,
    _of_one_storage,
    _swaps,
    _insertion_sort,
    _refused_write,
    _loses_its_kind,
    _created_inside,
    _constants,
]


@needs_jax
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_the_same_on_numpy_on_jax_and_compiled(
    program: Callable[..., Any],
) -> None:
    want = seen(program, namespace("numpy"))
    compiled = jit(program)
    assert seen(compiled, namespace("numpy")) == want
    assert seen(program, namespace("jax")) == want
    assert seen(compiled, namespace("jax")) == want
    assert seen(compiled, namespace("jax")) == want, "the second call"


# -- loops and branches ---------------------------------------------------------------------------


def _writes_outside(x: Any, m: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        m[i] = x[i] + value
        m[:, i] += 1.0
        value += x[i]
        return value

    return fori_loop(0, 3, body, strata_api.sum(x[:1]))


def _writes_outside_views(x: Any, m: Any) -> Any:
    row, column = m[1], m[:, 2]

    def body(i: Any, _: Any) -> None:
        row[i] += column[i]
        column[i] *= 2.0

    fori_loop(0, 3, body)
    return row, column


def _owns_what_it_carries(x: Any, m: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        value[i] = 7.0
        return value

    return fori_loop(0, 3, body, x), fori_loop(0, 2, body, m[0])


def _owns_what_a_body_returns(x: Any, m: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        a, _ = value
        a[0] += 1.0
        return a, a

    def captured(i: Any, value: Any) -> Any:
        value[0] += 1.0
        return m[0]

    return fori_loop(0, 3, body, (x, x)), fori_loop(0, 3, captured, m[1])


def _carries_numbers(x: Any, m: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        x[i] += 1.0
        return {"n": value["n"] + 1, "x": value["x"] * 2.0, "pair": [value["pair"][0], i]}

    return fori_loop(0, 2, body, {"n": 1, "x": x, "pair": [m[0, 0], 0]})


def _empty_loop(x: Any, m: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        x[i] = 9.0
        return value

    return fori_loop(3, 3, body, m), fori_loop(2, 0, body, x)


def _while(x: Any, m: Any) -> Any:
    def body(value: Any) -> Any:
        m[0, 1] += 1.0
        return value + 1

    return while_loop(lambda value: (value < 5) & (m[0, 1] < 4.0), body, 0)


def _scan(x: Any, m: Any) -> Any:
    def body(carry: Any, row: Any) -> Any:
        carry += row[:3]
        row[0] = 9.0
        m[0, 0] += 1.0
        return carry, (carry, row)

    return scan(body, x, m)


def _scan_of_a_length(x: Any, m: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        x[1] += 1.0
        return carry + 1, carry

    return scan(body, 1, None, 4)


def _scan_without_results(x: Any, m: Any) -> Any:
    def body(carry: Any, pair: Any) -> Any:
        x[...] += pair["a"][:3] * pair["b"]
        return carry, None

    return scan(body, None, {"a": m, "b": x})


def _cond(x: Any, m: Any) -> Any:
    def yes(a: Any) -> Any:
        a[0] = 5.0
        m[1, 1] = 0.0
        return a[1:]

    def no(a: Any) -> Any:
        a[1] = 6.0
        m[2, 2] = 0.0
        return a[:-1] * 2.0

    return cond(x[1] > 0.0, yes, no, x), cond(x[0] > 7.0, yes, no, x)


def _cond_gives_fresh_arrays(x: Any, m: Any) -> Any:
    result = cond(x[1] > 0.0, lambda a: a, lambda a: a * 2.0, x)
    result[0] = 99.0
    return result


def _nested(x: Any, m: Any) -> Any:
    def outer(i: Any, _: Any) -> None:
        def inner(j: Any, _: Any) -> None:
            m[i, j] = m[i, j] * 2.0 + x[j]

        fori_loop(0, i + 1, inner)

        def yes() -> None:
            m[i] *= 2.0

        cond(x[i] > 0.0, yes, lambda: None)

    fori_loop(0, 3, outer)


def _sorts_in_a_loop(x: Any, m: Any) -> Any:
    x[0] = 3.0

    def outer(i: Any, _: Any) -> None:
        def inner(j: Any, _: Any) -> None:
            a, b = x[j], x[j + 1]
            x[j], x[j + 1] = strata_api.minimum(a, b), strata_api.maximum(a, b)

        fori_loop(0, 2, inner)

    fori_loop(0, 3, outer)


def _swaps_in_a_loop(x: Any, m: Any) -> Any:
    def body(i: Any, _: Any) -> None:
        x[i], x[2 - i] = x[2 - i], x[i]

    fori_loop(0, 1, body)


def _changes_an_index(x: Any, m: Any) -> Any:
    place = strata_api.astype(x[0], strata_api.int64)
    before = x[place] + 0.0

    def body(_: Any, value: Any) -> Any:
        place[...] = place + 1
        return value

    fori_loop(0, 2, body)
    return before, x[place] + 0.0


def _creates_inside(x: Any, m: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        z = strata_api.zeros(3, dtype=strata_api.float32)
        z[i] = x[i]
        return value + z

    return fori_loop(0, 3, body, x * 0.0)


def _another_dtype(x: Any, m: Any) -> Any:
    return fori_loop(0, 3, lambda i, value: strata_api.astype(value, strata_api.float64), x)


def _another_shape(x: Any, m: Any) -> Any:
    return while_loop(lambda value: value.shape[0] > 1, lambda value: value[1:], x)


def _another_structure(x: Any, m: Any) -> Any:
    return scan(lambda value, _: ((value, value), None), x, m)


def _nothing_to_scan(x: Any, m: Any) -> Any:
    return scan(lambda value, row: (value, row), x, m[:0])


def _unequal_extents(x: Any, m: Any) -> Any:
    return scan(lambda value, pair: (value, pair[0]), x, (m, x[:2]))


LOOPS = [
    _writes_outside,
    _writes_outside_views,
    _owns_what_it_carries,
    _owns_what_a_body_returns,
    _carries_numbers,
    _empty_loop,
    _while,
    _scan,
    _scan_of_a_length,
    _scan_without_results,
    _cond,
    _cond_gives_fresh_arrays,
    _nested,
    _sorts_in_a_loop,
    _swaps_in_a_loop,
    _changes_an_index,
    _creates_inside,
    _another_dtype,
    _another_shape,
    _another_structure,
    _nothing_to_scan,
    _unequal_extents,
]


@needs_jax
@pytest.mark.parametrize("program", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_does_the_same_on_numpy_on_jax_and_compiled(program: Callable[..., Any]) -> None:
    want = seen(program, namespace("numpy"))
    assert seen(jit(program), namespace("numpy")) == want
    with strata_api.default_backend("jax"):  # where creation in an eager body goes, for both
        assert seen(program, namespace("jax")) == want
    assert seen(jit(program), namespace("jax")) == want


@needs_jax
def test_a_loop_outside_of_programs_compiles_once_for_its_body() -> None:
    traced = []
    x = on("jax", 3)

    def body(i: Any, value: Any) -> Any:
        traced.append(i)
        x[i] += 1.0
        return value

    for _ in range(5):
        fori_loop(0, 3, body, 0)
    assert len(traced) <= 6, "a loop is traced when it is compiled"
    before = len(traced)
    fori_loop(0, 2, body, 0)
    assert len(traced) == before
    check_equal(x, np.array([6, 7, 7], dtype=np.float32))


@needs_jax
def test_the_condition_of_a_loop_cannot_write() -> None:
    x = on("jax", 3)

    def condition(value: Any) -> Any:
        x[0] = 5.0
        return value < 2

    with pytest.raises(RuntimeError, match="condition"):
        while_loop(condition, lambda value: value + 1, strata_api.jax.asarray(0))
    check_equal(x, counted32(3))


# -- jit: arguments -------------------------------------------------------------------------------


@needs_jax
def test_arguments_that_alias_are_passed_once_and_written_for_the_caller() -> None:
    @jit
    def add(row: Any, column: Any) -> None:
        row += 10.0
        column *= 2.0

    x, n = on("jax", 3, 3), counted32(3, 3)
    for _ in range(2):
        add(x[0], x[:, 0])
        n[0] += 10.0
        n[:, 0] *= 2.0
        check_equal(x, n)
    a, b = on("jax", 3), on("jax", 3)
    add(a, b)
    check_equal(a, counted32(3) + 10)
    check_equal(b, counted32(3) * 2)
    add(a, a)
    check_equal(a, (counted32(3) + 20) * 2)


@needs_jax
def test_an_argument_that_is_written_keeps_its_memory() -> None:
    @jit
    def write(x: Any) -> None:
        x[1:] += 1.0

    x = on("jax", 1000)
    x[0] = 5.0
    place = pointer(x)
    for _ in range(3):
        write(x)
    assert pointer(x) == place


@needs_jax
def test_without_donation_the_memory_is_not_reused_and_the_write_is_seen() -> None:
    @partial(jit, donate=False)
    def write(x: Any) -> None:
        x[1:] += 1.0

    x = on("jax", 1000)
    x[0] = 5.0
    old = x._storage.buffer
    write(x)
    assert not old.is_deleted()
    assert float(x[1]) == 2.0


@needs_jax
@pytest.mark.parametrize("donate", [True, False])
def test_a_users_jax_array_lives_on(donate: bool) -> None:
    theirs = jnp.arange(5.0)
    x = strata_api.asarray(theirs)
    jit(lambda a: a.__setitem__(slice(2), 9.0), donate=donate)(x)
    jit(lambda a: a.__setitem__(slice(2), 8.0), donate=donate)(x)
    np.testing.assert_array_equal(np.asarray(theirs), np.arange(5.0))
    assert host(x).tolist() == [8, 8, 2, 3, 4]


@needs_jax
def test_what_is_held_elsewhere_is_not_given_up() -> None:
    x = on("jax", 5)
    leaf = jax.tree_util.tree_leaves(x)[0]
    jit(lambda a: a.__setitem__(0, 9.0))(x)
    jit(lambda a: a.__setitem__(1, 9.0))(x)
    np.testing.assert_array_equal(np.asarray(leaf), counted32(5))


def test_trees_of_arguments_and_results_keep_their_structure(backend: ModuleType) -> None:
    @jit
    def swap(tree: Any, *, scale: Any) -> Any:
        tree["a"][0] *= scale
        return Wrapped(tree["pair"][1], [tree["a"], (tree["pair"][0],)])

    x, y, z = (array(backend, counted32(3) + k) for k in range(3))
    out = swap({"a": x, "pair": (y, z)}, scale=10.0)
    assert type(out) is Wrapped
    check_equal(out.x, counted32(3) + 2)
    check_equal(out.m[1][0], counted32(3) + 1)
    assert views.shares_storage(out.m[0], x)
    assert views.shares_storage(out.x, z)


SCALARS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "float": (lambda x, s: s * x + (1 - s) * x, 0.5),
    "int": (lambda x, s: s * x + x / s - s, 2),
    "int against int": (lambda x, s: strata_api.astype(x, strata_api.int16) * s, 2),
    "float against int": (lambda x, s: strata_api.astype(x, strata_api.int16) * s, 0.5),
    "power": (lambda x, s: x**s - (-s) ** 2 * x, 2),
    "bool": (lambda x, s: strata_api.where(s, x, -x), True),
    "complex": (lambda x, s: x * s, 2j),
    "comparison": (lambda x, s: x > s, 1),
    "minimum": (lambda x, s: strata_api.minimum(x, s), 1),
    "clip": (lambda x, s: strata_api.clip(x, s, s + 1), 0.5),
    "as an array": (lambda x, s: x.__array_namespace__().asarray(s), 0.5),
    "as an index": (lambda x, s: x[s] + x[s - 2], 2),
    "into an array": (lambda x, s: (x.__setitem__(0, s), x)[1], 2),
    "a float of NumPy": (lambda x, s: s * x, np.float64(0.5)),
    "a narrow float of NumPy": (lambda x, s: s * strata_api.astype(x, "float64"), np.float32(0.5)),
    "an ndarray": (lambda x, s: s + x, np.ones(3)),
}


def _changed_in_place(x: Any, s: Any) -> Any:
    before = s
    s += 1
    return x * before + s


@needs_jax
@pytest.mark.parametrize(
    ("function", "scalar"),
    [*SCALARS.values(), (_changed_in_place, 2)],
    ids=[*SCALARS, "changed in place"],
)
def test_python_scalars_go_on_counting_as_such(function: Callable[..., Any], scalar: Any) -> None:
    want = function(on("numpy", 3), scalar)
    compiled = jit(function)
    have = compiled(on("jax", 3), scalar)
    assert type(have) is Array
    check_equal(have, host(want))
    check_equal(compiled(on("jax", 3), scalar), host(want))


@needs_jax
def test_a_scalar_of_another_value_compiles_nothing() -> None:
    traced = []

    @jit
    def scale(x: Any, s: Any) -> Any:
        traced.append(s)
        return x * s

    results = [host(scale(on("jax", 3), s)).tolist() for s in (1.0, 2.5, -3.0)]
    assert results == [[0, 1, 2], [0, 2.5, 5], [0, -3, -6]]
    assert len(traced) == 1


@needs_jax
def test_a_float_argument_does_not_go_into_integers() -> None:
    x = strata_api.jax.asarray([1, 2, 3])
    with pytest.raises(TypeError, match="assignment"):
        jit(lambda a, s: a.__setitem__(0, s))(x, 1.5)
    assert host(x).tolist() == [1, 2, 3]


@pytest.mark.parametrize("how", [{"static_argnums": 1}, {"static_argnames": "n"}])
def test_static_arguments_are_compiled_in(backend: ModuleType, how: dict[str, Any]) -> None:
    @partial(jit, **how)
    def repeated(x: Any, n: int, *, more: float = 1.0) -> Any:
        for _ in range(n):
            x += more
        return x

    x = array(backend, counted32(3))
    repeated(x, 2)
    repeated(x, n=3, more=2.0)
    check_equal(x, counted32(3) + 8)


def test_a_name_may_be_chosen_by_a_constant(backend: ModuleType) -> None:
    @jit
    def scaled(x: Any, mode: str, kind: Any = None) -> Any:
        return x * (2.0 if mode == "twice" else 3.0) if kind is None else x

    x = array(backend, counted32(3))
    check_equal(scaled(x, "twice"), counted32(3) * 2)
    check_equal(scaled(x, "thrice"), counted32(3) * 3)
    check_equal(scaled(x, "thrice", strata_api.float32), counted32(3))


def test_a_method_may_be_compiled_and_write_to_its_object(backend: ModuleType) -> None:
    class Average:
        def __init__(self) -> None:
            self.total = array(backend, np.zeros(3, dtype=np.float32))

        @jit
        def add(self, x: Any) -> Any:
            self.total += x
            return self.total[:2]

    one, other = Average(), Average()
    for average, times in ((one, 2), (other, 1)):
        for _ in range(times):
            result = average.add(array(backend, counted32(3)))
        check_equal(average.total, counted32(3) * times)
        assert views.shares_storage(result, average.total)


def test_a_compiled_function_is_named_like_the_function() -> None:
    def double(x: Any) -> Any:
        """Return twice ``x``."""
        return x * 2

    compiled = jit(double)
    assert compiled.__name__ == "double"
    assert compiled.__doc__ == double.__doc__
    assert "double" in repr(compiled)


# -- jit: what it finds outside -------------------------------------------------------------------


@needs_jax
def test_captured_arrays_are_read_and_written_at_every_call() -> None:
    outer = on("jax", 3)

    @jit
    def add(x: Any) -> Any:
        outer[1:] += x[1:]
        return x * 2.0

    x = on("jax", 3)
    add(x)
    add(x)
    check_equal(outer, counted32(3) * np.array([1, 3, 3], dtype=np.float32))
    outer[...] = 0.0
    add(x)
    check_equal(outer, np.array([0, 1, 2], dtype=np.float32))


@needs_jax
def test_a_plain_jit_freezes_what_it_reads_and_ours_does_not() -> None:
    outer = on("jax", 3)

    def added(x: Any) -> Any:
        return x + outer

    frozen, ours = jax.jit(added), jit(added)
    x = on("jax", 3)
    check_equal(frozen(x), counted32(3) * 2)
    check_equal(ours(x), counted32(3) * 2)
    outer[...] = 10.0
    check_equal(frozen(x), counted32(3) * 2)
    check_equal(ours(x), counted32(3) + 10)


@needs_jax
@pytest.mark.parametrize("first", ["the captured array", "another"])
def test_an_argument_may_be_a_captured_array_now_and_then(first: str) -> None:
    outer, other = on("jax", 3), on("jax", 3)

    @jit
    def add(x: Any) -> None:
        x += outer

    order = [outer, other] if first == "the captured array" else [other, outer]
    want = {id(outer): counted32(3), id(other): counted32(3)}
    for x in (*order, *order):
        add(x)
        want[id(x)] = want[id(x)] + want[id(outer)]
        check_equal(outer, want[id(outer)])
        check_equal(other, want[id(other)])


@needs_jax
def test_a_captured_array_that_is_returned_still_aliases() -> None:
    outer = on("jax", 3)
    result = jit(lambda x: outer[1:])(on("jax", 2))
    result[0] = 9.0
    check_equal(outer, np.array([0, 9, 2], dtype=np.float32))


@needs_jax
@pytest.mark.parametrize("transform", ["vmap", "scan", "jit", "grad"])
def test_a_captured_array_may_be_touched_first_inside_another_transformation(
    transform: str,
) -> None:
    outer = on("jax", 3)

    @jit
    def run(x: Any) -> Any:
        if transform == "vmap":
            result = jax.vmap(lambda t: outer[1] * t)(x)
        elif transform == "scan":
            result = jax.lax.scan(lambda c, t: (c + outer[1] * t, c), x[0], x)[0]
        elif transform == "jit":
            result = jax.jit(lambda t: outer[1] * t)(x)
        else:
            result = jax.grad(lambda t: jnp.asarray(outer[1] * t))(x[2])
        outer[1] += 1.0
        return result

    want = {"vmap": [0, 1, 2], "scan": 3, "jit": [0, 1, 2], "grad": 1}[transform]
    x = on("jax", 3)
    assert host(run(x)).tolist() == want
    assert host(run(x)).tolist() == (np.array(want) * 2).tolist()
    assert float(outer[1]) == 3.0


@needs_jax
def test_a_program_does_not_keep_captured_arrays_alive() -> None:
    import weakref

    box = [on("jax", 3)]

    @jit
    def read(x: Any) -> Any:
        return x + box[0]

    x = on("jax", 3)
    read(x)
    storage = weakref.ref(box[0]._storage)
    box[0] = on("jax", 3) * 10.0
    gc.collect()
    assert storage() is None
    check_equal(read(x), counted32(3) * 11)


# -- jit: contexts, nesting, errors ---------------------------------------------------------------


def test_default_dtypes_are_part_of_what_a_program_is(backend: ModuleType) -> None:
    made = jit(lambda x: (x.__array_namespace__().zeros(2), x / 2))
    x = backend.asarray([1, 2])
    assert [a.dtype.name for a in made(x)] == ["float64", "float64"]
    with strata_api.default_dtypes(real="float32"):
        assert [a.dtype.name for a in made(x)] == ["float32", "float32"]
    assert [a.dtype.name for a in made(x)] == ["float64", "float64"]


def test_strictness_is_part_of_what_a_program_is(backend: ModuleType) -> None:
    mixed = jit(lambda x, y: x + y)
    x, y = backend.asarray([1]), backend.asarray([0.5])
    check_equal(mixed(x, y), np.array([1.5]))
    with strata_api.strict(), pytest.raises(TypeError):
        mixed(x, y)
    check_equal(mixed(x, y), np.array([1.5]))


def test_creation_follows_the_backend_of_the_arguments(backend: ModuleType) -> None:
    other = "jax" if is_numpy(backend) and HAS_JAX else "numpy"
    with strata_api.default_backend(other):
        result = jit(lambda x: strata_api.zeros(3, dtype=x.dtype) + x)(array(backend, counted32(3)))
    assert result.device == array(backend, counted32(3)).device


def test_a_compiled_function_may_call_another(backend: ModuleType) -> None:
    @jit
    def inner(row: Any, scale: float) -> Any:
        row *= scale
        return row[1:]

    @jit
    def outer(x: Any) -> Any:
        first = inner(x[0], 2.0)
        return inner(first, 10.0)

    x = array(backend, counted32(2, 3))
    result = outer(x)
    check_equal(x, np.array([[0, 20 * 1, 40], [3, 4, 5]], dtype=np.float32))
    result[...] = 0.0
    assert host(x)[0].tolist() == [0, 20, 0]


def test_an_error_inside_leaves_the_arguments_as_they_were_on_jax(
    jax_backend: ModuleType,
) -> None:
    @jit
    def fails(x: Any) -> None:
        x[0] = 9.0
        raise ZeroDivisionError

    x = array(jax_backend, counted32(3))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fails(x)
        check_equal(x, counted32(3))
    x[0] = 5.0
    assert float(x[0]) == 5.0


@needs_jax
def test_arrays_of_two_backends_are_refused() -> None:
    with pytest.raises(TypeError, match=r"numpy.*to_device"):
        jit(lambda x, y: x)(on("jax", 3), on("numpy", 3))


def test_bad_static_arguments_are_refused(backend: ModuleType) -> None:
    for how in ({"static_argnames": "z"}, {"static_argnums": 5}):
        with pytest.raises(ValueError, match="static"):
            jit(lambda x: x, **how)


@needs_jax
def test_constants_need_a_hash() -> None:
    with pytest.raises(TypeError, match="'n' must be hashable"):
        jit(lambda x, n: x, static_argnames="n")(on("jax", 3), [1])
    with pytest.raises(TypeError, match="hash"):
        jit(lambda x, n: x)(on("jax", 3), {1, 2})


@needs_jax
@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x, n: 1 if n > 1 else 2, "static_argnames"),
        (lambda x, n: list(range(n)), "static_argnames"),
        (lambda x, n: x[:n], "views.block"),
        (lambda x, n: x[x > 1.0], "where"),
        (lambda x, n: strata_api.nonzero(x), "where"),
        (lambda x, n: float(x[0]), "static_argnames"),
    ],
    ids=["a branch", "a range", "a slice", "a mask", "nonzero", "a number"],
)
def test_what_a_program_cannot_know_says_what_to_do(
    function: Callable[..., Any], advice: str
) -> None:
    with pytest.raises(TypeError, match=advice):
        jit(function)(on("jax", 3), 2)


@needs_jax
def test_jit_under_disabled_jit_does_the_same() -> None:
    with jax.disable_jit():
        x = on("jax", 3)
        result = jit(_returns_views)(x, on("jax", 3, 4))
        assert views.shares_storage(result[0], x)


@needs_jax
@pytest.mark.usefixtures("no_leaked_tracers")
def test_no_tracer_outlives_its_program() -> None:
    outer = on("jax", 4)

    @jit
    def run(x: Any) -> Any:
        outer[0] += x[0]

        def body(i: Any, _: Any) -> None:
            x[i] = outer[i] + x[i]

        fori_loop(0, 3, body)
        place = strata_api.astype(x[0], strata_api.int64)
        x[place] += 1.0
        return x[1:], outer

    run(on("jax", 4))
    jax.jit(lambda x: (x.__setitem__(0, 1.0), x[1:])[1])(on("jax", 4))
    jax.vmap(lambda x: (x.__iadd__(1.0), x[::2])[1])(on("jax", 2, 4))


# -- traced places --------------------------------------------------------------------------------

READS: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda x, i: x[i, 1],
    "a row": lambda x, i: x[i],
    "a column": lambda x, i: x[:, i],
    "of a reversed view": lambda x, i: x[::-1][i],
    "of a strided view": lambda x, i: x[:, ::2][i, 0],
    "of a window": lambda x, i: x[1:, 1:][i],
    "of a transpose": lambda x, i: x.T[1][i],
    "of a diagonal": lambda x, i: strata_api.linalg.diagonal(x[:3, :3])[i],
    "twice": lambda x, i: x[:3][i][i],
    "of a reshape": lambda x, i: strata_api.reshape(x, (2, 2, 3))[0, 1][i],
    "a row of a block": lambda x, i: views.block(x, (2, 3), (1, 0))[i],
    "by name": lambda x, i: views.slice(x, (1,), (i,)),
}


def positions_of(read: Callable[[Any, Any], Any], x: Any) -> int:
    """Return how many positions the axis has that a read chooses along."""
    return next(n for n in range(20) if isinstance(outcome(lambda: read(x, n)), IndexError))  # noqa: B023


@needs_jax
@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_a_traced_index_reads_the_nearest_and_writes_only_inside(
    read: Callable[[Any, Any], Any],
) -> None:
    def write(x: Any, i: Any) -> Any:
        read(x, i)[...] = -1.0
        return x

    def write_element(x: Any, i: Any) -> Any:
        x[i, 1] = -1.0
        return x

    assign = write_element if read is READS["an element"] else write
    n = positions_of(read, on("numpy", 4, 3))
    reads, writes = jit(read), jit(assign)
    for i in range(-n - 2, n + 3):
        index = strata_api.jax.asarray(i)
        place = min(max(i + n if i < 0 else i, 0), n - 1)
        check_equal(reads(on("jax", 4, 3), index), host(read(on("numpy", 4, 3), place)), what=i)
        after = counted32(4, 3)
        if -n <= i < n:
            after = host(assign(on("numpy", 4, 3), i))
        check_equal(writes(on("jax", 4, 3), index), after, what=i)


@needs_jax
def test_a_traced_corner_moves_a_block_that_fits_and_writes_only_inside() -> None:
    reads = jit(lambda x, i: views.block(x, (2, 2), (i, 0)))
    writes = jit(lambda x, i: views.block(x, (2, 2), (i, 0)).__setitem__(Ellipsis, -1.0))
    n = counted32(4, 3)
    for i in range(-6, 7):
        index = strata_api.jax.asarray(i)
        start = i + 4 if i < 0 else i
        near = min(max(start, 0), 2)
        check_equal(reads(on("jax", 4, 3), index), n[near : near + 2, :2], what=i)
        x, after = on("jax", 4, 3), n.copy()
        writes(x, index)
        if 0 <= start <= 2:
            after[start : start + 2, :2] = -1.0
        check_equal(x, after, what=i)


@needs_jax
def test_a_traced_index_array_reads_the_nearest_and_writes_only_inside() -> None:
    picks = np.array([0, -1, 7, -9, 2])
    reads = jit(lambda x, k: x[k])
    check_equal(reads(on("jax", 4), strata_api.jax.asarray(picks)), counted32(4)[[0, 3, 3, 0, 2]])
    x = on("jax", 4)
    jit(lambda x, k, v: x.__setitem__(k, v))(
        x, strata_api.jax.asarray(picks), strata_api.jax.asarray(10 + picks, dtype="float32")
    )
    check_equal(x, np.array([10, 1, 12, 9], dtype=np.float32))


@needs_jax
@pytest.mark.parametrize("bounds", [(0, 4), (1, 3), (-2, 2), (0, 6)], ids=str)
def test_the_index_of_a_loop_may_leave_the_axis_on_both_sides(bounds: tuple[int, int]) -> None:
    @jit
    def run(x: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            x[i] += 10.0
            return total + x[i] + views.block(x, (2,), (i,))[1]

        return fori_loop(*bounds, body, strata_api.asarray(0.0, dtype="float32"))

    x, n, total = on("jax", 4), counted32(4), 0.0
    result = run(x)
    for i in range(*bounds):
        place = i + 4 if i < 0 else i
        if place < 4:
            n[place] += 10.0
        total += n[min(place, 3)] + n[min(place, 2) + 1]
    check_equal(x, n)
    assert float(result) == total


@needs_jax
def test_what_is_known_when_a_program_is_compiled_stays_known() -> None:
    mask = np.array([True, False, True])

    def run(x: Any) -> Any:
        x[:, mask] += 1.0
        x[:, True] *= 2.0
        order = strata_api.asarray([2, 0, 1])[::-1]
        chosen = x[order], x[:, mask], x[mask], x[[0, -1]]
        order[0] = 2
        return *chosen, x[order]

    want = run(on("numpy", 3, 3))
    have = jit(run)(on("jax", 3, 3))
    for one, other in zip(have, want, strict=True):
        check_equal(one, host(other))
    with pytest.raises(IndexError, match="out of range"):
        jit(lambda x: x[[5]])(on("jax", 3, 3))


MASKS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda m: m[:3, :3][0],
    "after a slice": lambda m: (slice(None), m[0]),
    "after dots": lambda m: (Ellipsis, m[0]),
    "before a slice": lambda m: (m[:, 0], slice(None, None, -1)),
    "of two axes": lambda m: (m, slice(1, None)),
    "after a new axis": lambda m: (None, slice(None), m[0]),
}


@needs_jax
@pytest.mark.parametrize("key_of", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("each", [False, True], ids=["one value", "each its own"])
def test_a_traced_mask_among_slices_is_written_at(key_of: Callable[[Any], Any], each: bool) -> None:
    chosen = counted((3, 3)) % 2 == 0
    n = counted((3, 3, 3), dtype=np.float32)
    key = key_of(chosen)
    value = -1.0 - counted(n[key].shape, dtype=np.float32) if each else -1.0
    x = array(namespace("jax"), n)
    jit(lambda x, m, v: x.__setitem__(key_of(m), v))(x, strata_api.jax.asarray(chosen), value)
    n[key] = value
    check_equal(x, n)


@needs_jax
def test_a_view_at_a_traced_place_writes_through_to_what_it_looks_at() -> None:
    @jit
    def run(x: Any, i: Any) -> Any:
        row = x[i]
        part = row[1:]
        row += 1.0
        part *= 10.0
        x[i] += 1.0
        return row, x[i] - row

    x, n = on("jax", 3, 3), counted32(3, 3)
    row, zero = run(x, strata_api.jax.asarray(1))
    n[1] += 1.0
    n[1, 1:] *= 10.0
    n[1] += 1.0
    check_equal(x, n)
    check_equal(row, n[1])
    check_equal(zero, np.zeros(3, dtype=np.float32))


# -- JAX's own transformations --------------------------------------------------------------------


def _mutates(x: Any) -> Any:
    x[0] = -1.0
    x[1:] += x[:-1]
    x[::2] *= 2.0
    return x


def _mutated(n: Any) -> Any:
    n = n.copy()
    n[0] = -1.0
    n[1:] += n[:-1].copy()
    n[::2] *= 2.0
    return n


def _checkpointed(x: Any) -> Any:
    return jax.checkpoint(_mutates)(x)


def _in_while_loop(x: Any) -> Any:
    def body(state: Any) -> Any:
        k, x = state
        return k + 1, _mutates(x)

    return jax.lax.while_loop(lambda state: state[0] < 1, body, (0, x))[1]


def _in_scan(x: Any) -> Any:
    return jax.lax.scan(lambda c, _: (_mutates(c), c[0]), x, jnp.arange(1))[0]


def _in_cond(x: Any) -> Any:
    return jax.lax.cond(jnp.asarray(True), _mutates, lambda x: x, x)


def _in_fori_loop(x: Any) -> Any:
    return jax.lax.fori_loop(0, 1, lambda _, x: _mutates(x), x)


def _in_vmap(x: Any) -> Any:
    return jax.vmap(_mutates)(strata_api.reshape(x, (1, -1)))[0]


def _in_jvp(x: Any) -> Any:
    return jax.jvp(_mutates, (x,), (x,))[0]


PLAIN: dict[str, Callable[[Any], Any]] = {
    "jit": lambda x: jax.jit(_mutates)(x),
    "checkpoint": _checkpointed,
    "while_loop": _in_while_loop,
    "scan": _in_scan,
    "cond": _in_cond,
    "fori_loop": _in_fori_loop,
    "vmap": _in_vmap,
    "jvp": _in_jvp,
    "jit of ours": lambda x: jax.jit(lambda x: jit(_mutates)(x))(x),
    "vmap of ours": lambda x: jax.vmap(lambda x: jit(_mutates)(x))(strata_api.reshape(x, (1, -1)))[
        0
    ],
}


@needs_jax
@pytest.mark.parametrize("run", PLAIN.values(), ids=PLAIN.keys())
def test_arguments_are_values_that_may_be_written_at_will(run: Callable[[Any], Any]) -> None:
    x = on("jax", 5)
    check_equal(run(x), _mutated(counted32(5)))
    check_equal(x, counted32(5), what="the caller's array does not change")
    if run is not PLAIN["vmap"] and run is not PLAIN["vmap of ours"]:
        check_equal(run(on("jax", 10)[::-2]), _mutated(counted32(10)[::-2]))


@needs_jax
def test_shapes_are_evaluated_of_programs_that_write() -> None:
    out = jax.eval_shape(lambda x: (_mutates(x), x[1:]), on("jax", 5))
    assert [leaf.shape for leaf in jax.tree_util.tree_leaves(out)] == [(5,), (4,)]


OUTSIDE_WRITES: dict[str, Callable[[Any], Any]] = {
    "an element": lambda z: z.__setitem__(0, 9.0),
    "everything": lambda z: z.__setitem__(Ellipsis, 9.0),
    "an index array": lambda z: z.__setitem__([0, 1], 9.0),
    "a mask": lambda z: z.__setitem__(z > 1.0, 9.0),
    "an operator": lambda z: z.__iadd__(1.0),
    "an operator on a view": lambda z: z[1:].__iadd__(1.0),
    "by name": lambda z: views.assign(z, 1.0),
    "in our jit": lambda z: jit(lambda a: a.__setitem__(0, 9.0))(z),
    "in our loop": lambda z: fori_loop(0, 2, lambda i, _: z.__setitem__(i, 9.0)),
}


@needs_jax
@pytest.mark.parametrize("transform", ["jit", "grad", "vmap", "eval_shape", "checkpoint", "scan"])
@pytest.mark.parametrize("write", OUTSIDE_WRITES.values(), ids=OUTSIDE_WRITES.keys())
def test_a_write_to_the_outside_is_refused_with_advice_and_changes_nothing(
    write: Callable[[Any], Any], transform: str
) -> None:
    z = on("jax", 3)
    z[0] = 0.0

    def run(t: Any) -> Any:
        write(z)
        return t

    transforms: dict[str, Callable[[], Any]] = {
        "jit": lambda: jax.jit(run)(1.0),
        "grad": lambda: jax.grad(run)(1.0),
        "vmap": lambda: jax.vmap(run)(jnp.arange(2.0)),
        "eval_shape": lambda: jax.eval_shape(run, 1.0),
        "checkpoint": lambda: jax.checkpoint(run)(1.0),
        "scan": lambda: jax.lax.scan(lambda c, t: (run(c), t), 0.0, jnp.arange(2.0)),
    }
    with pytest.raises(RuntimeError, match=r"strata_api\.jit"):
        transforms[transform]()
    check_equal(z, counted32(3))
    z[1] = 5.0
    assert host(z).tolist() == [0, 5, 2]


SHARD_MAP = """
import jax, numpy as np
import strata_api
from jax.sharding import NamedSharding, PartitionSpec

def mutates(x):
    x[0] = -1.0
    x[1:] += x[:-1]
    return x

mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
spec = PartitionSpec("i")
mapped = jax.shard_map(mutates, mesh=mesh, in_specs=spec, out_specs=spec)
want = np.arange(6.0).reshape(2, 3)
want[:, 0] = -1
want[:, 1:] += want[:, :-1].copy()
for run in (mapped, jax.jit(mapped)):
    x = strata_api.jax.asarray(np.arange(6.0))
    assert np.asarray(run(x)).reshape(2, 3).tolist() == want.tolist()
    assert np.asarray(x).tolist() == list(range(6))

outer = strata_api.jax.asarray(np.arange(3.0))
def writes(x):
    outer[0] = 5.0
    return x
try:
    jax.shard_map(writes, mesh=mesh, in_specs=spec, out_specs=spec)(x)
except RuntimeError as error:
    assert "strata_api.jit" in str(error)
else:
    raise AssertionError("a write to the outside must be refused")
assert np.asarray(outer).tolist() == [0, 1, 2]

sharding = NamedSharding(mesh, spec)
y = strata_api.asarray(jax.device_put(jax.numpy.arange(8.0), sharding))
for write in (lambda: y.__setitem__(slice(2, 4), 9.0), lambda: y.__iadd__(1.0)):
    write()
    assert y._storage.buffer.sharding.is_equivalent_to(sharding, 1), "a write keeps the sharding"
strata_api.jit(lambda y: y.__setitem__(0, 7.0))(y)
assert np.asarray(y).tolist() == [7, 2, 10, 10, 5, 6, 7, 8]
print("done")
"""


@needs_jax
def test_shard_map_over_two_devices_takes_programs_that_write() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SHARD_MAP],
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


# -- derivatives ----------------------------------------------------------------------------------


class Twin(NamedTuple):
    """A program that writes, of an Array, and the same in functional JAX, of a jax.Array."""

    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]


def _loss_of_writes(x: Any) -> Any:
    y = strata_api.asarray(x, copy=True)
    y[1:] *= y[:-1]
    y[0] = 3.0
    y[::2] += y[1] * 2.0
    return strata_api.sum(y * y * y)


def _loss_of_sets(x: Any) -> Any:
    y = x.at[1:].multiply(x[:-1]).at[0].set(3.0)
    y = y.at[::2].add(y[1] * 2.0)
    return jnp.sum(y * y * y)


def _loss_of_a_loop(x: Any) -> Any:
    y = strata_api.asarray(x, copy=True)

    def body(i: Any, _: Any) -> None:
        y[i + 1] = y[i] * y[i + 1]

    fori_loop(0, 4, body)
    return strata_api.sum(y * y)


def _loss_of_steps(x: Any) -> Any:
    for i in range(4):
        x = x.at[i + 1].set(x[i] * x[i + 1])
    return jnp.sum(x * x)


def _loss_of_views(x: Any) -> Any:
    m = x[:, None] * x[None, :]
    d = strata_api.linalg.diagonal(m)
    d *= 3.0
    m.T[0] = m[1] + d
    m[[0, 0, 2], [1, 1, 3]] = x[:3]
    m[m > 2.0] = 1.0
    return strata_api.sum(m * m)


def _loss_of_scatters(x: Any) -> Any:
    m = x[:, None] * x[None, :]
    k = jnp.arange(5)
    m = m.at[k, k].multiply(3.0)
    m = m.at[:, 0].set(m[1] + jnp.diagonal(m))
    m = m.at[jnp.array([0, 2]), jnp.array([1, 3])].set(x[1:3])
    m = jnp.where(m > 2.0, 1.0, m)
    return jnp.sum(m * m)


def _loss_of_a_branch(x: Any) -> Any:
    y = x * 1.0

    def yes() -> None:
        y[0] *= y[1]

    cond(x[0] > 0.0, yes, lambda: None)
    return strata_api.sum(y * y)


TWINS = {
    "writes": Twin(_loss_of_writes, _loss_of_sets),
    "a loop": Twin(_loss_of_a_loop, _loss_of_steps),
    "views": Twin(_loss_of_views, _loss_of_scatters),
    "a branch": Twin(
        _loss_of_a_branch,
        lambda x: jnp.sum(jnp.where(x[0] > 0, x.at[0].multiply(x[1]), x) ** 2),
    ),
}


def scalar(loss: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a loss whose result is what ``jax.grad`` asks for."""
    return lambda x: jnp.asarray(loss(x))


def points() -> Any:
    return np.linspace(0.5, 1.5, 5).astype(np.float32)


@needs_jax
@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS.keys())
def test_the_gradient_of_a_program_that_writes_is_that_of_its_functional_twin(twin: Twin) -> None:
    x = namespace("jax").asarray(points())
    want = jax.jit(jax.grad(twin.theirs))(jnp.asarray(points()))
    for gradient in (
        jax.grad(scalar(twin.ours)),
        jit(jax.grad(scalar(jit(twin.ours)))),
    ):
        have = gradient(x)
        assert type(have) is Array
        np.testing.assert_allclose(host(have), want, rtol=1e-5)
    check_equal(x, points())


@needs_jax
def test_derivatives_combine_with_each_other() -> None:
    raw = jnp.asarray(points())
    batch = jnp.stack([raw, raw * 0.5])
    ours = scalar(lambda r: _loss_of_writes(strata_api.asarray(r)))
    combined: dict[str, Callable[[Any], Any]] = {
        "hessian": lambda f: jax.hessian(f)(raw),
        "vmap of grad": lambda f: jax.vmap(jax.grad(f))(batch),
        "vmap": lambda f: jax.vmap(f)(batch),
        "grad of vmap": lambda f: jax.grad(lambda b: jax.vmap(f)(b).sum())(batch),
        "grad of checkpoint": lambda f: jax.grad(jax.checkpoint(f))(raw),
        "jvp": lambda f: jnp.stack(jax.jvp(f, (raw,), (raw,))),
    }
    for name, combine in combined.items():
        have, want = (jax.jit(partial(combine, f))() for f in (ours, _loss_of_sets))
        np.testing.assert_allclose(have, want, rtol=1e-4, err_msg=name)
    np.testing.assert_allclose(jax.hessian(ours)(raw), jax.hessian(_loss_of_sets)(raw), rtol=1e-4)


@needs_jax
def test_a_batch_of_gradients_goes_through_every_kind_of_write() -> None:
    batch = jnp.stack([points(), points() * 0.5])
    ours = scalar(lambda r: _loss_of_views(strata_api.asarray(r)))
    have = jax.jit(jax.vmap(jax.grad(ours)))(batch)
    want = jax.jit(jax.vmap(jax.grad(_loss_of_scatters)))(batch)
    np.testing.assert_allclose(have, want, rtol=1e-5)


@needs_jax
def test_the_gradient_of_a_view_has_the_shape_of_the_view() -> None:
    x = on("jax", 4, 3)
    gradient = jax.grad(lambda v: jnp.asarray(strata_api.sum(v * v)))(x[::2, 1])
    check_equal(gradient, counted32(4, 3)[::2, 1] * 2)
