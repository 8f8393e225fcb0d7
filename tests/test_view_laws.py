"""The laws of views: what is written is read back, every alias sees it, and NumPy agrees."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import array, check_equal, host, kinds, outcome, some
from strata_api.backends.numpy import BACKEND
from strategies import (
    Move,
    basic_keys,
    chains,
    counted,
    fewer,
    followed,
    followed_by_ours,
    keys,
    moves,
    moves_of,
    shapes,
    small_shapes,
)

Shape = tuple[int, ...]
Chain = tuple[Shape, list[Move]]


def is_view_in_numpy(base: Any, part: Any) -> bool:
    return np.shares_memory(base, part) or part.size == 0


def every_chain_of_two(shape: Shape) -> list[Chain]:
    """Return each chain of two views of an array of this shape that NumPy has as a view too."""
    base = counted(shape)
    return [
        (shape, [first, second])
        for first in moves_of(shape)
        for second in moves_of(first.numpys(base).shape)
        if is_view_in_numpy(base, second.numpys(first.numpys(base)))
    ]


# -- the three laws -------------------------------------------------------------------------------


def check_laws(xp: ModuleType, chain: Chain) -> None:
    """Check that a view gives back what is written to it, and that only the last write counts."""
    shape, steps = chain
    x = array(xp, counted(shape))
    view = followed_by_ours(steps, xp, x)
    first, second = -1 - counted(view.shape), 1000 + counted(view.shape)

    view[...] = view
    check_equal(x, counted(shape), what=f"{chain}: write what was read")
    view[...] = array(xp, first)
    check_equal(view, first, what=f"{chain}: read what was written")
    once = host(x)
    view[...] = array(xp, second)
    view[...] = array(xp, first)
    check_equal(x, once, what=f"{chain}: write twice")


@pytest.mark.parametrize("shape", [s for s in small_shapes(rank=2) if 0 not in s], ids=str)
def test_every_chain_of_two_views_keeps_the_laws(numpy_backend: ModuleType, shape: Shape) -> None:
    for chain in every_chain_of_two(shape):
        check_laws(numpy_backend, chain)


@pytest.mark.parametrize("shape", [(), (2, 2), (1, 3)], ids=str)
def test_some_chains_of_two_views_keep_the_laws_on_jax(
    jax_backend: ModuleType, shape: Shape
) -> None:
    for chain in some(jax_backend, every_chain_of_two(shape), 25):
        check_laws(jax_backend, chain)


@given(chains())
def test_any_chain_of_views_keeps_the_laws(numpy_backend: ModuleType, chain: Chain) -> None:
    shape, steps = chain
    base = counted(shape)
    if is_view_in_numpy(base, followed(steps, base)):
        check_laws(numpy_backend, chain)


@fewer(4)
@given(chains(max_rank=2))
def test_any_chain_of_views_keeps_the_laws_on_jax(jax_backend: ModuleType, chain: Chain) -> None:
    shape, steps = chain
    base = counted(shape)
    if is_view_in_numpy(base, followed(steps, base)):
        check_laws(jax_backend, chain)


@given(chains())
def test_the_fold_of_steps_keeps_the_laws_without_the_cached_buffer(
    numpy_backend: ModuleType, chain: Chain
) -> None:
    shape, steps = chain
    x = array(numpy_backend, counted(shape))
    view = followed_by_ours(steps, numpy_backend, x)
    if view._storage is not x._storage:
        return
    path = view._view
    a, c = -1 - counted(view.shape), 1000 + counted(view.shape)

    def written(base: Any, value: Any) -> Any:
        return path.write(base.copy(), value, BACKEND)

    base = counted(shape)
    np.testing.assert_array_equal(path.read(written(base, a), BACKEND), a)
    np.testing.assert_array_equal(written(base, path.read(base, BACKEND)), base)
    np.testing.assert_array_equal(written(written(base, c), a), written(base, a))


# -- the chain is the truth, the buffer its cache -------------------------------------------------


def check_cache(x: Any) -> None:
    """Check that the buffer an array keeps is what its chain of steps says it is."""
    buffer = x._buffer
    folded = x._view.read(x._storage.buffer, BACKEND)
    assert buffer is not None, "a NumPy-backed array of one strided layout keeps its buffer"
    assert folded.shape == buffer.shape
    assert folded.dtype == buffer.dtype
    layout = x._view.layout(BACKEND.strides(x._storage))
    assert layout is not None
    if buffer.size == 0:
        return
    place, base = (b.__array_interface__["data"][0] for b in (buffer, x._storage.buffer))
    assert folded.__array_interface__["data"][0] == place
    assert layout[0] * buffer.itemsize == place - base
    for have, kept, derived, n in zip(
        folded.strides, buffer.strides, layout[1], buffer.shape, strict=True
    ):
        assert n == 1 or have == kept == derived * buffer.itemsize
    assert x._view.readonly == (not buffer.flags.writeable)


@pytest.mark.parametrize("shape", small_shapes(rank=2), ids=str)
def test_every_view_of_a_view_has_the_buffer_that_its_steps_say(
    numpy_backend: ModuleType, shape: Shape
) -> None:
    base = counted(shape)
    for first in moves_of(shape, writable=False):
        x = first.ours(numpy_backend, array(numpy_backend, base))
        check_cache(x)
        for second in moves_of(x.shape, writable=False):
            check_cache(second.ours(numpy_backend, x))


@given(chains(writable=False, max_length=6))
def test_any_chain_has_the_buffer_that_its_steps_say(
    numpy_backend: ModuleType, chain: Chain
) -> None:
    shape, steps = chain
    x, a = array(numpy_backend, counted(shape)), counted(shape)
    for step in steps:
        x, a = step.ours(numpy_backend, x), step.numpys(a)
        check_cache(x)
        check_equal(x, a, what=step)


@given(st.data(), shapes(max_rank=3))
def test_an_import_with_strides_of_its_own_is_viewed_by_its_strides(
    numpy_backend: ModuleType, data: st.DataObject, shape: Shape
) -> None:
    base = counted(shape)
    part = data.draw(moves(shape)).numpys(base)
    x = numpy_backend.asarray(part)
    check_equal(x, part)
    move = data.draw(moves(part.shape))
    view = move.ours(numpy_backend, x)
    check_cache(view)
    check_equal(view, move.numpys(part), what=move)


# -- programs of views and writes, against NumPy --------------------------------------------------


class Write(NamedTuple):
    """Something done to an array in place, on both sides."""

    name: str
    do: Callable[[Any, Any], None]  # to an array, with a value that fits

    def __repr__(self) -> str:
        return self.name


def _assign(x: Any, value: Any) -> None:
    x[...] = value


def _in_place(name: str) -> Write:
    do = getattr(operator, name)

    def change(x: Any, value: Any) -> None:
        assert do(x, value) is x

    return Write(name, change)


WRITES = [
    Write("assign", _assign),
    Write("assign a scalar", lambda x, value: _assign(x, 7)),
    *map(_in_place, ["iadd", "isub", "imul", "iand", "ior", "ixor"]),
]


def check_program(xp: ModuleType, data: st.DataObject, base: Shape, length: int) -> None:
    """Run one program of views and writes on NumPy and on us; after each line all must agree.

    What NumPy must copy to reshape is copied by us: then later writes do not meet.
    """
    theirs: list[Any] = [counted(base)]
    ours: list[Any] = [array(xp, theirs[0])]
    lines: list[object] = []
    for _ in range(length):
        k = data.draw(st.integers(0, len(ours) - 1))
        a, x = theirs[k], ours[k]
        kind = data.draw(st.sampled_from(["view", "view", "write", "write at", "from another"]))
        if kind == "view" and a.ndim < 5:
            move = data.draw(moves(a.shape))
            theirs.append(move.numpys(a))
            ours.append(move.ours(xp, x))
            lines.append((k, move))
        elif kind == "write":
            write = data.draw(st.sampled_from(WRITES))
            value = counted(a.shape, start=data.draw(st.integers(0, 3)))
            lines.append((k, write))
            write.do(a, value)
            write.do(x, array(xp, value))
        elif kind == "write at":
            key = data.draw(keys(a.shape))
            lines.append((k, key))
            want = outcome(lambda: a.__setitem__(key, -3))  # noqa: B023
            have = outcome(lambda: x.__setitem__(key, -3))  # noqa: B023
            assert kinds(want) == kinds(have), f"{lines}: expected {want!r}, got {have!r}"
        else:
            source = data.draw(st.integers(0, len(ours) - 1))
            lines.append((k, "=", source))
            want = outcome(lambda: a.__setitem__(Ellipsis, theirs[source]))  # noqa: B023
            have = outcome(lambda: x.__setitem__(Ellipsis, ours[source]))  # noqa: B023
            assert kinds(want) == kinds(have), f"{lines}: expected {want!r}, got {have!r}"
        for one, other in zip(ours, theirs, strict=True):
            check_equal(one, other, what=lines)


@given(st.data(), shapes(max_rank=3, max_extent=3))
def test_any_program_of_views_and_writes_does_what_numpy_does(
    numpy_backend: ModuleType, data: st.DataObject, shape: Shape
) -> None:
    check_program(numpy_backend, data, shape, data.draw(st.integers(1, 12)))


@fewer(4)
@given(st.data())
def test_any_program_of_views_and_writes_does_on_jax_what_numpy_does(
    jax_backend: ModuleType, data: st.DataObject
) -> None:
    shape = data.draw(st.sampled_from([(4,), (2, 3)]))
    check_program(jax_backend, data, shape, data.draw(st.integers(1, 6)))


@given(st.data(), shapes(max_rank=3, min_extent=1))
def test_a_write_through_a_view_changes_what_it_changes_in_numpy_and_nothing_else(
    numpy_backend: ModuleType, data: st.DataObject, shape: Shape
) -> None:
    a = counted(shape)
    x = array(numpy_backend, a)
    key = data.draw(basic_keys(shape))
    x[key][...] = -1
    a[key][...] = -1
    check_equal(x, a, what=key)


# -- both sides are one array ---------------------------------------------------------------------

OVERLAPS: dict[str, Callable[[Any], Any]] = {
    "a transpose": lambda a: a.__setitem__(Ellipsis, a.T),
    "a shift forward": lambda a: a.__setitem__(slice(1, None), a[:-1]),
    "a shift backward": lambda a: a.__setitem__(slice(None, -1), a[1:]),
    "a reversal": lambda a: a.__setitem__(slice(None, None, -1), a),
    "a reversal of columns": lambda a: a.__setitem__((slice(None), slice(None, None, -1)), a),
    "a row over all": lambda a: a.__setitem__(Ellipsis, a[1]),
    "itself": lambda a: a.__setitem__(Ellipsis, a),
    "a permutation of rows": lambda a: a.__setitem__([1, 2, 0], a),
    "a swap of rows": lambda a: a.__setitem__([0, 2], a[[2, 0]]),
    "rows from a view": lambda a: a.__setitem__([0, 2], a[1:]),
    "a mask of itself": lambda a: a.__setitem__(a > 5, a[a < 4]),
    "a column as an index": lambda a: a.__setitem__(a[0] % 3, a[::-1]),
    "a sum with the transpose": lambda a: operator.iadd(a, a.T),
    "a sum with a shift": lambda a: operator.iadd(a[1:], a[:-1]),
    "a product with a reversal": lambda a: operator.imul(a, a[::-1, ::-1]),
    "a difference of itself": lambda a: operator.isub(a, a),
    "a sum with a row of its own": lambda a: operator.iadd(a, a[1]),
}


@pytest.mark.parametrize("write", OVERLAPS.values(), ids=OVERLAPS.keys())
def test_the_right_side_is_read_before_anything_is_written(
    backend: ModuleType, write: Callable[[Any], Any]
) -> None:
    a = np.array([[7, 3, 9], [1, 8, 0], [5, 2, 6]])
    x = array(backend, a)
    write(x)
    write(a)
    check_equal(x, a)


def test_a_loop_of_swaps_reverses(backend: ModuleType) -> None:
    x = array(backend, np.arange(7))
    for i in range(3):
        x[i], x[6 - i] = x[6 - i], x[i]
    check_equal(x, np.arange(7)[::-1])


def test_an_insertion_sort_sorts(backend: ModuleType) -> None:
    a = np.array([4, 2, 6, 1, 3, 5, 0])
    x = array(backend, a)
    for i in range(1, 7):
        j = i
        while j > 0 and int(x[j - 1]) > int(x[j]):
            x[j - 1], x[j] = x[j], x[j - 1]
            j -= 1
    check_equal(x, np.arange(7))


def test_a_swap_of_rows_through_views_is_no_swap_as_in_numpy(backend: ModuleType) -> None:
    a = counted((2, 2))
    x = array(backend, a)
    x[0], x[1] = x[1], x[0]
    a[0], a[1] = a[1], a[0]
    check_equal(x, a)


def test_a_running_sum_reads_what_was_just_written(backend: ModuleType) -> None:
    x = array(backend, np.arange(1, 9))
    for i in range(1, 8):
        x[i] = x[i - 1] + x[i]
    check_equal(x, np.cumsum(np.arange(1, 9)))


# -- repeated indices -----------------------------------------------------------------------------

REPEATED: dict[str, Any] = {
    "in a row": ([0, 0, 0],),
    "with another": ([1, 0, 1],),
    "from both ends": ([0, -3, 2, -1],),
    "of two axes": ([0, 1, 0], [1, 0, 1]),
    "against a broadcast": ([[0], [0]], [1, 1, 2]),
    "in a matrix": (np.array([[0, 1], [1, 0]]),),
    "in a transposed matrix": (np.array([[0, 1, 2], [1, 0, 1]]).T,),
    "in reversed order": (np.array([2, 0, 0, 1])[::-1],),
    "in columns first": (np.asfortranarray([[0, 1], [1, 0]]),),
    "behind a slice": (slice(None), [1, 1]),
    "around a slice": ([0, 0], slice(None), [0, 0]),
}


@pytest.mark.parametrize("key", REPEATED.values(), ids=REPEATED.keys())
def test_of_repeated_positions_the_last_one_wins(backend: ModuleType, key: Any) -> None:
    a = np.zeros((3, 3, 2), dtype=np.int64)
    x = array(backend, a)
    value = counted(a[key].shape, start=1)
    x[key] = array(backend, value)
    where = counted(a.shape)[key]
    for place in np.ndindex(where.shape):
        a.reshape(-1)[where[place]] = value[place]
    check_equal(x, a)


def test_an_in_place_sum_at_repeated_positions_counts_once_as_in_numpy(
    backend: ModuleType,
) -> None:
    x = array(backend, np.zeros(3, dtype=np.int64))
    x[[0, 0, 2]] += 1
    check_equal(x, np.array([1, 0, 1]))


# -- read-only ------------------------------------------------------------------------------------


def read_only_arrays(xp: ModuleType) -> dict[str, tuple[Any, Any]]:
    """Return arrays that may not be written, and what they look at."""
    base = array(xp, counted((1, 3)))
    wide, other = xp.broadcast_arrays(base, array(xp, counted((2, 1))))
    frozen = counted((2, 3))
    frozen.flags.writeable = False
    return {
        "broadcast_to": (xp.broadcast_to(base, (2, 3)), base),
        "a view of broadcast_to": (xp.broadcast_to(base, (2, 3))[:1, 1:], base),
        "broadcast_arrays": (wide, base),
        "broadcast_arrays, the other": (other, base),
        "read-only memory": (xp.asarray(memoryview(frozen.tobytes())), base),
        "overlapping memory": (
            xp.asarray(np.lib.stride_tricks.as_strided(counted((4,)), (2, 3), (8, 8))),
            base,
        ),
    }


REFUSED: dict[str, Callable[[Any], Any]] = {
    "an assignment": lambda x: x.__setitem__(Ellipsis, 1),
    "a slice": lambda x: x.__setitem__(slice(1), 1),
    "a mask": lambda x: x.__setitem__(x == x, 1),
    "an index array": lambda x: x.__setitem__([0], 1),
    "nothing at all": lambda x: x.__setitem__(slice(0), 1),
    "a view of it": lambda x: x[...].__setitem__(Ellipsis, 1),
    "an in-place sum": lambda x: operator.iadd(x, 1),
    "an in-place sum with itself": lambda x: operator.iadd(x, x),
}


@pytest.mark.parametrize("write", REFUSED.values(), ids=REFUSED.keys())
def test_a_read_only_array_refuses_and_nothing_changes(
    backend: ModuleType, write: Callable[[Any], Any]
) -> None:
    for name, (x, base) in read_only_arrays(backend).items():
        if name.endswith("memory") and not backend.__name__.endswith(".numpy"):
            continue  # taken in by a copy
        before, under = host(x), host(base)
        with pytest.raises(ValueError, match="read-only"):
            write(x)
        check_equal(x, before, what=name)
        check_equal(base, under, what=name)


def test_a_copy_of_a_read_only_array_may_be_written(backend: ModuleType) -> None:
    x = backend.asarray(backend.broadcast_to(array(backend, counted((3,))), (2, 3)), copy=True)
    x[0, 0] = 9
    check_equal(x, np.array([[9, 1, 2], [0, 1, 2]]))


def test_a_write_to_the_base_is_seen_through_a_read_only_view(backend: ModuleType) -> None:
    base = array(backend, counted((3,)))
    wide = backend.broadcast_to(base, (2, 3))
    base[1] = 9
    check_equal(wide, np.array([[0, 9, 2], [0, 9, 2]]))


# -- what does not broadcast, or loses its kind, changes nothing ----------------------------------


@pytest.mark.parametrize("key", [Ellipsis, slice(1, 3), [0, 2], [True, False, True, True]], ids=str)
def test_a_value_that_does_not_fit_changes_nothing(backend: ModuleType, key: Any) -> None:
    a = counted((4, 2))
    x = array(backend, a)
    for value in (counted((5, 2)), counted((2, 5)), counted((2, 4, 2))):
        with pytest.raises(ValueError, match="assignment"):
            x[key] = array(backend, value)
        check_equal(x, a)


def test_the_dtype_never_changes(backend: ModuleType) -> None:
    a = np.zeros(3, dtype=np.int16)
    x = array(backend, a)
    x[0] = 5
    x[1:] = array(backend, np.array([1, 2], dtype=np.int64))
    x += 1
    x += array(backend, np.array([1, 1, 1], dtype=np.int8))
    check_equal(x, np.array([7, 3, 4], dtype=np.int16))
    for value in (1.5, 1j, array(backend, np.array(1.5))):
        with pytest.raises(TypeError):
            x[0] = value
        with pytest.raises(TypeError):
            x += value
    check_equal(x, np.array([7, 3, 4], dtype=np.int16))


# -- threads --------------------------------------------------------------------------------------


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Let threads take turns far more often than they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_all(*tasks: Callable[[], None]) -> None:
    """Run the tasks in threads of their own; raise the first error of any."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result(timeout=120)


