"""Keys: what stands in brackets means what it means in NumPy, on every backend."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import array, check_equal, check_same, host, kinds, outcome, some
from strategies import counted, keys, shapes, small_shapes, small_slices

# One of each form of item that a key can have. The masks fit extents 2 and 3, and (2, 3).
ITEMS: list[Any] = [
    slice(None),
    slice(1, None),
    slice(None, None, -2),
    0,
    -1,
    np.int8(1),
    None,
    Ellipsis,
    [0, -1],
    np.array([[1], [0]]),
    np.array(1),
    True,
    np.array(False),
    np.array([True, False]),
    [True, False, True],
    np.array([[True, False, True], [False, True, True]]),
]


class Index:
    """What has ``__index__`` and nothing else."""

    def __index__(self) -> int:
        return 1


def read_as_numpy(xp: ModuleType, a: Any, key: Any) -> None:
    """Check that reading a key gives what it gives in NumPy, or raises what it raises there."""
    x = array(xp, a)
    check_same(lambda: x[key], lambda: np.asarray(a[key]), what=(a.shape, key))


def write_as_numpy(xp: ModuleType, a: Any, key: Any, value: Any) -> None:
    """Check that writing through a key changes what it changes in NumPy, or nothing."""
    x, a = array(xp, a), a.copy()
    source = array(xp, value) if isinstance(value, np.ndarray) else value
    want = outcome(lambda: a.__setitem__(key, value))
    have = outcome(lambda: x.__setitem__(key, source))
    what = (a.shape, key, np.shape(value))
    if isinstance(want, Exception):
        assert isinstance(have, Exception), f"{what}: expected {want!r}, got {have!r}"
        assert kinds(have) == kinds(want), f"{what}: expected {want!r}, got {have!r}"
    elif isinstance(have, Exception):
        raise AssertionError(f"{what}: expected no error, got {have!r}") from have
    check_equal(x, a, what=what)


# -- exhaustive -----------------------------------------------------------------------------------


@pytest.mark.parametrize("extent", range(4))
def test_every_small_slice_reads_what_numpy_reads(backend: ModuleType, extent: int) -> None:
    a = counted((extent,))
    x = array(backend, a)
    for key in some(backend, small_slices(), 12):
        check_equal(x[key], a[key], what=key)


def test_every_small_slice_writes_what_numpy_writes(backend: ModuleType) -> None:
    for extent in (0, 1, 3):
        for key in some(backend, small_slices(), 12):
            a = counted((extent,))
            write_as_numpy(backend, a, key, counted(a[key].shape, start=100))


def test_an_integer_reads_what_numpy_reads_or_raises_index_error(backend: ModuleType) -> None:
    for extent in range(4):
        for k in range(-5, 5):
            read_as_numpy(backend, counted((extent, 2)), k)


@pytest.mark.parametrize("rank", range(4))
def test_every_key_of_three_items_reads_what_numpy_reads(backend: ModuleType, rank: int) -> None:
    shape = (2, 3, 2)[:rank]
    a = counted(shape)
    x = array(backend, a)
    every = [key for n in range(4) for key in itertools.product(ITEMS, repeat=n)]
    for key in some(backend, every, 40):
        check_same(lambda: x[key], lambda: np.asarray(a[key]), what=(shape, key))  # noqa: B023


@pytest.mark.parametrize("shape", [(2,), (2, 3), (3, 2), (0, 2), (2, 3, 2)])
def test_every_key_of_two_items_writes_what_numpy_writes(
    backend: ModuleType, shape: tuple[int, ...]
) -> None:
    every = [key for n in range(3) for key in itertools.product(ITEMS, repeat=n)]
    for key in some(backend, every, 25):
        a = counted(shape)
        part = outcome(lambda: a[key])  # noqa: B023
        wanted = () if isinstance(part, Exception) else np.shape(part)
        write_as_numpy(backend, a, key, counted(wanted, start=100))
        write_as_numpy(backend, a, key, -1)


def test_a_pair_of_items_on_every_small_shape_reads_what_numpy_reads(
    numpy_backend: ModuleType,
) -> None:
    for shape in small_shapes():
        a = counted(shape)
        x = array(numpy_backend, a)
        for key in itertools.product(ITEMS, repeat=2):
            check_same(lambda: x[key], lambda: np.asarray(a[key]), what=(shape, key))  # noqa: B023


# -- the places of the axes of index arrays -------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        ([0, 1], [1, 2]),
        (slice(None), [0, 1], [1, 0]),
        ([0, 1], slice(None), [1, 0]),
        (slice(None), [0, 1], slice(None), [1, 0]),
        (0, slice(None), [1, 0]),
        (slice(None), 0, [1, 0]),
        (slice(None), 0, slice(None), [1, 0]),
        (slice(None), [1, 0], 0),
        (slice(None), [1, 0], None, [1, 0]),
        (slice(None), None, [1, 0], [1, 0]),
        (slice(None), [[0], [1]], [1, 0]),
        (slice(None), [[0, 1, 1]], slice(None), 1),
        ([1, 0], Ellipsis),
        (Ellipsis, [1, 0]),
        ([1, 0], Ellipsis, [1, 1]),
        (slice(None), Ellipsis, 1, [1, 1]),
        (Ellipsis, 1, [1, 1], None),
        (slice(None), True, [1, 0]),
        (slice(None), [1, 0], True),
        (True, slice(None), [1, 0]),
        (slice(None), slice(None, None, -1), np.array(1), [1, 0]),
    ],
    ids=str,
)
def test_axes_of_index_arrays_stand_where_numpy_puts_them(backend: ModuleType, key: Any) -> None:
    a = counted((2, 3, 3, 2))
    read_as_numpy(backend, a, key)
    write_as_numpy(backend, a, key, counted(a[key].shape, start=100))


@pytest.mark.parametrize("shape", [(3,), (0,), (2, 3), (0, 2), (2, 0), (0, 1)], ids=str)
def test_an_extent_of_a_mask_is_that_of_its_axis_or_nothing(
    backend: ModuleType, shape: tuple[int, ...]
) -> None:
    a = counted(shape)
    for rank in (1, 2, 3):
        for extents in itertools.product(range(4), repeat=rank):
            mask = np.ones(extents, bool)
            read_as_numpy(backend, a, mask)
            write_as_numpy(backend, a, mask, -1)
            write_as_numpy(backend, a, (mask, Ellipsis), -1)


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("rank", [1, 2])
def test_a_mask_may_stand_anywhere(backend: ModuleType, at: int, rank: int) -> None:
    a = counted((2, 3, 4))
    if at + rank > a.ndim:
        pytest.skip("no such axes")
    mask = counted(a.shape[at : at + rank]) % 2 == 0
    for key in (
        (slice(None),) * at + (mask,),
        (slice(1, None),) * at + (mask, Ellipsis),
        (None,) + (slice(None),) * at + (mask,),
        (Ellipsis, mask, *(slice(None, None, -1),) * (a.ndim - at - rank)),
    ):
        read_as_numpy(backend, a, key)
        write_as_numpy(backend, a, key, counted(a[key].shape, start=100))


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_a_mask_without_axes_adds_an_axis_of_one_or_none(
    backend: ModuleType, shape: tuple[int, ...], value: bool
) -> None:
    a = counted(shape)
    for mask in (value, np.bool_(value), np.array(value)):
        for key in (mask, (mask, Ellipsis), (Ellipsis, mask), (None, mask), (mask, mask)):
            read_as_numpy(backend, a, key)
            write_as_numpy(backend, a, key, 7)


def test_our_own_arrays_are_keys(backend: ModuleType) -> None:
    a = counted((3, 4))
    x = array(backend, a)
    rows, mask = np.array([2, 0]), a % 3 == 0
    check_equal(x[array(backend, rows)], a[rows])
    check_equal(x[array(backend, rows), array(backend, rows)], a[rows, rows])
    check_equal(x[array(backend, mask)], a[mask])
    check_equal(x[array(backend, np.array(1)), ...], a[1, ...])
    check_equal(x[array(backend, np.array(1)) : array(backend, np.array(3))], a[1:3])


def test_whatever_has_an_index_is_an_index(backend: ModuleType) -> None:
    x = array(backend, counted((3, 4)))
    for one in (Index(), np.int64(1), np.uint8(1), np.array(1), 1):
        check_equal(x[one], counted((3, 4))[1])
        check_equal(x[one:], counted((3, 4))[1:])
        check_equal(x[..., one], counted((3, 4))[..., 1])
        check_equal(x[one, one], np.asarray(counted((3, 4))[1, 1]))


def test_an_index_array_may_repeat_positions_in_reading(backend: ModuleType) -> None:
    read_as_numpy(backend, counted((3, 2)), [2, 2, 0, 2])
    read_as_numpy(backend, counted((3, 2)), ([2, 2], [-1, 1]))


def test_unsigned_and_narrow_index_arrays_reach_every_position(backend: ModuleType) -> None:
    a = counted((200,))
    for dtype in (np.uint8, np.uint64, np.int16):
        read_as_numpy(backend, a, np.array([0, 127, 128, 199], dtype=dtype))


# -- errors ---------------------------------------------------------------------------------------

WRONG = {
    "too many integers": ((2, 3), (0, 0, 0), IndexError),
    "too many slices": ((2,), (slice(None), slice(None)), IndexError),
    "two ellipses": ((2, 3), (Ellipsis, Ellipsis), IndexError),
    "an integer out of range": ((2, 3), 2, IndexError),
    "a negative integer out of range": ((2, 3), (0, -4), IndexError),
    "an integer into nothing": ((0,), 0, IndexError),
    "an index array out of range": ((2, 3), [0, 2], IndexError),
    "a negative index array out of range": ((2, 3), (slice(None), [-4]), IndexError),
    "an index array out of range of an empty axis": ((0, 3), [0], IndexError),
    "index arrays that do not broadcast": ((2, 3), ([0, 1], [0, 1, 2]), IndexError),
    "a mask that is too long": ((2,), [True, False, True], IndexError),
    "a mask that is too short": ((3,), [True, False], IndexError),
    "a mask of another shape": ((2, 3), np.ones((3, 2), bool), IndexError),
    "a mask with too many axes": ((2,), np.ones((2, 1), bool), IndexError),
    "a float": ((2,), 1.0, IndexError),
    "a float array": ((2,), np.array([0.0, 1.0]), IndexError),
    "a string": ((2,), "0", IndexError),
    "a complex number": ((2,), 1j, IndexError),
    "a step of zero": ((2,), slice(None, None, 0), ValueError),
    "a slice of floats": ((2,), slice(0.0, 1.0), TypeError),
    "any key of an array without axes": ((), 0, IndexError),
}


@pytest.mark.parametrize(("shape", "key", "error"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_key_raises_what_numpy_raises_and_changes_nothing(
    backend: ModuleType, shape: tuple[int, ...], key: Any, error: type[Exception]
) -> None:
    a = counted(shape)
    x = array(backend, a)
    with pytest.raises(error) as ours:
        x[key]
    assert str(ours.value), "an error says what was expected"
    with pytest.raises(error):
        x[key] = 1
    with pytest.raises(error):
        a[key]
    check_equal(x, a)


def test_an_index_error_names_the_index_the_axis_and_the_extent(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3)))
    for key in ((0, 7), (0, np.array(7)), (slice(None), [0, 7])):
        with pytest.raises(IndexError, match=r"7.*axis 1.*3"):
            x[key]


# -- random ---------------------------------------------------------------------------------------


@given(st.data(), shapes())
def test_any_key_reads_what_numpy_reads(
    numpy_backend: ModuleType, data: st.DataObject, shape: tuple[int, ...]
) -> None:
    key = data.draw(keys(shape))
    read_as_numpy(numpy_backend, counted(shape), key)


@given(st.data(), shapes())
def test_any_key_writes_what_numpy_writes(
    numpy_backend: ModuleType, data: st.DataObject, shape: tuple[int, ...]
) -> None:
    a = counted(shape)
    key = data.draw(keys(shape))
    part = outcome(lambda: a[key])
    wanted = () if isinstance(part, Exception) else np.shape(part)
    own = wanted[data.draw(st.integers(0, len(wanted))) :]
    own = tuple(1 if data.draw(st.integers(0, 5)) == 0 else n for n in own)
    write_as_numpy(numpy_backend, a, key, counted(own, start=1000))


@given(st.data())
def test_any_key_means_the_same_on_jax(jax_backend: ModuleType, data: st.DataObject) -> None:
    a = counted((2, 3, 2))
    key = data.draw(keys(a.shape))
    read_as_numpy(jax_backend, a, key)
    write_as_numpy(jax_backend, a, key, -5)


def test_the_elements_that_a_read_gives_are_fresh_unless_it_is_a_view(backend: ModuleType) -> None:
    a = counted((3, 4))
    views: list[Any] = [0, slice(1), (0, slice(None)), Ellipsis, None, (0, 0, Ellipsis)]
    copies: list[Any] = [(0, 0), [0], [True, False, True], (0, [1, 2]), a > 3, True]
    for key, is_view in [*[(key, True) for key in views], *[(key, False) for key in copies]]:
        x = array(backend, a)
        x[key][...] = -1
        assert np.array_equal(host(x), a) != is_view, key