@pytest.mark.usefixtures("quick_switches")
def test_readers_beside_a_writer_see_whole_writes_and_no_deleted_buffer(
    backend: ModuleType,
) -> None:
    x = array(backend, np.zeros((4, 64), dtype=np.int64))
    rounds = 2500

    def write() -> None:
        for k in range(rounds):
            x[1] = k

    def read() -> None:
        for _ in range(rounds):
            host(x[1] + 0)
            host(x[:, ::-1])
            np.asarray(x)

    run_all(write, read, read, read)
    check_equal(x[1], np.full(64, rounds - 1))


@pytest.mark.usefixtures("quick_switches")
def test_writers_of_disjoint_views_lose_nothing(backend: ModuleType) -> None:
    x = array(backend, np.zeros((8, 16), dtype=np.int64))
    rounds = 1250

    def writer(row: int) -> Callable[[], None]:
        def write() -> None:
            mine = x[row]
            for _ in range(rounds):
                mine += 1

        return write

    run_all(*[writer(row) for row in range(8)])
    check_equal(x, np.full((8, 16), rounds))


@pytest.mark.usefixtures("quick_switches")
def test_copies_between_two_arrays_in_both_directions_do_not_wait_for_each_other(
    backend: ModuleType,
) -> None:
    x, y = (array(backend, np.full(16, k)) for k in (1, 2))

    def copy(target: Any, source: Any) -> Callable[[], None]:
        def write() -> None:
            for _ in range(500):
                target[:8] = source[8:]
                operator.iadd(target, source)
                operator.isub(target, source)

        return write

    run_all(copy(x, y), copy(y, x))
    assert x.shape == y.shape == (16,)
