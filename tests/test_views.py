"""Which functions give views, the views by name, and what writing through them refuses."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strata_api
from oracle import array, check_equal, host, is_numpy
from strata_api import Dimension, PartialShape, abstract, views
from strategies import counted, fewer, shapes, small_shapes

SHAPE = (2, 3, 4)
RANKLESS = PartialShape.dynamic()

# -- views or fresh, function by function ---------------------------------------------------------

WRITABLE: dict[str, Callable[[ModuleType, Any], Any]] = {
    "x[1:]": lambda xp, x: x[1:],
    "x[::-1, ::2]": lambda xp, x: x[::-1, ::2],
    "x[...]": lambda xp, x: x[...],
    "x[None]": lambda xp, x: x[None],
    "x[0]": lambda xp, x: x[0],
    "x[0, :, 1]": lambda xp, x: x[0, :, 1],
    "x[0, 1, 2, ...]": lambda xp, x: x[0, 1, 2, ...],
    "permute_dims": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "T": lambda xp, x: x[0].T,
    "mT": lambda xp, x: x.mT,
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "linalg.matrix_transpose": lambda xp, x: xp.linalg.matrix_transpose(x),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, 2),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=1),
    "squeeze": lambda xp, x: xp.squeeze(x[:1], axis=0),
    "flip": lambda xp, x: xp.flip(x),
    "flip along an axis": lambda xp, x: xp.flip(x, axis=1),
    "unstack": lambda xp, x: xp.unstack(x)[1],
    "unstack along an axis": lambda xp, x: xp.unstack(x, axis=2)[3],
    "linalg.diagonal": lambda xp, x: xp.linalg.diagonal(x),
    "linalg.diagonal beside": lambda xp, x: xp.linalg.diagonal(x, offset=1),
    "asarray": lambda xp, x: xp.asarray(x),
    "asarray, copy=False": lambda xp, x: xp.asarray(x, copy=False),
    "astype, copy=False": lambda xp, x: xp.astype(x, x.dtype, copy=False),
    "reshape that merges": lambda xp, x: xp.reshape(x, (6, 4)),
    "reshape that splits": lambda xp, x: xp.reshape(x[::-1], (2, 3, 2, 2)),
    "reshape, copy=False": lambda xp, x: xp.reshape(x, (-1,), copy=False),
    "views.slice": lambda xp, x: views.slice(x, (1,), (2,)),
    "views.permute": lambda xp, x: views.permute(x, (2, 0, 1)),
    "views.diagonal": lambda xp, x: views.diagonal(x[:, :2], (0, 1)),
    "views.block": lambda xp, x: views.block(x, (1, 2, 2), (1, 0, 2)),
    "views.relax": lambda xp, x: views.relax(x),
}

READ_ONLY: dict[str, Callable[[ModuleType, Any], Any]] = {
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (5, *SHAPE)),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, xp.ones((5, 1, 1, 1)))[0],
    "views.expand": lambda xp, x: views.expand(x, (1,), (2, 5, 3, 4)),
    "views.readonly": lambda xp, x: views.readonly(x),
    "views.relax, readonly": lambda xp, x: views.relax(x, readonly=True),
}

FRESH: dict[str, Callable[[ModuleType, Any], Any]] = {
    "x[0, 1, 2]": lambda xp, x: x[0, 1, 2],
    "x[[0]]": lambda xp, x: x[[0]],
    "x[:, [2, 1]]": lambda xp, x: x[:, [2, 1]],
    "x[mask]": lambda xp, x: x[x > 3],
    "x[True]": lambda xp, x: x[True],
    "asarray, copy=True": lambda xp, x: xp.asarray(x, copy=True),
    "astype": lambda xp, x: xp.astype(x, x.dtype),
    "reshape, copy=True": lambda xp, x: xp.reshape(x, (6, 4), copy=True),
    "reshape that cannot be a view": lambda xp, x: xp.reshape(x.mT, (8, 3)),
    "real": lambda xp, x: xp.real(x),
    "imag": lambda xp, x: xp.imag(xp.astype(x, xp.complex128)),
    "conj": lambda xp, x: xp.conj(x),
    "+x": lambda xp, x: +x,
    "positive": lambda xp, x: xp.positive(x),
    "concat": lambda xp, x: xp.concat([x]),
    "stack": lambda xp, x: xp.stack([x]),
    "roll": lambda xp, x: xp.roll(x, 0),
    "tile": lambda xp, x: xp.tile(x, (1,)),
    "repeat": lambda xp, x: xp.repeat(x, 1),
    "take": lambda xp, x: xp.take(x, xp.asarray([0, 1]), axis=0),
    "sort": lambda xp, x: xp.sort(x),
    "tril": lambda xp, x: xp.tril(x, k=9),
    "clip": lambda xp, x: xp.clip(x),
    "where": lambda xp, x: xp.where(True, x, x),
    "round": lambda xp, x: xp.round(x),
    "sum": lambda xp, x: xp.sum(x, axis=()),
    "matmul": lambda xp, x: x @ xp.eye(4),
    "meshgrid": lambda xp, x: xp.meshgrid(x[0, 0])[0],
    "zeros_like": lambda xp, x: xp.zeros_like(x),
}


def based(xp: ModuleType) -> Any:
    return array(xp, counted(SHAPE, dtype=np.float64))


@pytest.mark.parametrize("make", WRITABLE.values(), ids=WRITABLE.keys())
def test_a_view_shares_its_storage_and_is_written_through(
    backend: ModuleType, make: Callable[..., Any]
) -> None:
    x = based(backend)
    view = make(backend, x)
    assert views.shares_storage(view, x)
    assert views.shares_storage(x, view)
    assert views.may_share_memory(view, x)
    before = host(view)
    view[...] = -1.0
    assert np.count_nonzero(host(x) == -1) == before.size
    x[...] = 7.0
    assert np.all(host(view) == 7)


@pytest.mark.parametrize("make", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_a_read_only_view_shares_its_storage_and_refuses_to_be_written(
    backend: ModuleType, make: Callable[..., Any]
) -> None:
    x = based(backend)
    view = make(backend, x)
    assert views.shares_storage(view, x)
    for write in (
        lambda: view.__setitem__(Ellipsis, 0.0),
        lambda: view.__iadd__(1.0),
        lambda: view[..., 0].__setitem__(Ellipsis, 0.0),
        lambda: view.__setitem__(view > 3.0, 0.0),
        lambda: view.__setitem__([0], 0.0),
        lambda: views.assign(view, 0.0),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    check_equal(x, counted(SHAPE, dtype=np.float64))
    x[...] = 7.0
    assert np.all(host(view) == 7)


@pytest.mark.parametrize("make", FRESH.values(), ids=FRESH.keys())
def test_a_fresh_array_shares_nothing_and_is_row_major(
    backend: ModuleType, make: Callable[..., Any]
) -> None:
    x = based(backend)
    fresh = make(backend, x)
    assert not views.shares_storage(fresh, x)
    assert not views.may_share_memory(fresh, x)
    before = host(fresh)
    assert views.cursor(fresh) == (0, tuple(s // before.itemsize for s in before.strides))
    x[...] = 7.0
    check_equal(fresh, before)
    fresh[...] = backend.astype(backend.asarray(1), fresh.dtype)
    assert np.all(host(x) == 7)


def test_of_several_results_that_broadcast_none_may_be_written(backend: ModuleType) -> None:
    x, y = based(backend), based(backend)
    for one in backend.broadcast_arrays(x, y):
        with pytest.raises(ValueError, match="read-only"):
            one[...] = 0.0


def test_a_reshape_without_a_copy_is_refused_where_strides_do_not_chain(
    backend: ModuleType,
) -> None:
    x = based(backend)
    for view, shape in ((x.mT, (24,)), (x[:, ::2], (16,)), (x[..., 1:], (2, 9))):
        with pytest.raises(ValueError, match="copy=False"):
            backend.reshape(view, shape, copy=False)
    assert views.shares_storage(backend.reshape(x[:, :, ::2], (6, 2), copy=False), x)
    assert views.shares_storage(backend.reshape(x[::-1, 0], (2, 2, 2), copy=False), x)


@pytest.mark.parametrize("shape", [s for s in small_shapes() if 0 not in s], ids=str)
def test_a_reshape_is_a_view_exactly_where_numpys_is(
    numpy_backend: ModuleType, shape: tuple[int, ...]
) -> None:
    a = counted(shape)
    keys = [np.s_[...], np.s_[::-1], np.s_[1:], np.s_[..., ::2], np.s_[..., ::-1]]
    for key in keys if shape else keys[:1]:
        for axes in itertools.permutations(range(a[key].ndim)):
            part = a[key].transpose(axes)
            x = array(numpy_backend, a)
            mine = numpy_backend.permute_dims(x[key], axes)
            for new in ((-1,), (1, -1), part.shape[::-1], (*part.shape, 1)):
                want = part.reshape(new)
                have = numpy_backend.reshape(mine, want.shape)
                check_equal(have, want)
                if part.size:
                    assert views.shares_storage(have, x) == np.shares_memory(want, a)


# -- by name: slice, permute, diagonal, block, expand ---------------------------------------------


def test_slice_fixes_axes_in_any_order_and_from_both_ends(backend: ModuleType) -> None:
    x, a = based(backend), counted(SHAPE, dtype=np.float64)
    check_equal(views.slice(x, (1,), (2,)), a[:, 2])
    check_equal(views.slice(x, (-1, 0), (-1, 1)), a[1, :, -1])
    check_equal(views.slice(x, (), ()), a)
    check_equal(views.slice(x, (1,), (backend.asarray(2),)), a[:, 2])
    element = views.slice(x, (0, 1, 2), (1, 2, 3))
    element[...] = -1.0
    assert host(x)[1, 2, 3] == -1, "all axes fixed: a view, unlike x[1, 2, 3]"


def test_permute_is_a_transpose(backend: ModuleType) -> None:
    x, a = based(backend), counted(SHAPE, dtype=np.float64)
    for axes in itertools.permutations(range(3)):
        check_equal(views.permute(x, axes), a.transpose(axes))
    check_equal(views.permute(x, (-1, 0, 1)), a.transpose(2, 0, 1))


def test_diagonal_ties_any_number_of_axes(backend: ModuleType) -> None:
    a = counted((3, 3, 2, 3))
    for axes in ((0, 1), (0, 1, 3), (3, 1), (-1, 0, 1)):
        x, n = array(backend, a), a.copy()
        view = views.diagonal(x, axes)
        letters = list("abcd")
        for axis in axes:
            letters[axis] = "i"
        rest = "".join(letter for letter in letters if letter != "i")
        check_equal(view, np.einsum(f"{''.join(letters)}->{rest}i", n), what=axes)
        view[..., 1:] = -1
        np.einsum(f"{''.join(letters)}->{rest}i", n)[..., 1:] = -1
        check_equal(x, n, what=axes)


def test_block_is_a_window(backend: ModuleType) -> None:
    x, a = based(backend), counted(SHAPE, dtype=np.float64)
    check_equal(views.block(x, (1, 2, 3), (1, 1, 0)), a[1:2, 1:3, :3])
    check_equal(views.block(x, SHAPE, (0, 0, 0)), a)
    check_equal(views.block(x, (2, 1, 2), (0, -1, -2)), a[:2, -1:, -2:])
    check_equal(views.block(x, (0, 3, 4), (2, 0, 0)), a[2:])
    check_equal(views.block(x, (1, 2, 3), (backend.asarray(1), 1, 0)), a[1:2, 1:3, :3])
    window = views.block(x[::-1, :, ::-2], (1, 3, 1), (1, 0, 1))
    window += 100.0
    a[::-1, :, ::-2][1:2, :, 1:2] += 100.0
    check_equal(x, a)


def test_expand_repeats_along_new_axes(backend: ModuleType) -> None:
    x, a = based(backend), counted(SHAPE, dtype=np.float64)
    view = views.expand(x, (0, 2), (5, 2, 7, 3, 4))
    check_equal(view, np.broadcast_to(a[None, :, None], (5, 2, 7, 3, 4)))
    check_equal(views.expand(x, (-1,), (*SHAPE, 2)), np.stack([a, a], axis=-1))
    assert views.expand(x, (), SHAPE).shape == SHAPE
    assert views.cursor(view).strides == (0, 12, 0, 4, 1)


@given(st.data(), shapes(max_rank=4, min_extent=1))
def test_named_views_chain_as_numpys_do(
    numpy_backend: ModuleType, data: st.DataObject, shape: tuple[int, ...]
) -> None:
    check_chain(numpy_backend, data, shape)


@fewer(4)
@given(st.data())
def test_named_views_chain_as_numpys_do_on_jax(
    jax_backend: ModuleType, data: st.DataObject
) -> None:
    check_chain(jax_backend, data, (3, 2, 3))


def check_chain(xp: ModuleType, data: st.DataObject, shape: tuple[int, ...]) -> None:
    a = counted(shape)
    x = array(xp, a)
    view, part = x, a
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.sampled_from(["slice", "permute", "block", "diagonal"]))
        rank = part.ndim
        if kind == "slice" and rank:
            axis = data.draw(st.integers(0, rank - 1))
            k = data.draw(st.integers(-part.shape[axis], part.shape[axis] - 1))
            view, part = views.slice(view, (axis,), (k,)), np.moveaxis(part, axis, 0)[k, ...]
        elif kind == "permute":
            axes = tuple(data.draw(st.permutations(range(rank))))
            view, part = views.permute(view, axes), part.transpose(axes)
        elif kind == "block":
            corner = tuple(data.draw(st.integers(0, n - 1)) for n in part.shape)
            sizes = tuple(
                data.draw(st.integers(1, n - k)) for n, k in zip(part.shape, corner, strict=True)
            )
            view = views.block(view, sizes, corner)
            box = [slice(k, k + n) for k, n in zip(corner, sizes, strict=True)]
            part = part[(*box, ...)]
        elif rank >= 2 and part.shape[0] == part.shape[-1]:
            view = views.diagonal(view, (0, -1))
            part = np.einsum("i...i->...i", part)
        check_equal(view, part)
        where = part.__array_interface__["data"][0] - a.__array_interface__["data"][0]
        strides = tuple(s // a.itemsize for s in part.strides)
        assert views.cursor(view).offset == where // a.itemsize
        for have, want, n in zip(views.cursor(view).strides, strides, part.shape, strict=True):
            assert have == want or n == 1
    view[...] = -1
    part[...] = -1
    check_equal(x, a)


BAD: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "slice: an axis out of range": (lambda x: views.slice(x, (3,), (0,)), IndexError),
    "slice: an axis twice": (lambda x: views.slice(x, (0, -3), (0, 0)), ValueError),
    "slice: an index out of range": (lambda x: views.slice(x, (0,), (2,)), IndexError),
    "slice: too few indices": (lambda x: views.slice(x, (0, 1), (0,)), ValueError),
    "slice: a float": (lambda x: views.slice(x, (0,), (0.0,)), TypeError),  # type: ignore[arg-type]
    "permute: too few axes": (lambda x: views.permute(x, (0, 1)), ValueError),
    "permute: an axis twice": (lambda x: views.permute(x, (0, 1, 1)), ValueError),
    "permute: an axis out of range": (lambda x: views.permute(x, (0, 1, 3)), IndexError),
    "diagonal: unequal extents": (lambda x: views.diagonal(x, (0, 1)), ValueError),
    "diagonal: one axis": (lambda x: views.diagonal(x, (0,)), ValueError),
    "diagonal: an axis twice": (lambda x: views.diagonal(x, (1, 1)), ValueError),
    "diagonal: an axis out of range": (lambda x: views.diagonal(x, (0, 3)), IndexError),
    "block: outside": (lambda x: views.block(x, (1, 2, 3), (0, 2, 0)), IndexError),
    "block: outside in front": (lambda x: views.block(x, (1, 2, 3), (0, -4, 0)), IndexError),
    "block: too large": (lambda x: views.block(x, (3, 1, 1), (0, 0, 0)), IndexError),
    "block: across the end": (lambda x: views.block(x, (1, 2, 1), (0, -1, 0)), IndexError),
    "block: too few sizes": (lambda x: views.block(x, (1, 1), (0, 0)), ValueError),
    "block: a negative size": (lambda x: views.block(x, (1, -1, 1), (0, 0, 0)), ValueError),
    "block: a float": (lambda x: views.block(x, (1, 1, 1), (0, 0, 0.0)), TypeError),  # type: ignore[list-item]
    "expand: another shape": (lambda x: views.expand(x, (0,), (5, 2, 3, 5)), ValueError),
    "expand: too few axes": (lambda x: views.expand(x, (0,), (5, 2, 3)), ValueError),
    "expand: an axis out of range": (lambda x: views.expand(x, (4,), (2, 3, 4, 5)), IndexError),
    "readonly: no array": (lambda x: views.readonly([1, 2]), TypeError),  # type: ignore[arg-type]
    "relax: another rank": (lambda x: views.relax(x, shape=(2, 3)), ValueError),
    "relax: another extent": (lambda x: views.relax(x, shape=(2, 3, 5)), ValueError),
    "relax: an interval without it": (
        lambda x: views.relax(x, shape=(2, Dimension(4, 8), 4)),
        ValueError,
    ),
    "assign: another shape": (lambda x: views.assign(x, x[0]), ValueError),
    "assign: more axes": (lambda x: views.assign(x, x[None]), ValueError),
    "assign: an axis of 1": (lambda x: views.assign(x, x[:1]), ValueError),
    "assign: a 0-d array": (lambda x: views.assign(x, x[0, 0, 0]), ValueError),
    "assign: a complex number": (lambda x: views.assign(x, 1j), TypeError),
    "assign: complex elements": (lambda x: views.assign(x, x * 1j), TypeError),
    "assign: a list": (lambda x: views.assign(x, [1.0]), TypeError),  # type: ignore[arg-type]
    "assign: a shape, promised": (lambda x: views.assign(x, views.noalias(x[0])), ValueError),
}


@pytest.mark.parametrize(("call", "error"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_and_changes_nothing(
    backend: ModuleType, call: Callable[[Any], Any], error: type[Exception]
) -> None:
    x = based(backend)
    with pytest.raises(error) as raised:
        call(x)
    assert str(raised.value)
    check_equal(x, counted(SHAPE, dtype=np.float64))


# -- assign and noalias ---------------------------------------------------------------------------


def test_assign_writes_a_tensor_or_a_scalar_and_returns_the_view(backend: ModuleType) -> None:
    x, a = based(backend), counted(SHAPE, dtype=np.float64)
    row = x[1]
    assert views.assign(row, x[0]) is row
    a[1] = a[0]
    check_equal(x, a)
    views.assign(x.mT[0], 7)
    a.transpose(0, 2, 1)[0] = 7
    views.assign(row, np.ones((3, 4), dtype=np.float32))
    a[1] = 1
    check_equal(x, a)


def test_assign_reads_its_source_before_it_writes(backend: ModuleType) -> None:
    a = counted((3, 3))
    x = array(backend, a)
    views.assign(x, x.T)
    check_equal(x, a.T)
    views.assign(x[1:], x[:-1])
    check_equal(x, a.T[[0, 0, 1]])
    views.assign(x, views.permute(x + x.T, (1, 0)))
    check_equal(x, a.T[[0, 0, 1]] + a.T[[0, 0, 1]].T)


def test_a_promise_not_to_overlap_changes_no_value(backend: ModuleType) -> None:
    x, y, z = (array(backend, counted((3,)) + k) for k in range(3))
    z[...] = views.noalias(x + y)
    check_equal(z, counted((3,)) * 2 + 1)
    views.assign(z, views.noalias(x))
    check_equal(z, counted((3,)))
    z[1:] = views.noalias(5)
    check_equal(z, np.array([0, 5, 5]))
    x[1:] = views.noalias(x[1:] * 2)
    check_equal(x, np.array([0, 2, 4]))


@pytest.mark.parametrize("promise", [views.noalias, lambda source: source], ids=["promise", "none"])
def test_a_result_goes_into_an_array_without_a_second_temporary(
    numpy_backend: ModuleType, promise: Callable[[Any], Any]
) -> None:
    n = 1_000_000
    x, y, z = (numpy_backend.ones(n) for _ in range(3))
    z[...] = promise(x + y)
    tracemalloc.start()
    z[...] = promise(x + y)
    z[1:] = promise(x[1:] + y[:-1])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.1 * n * 8


# -- readonly, relax, cursor, sharing -------------------------------------------------------------


def test_readonly_leaves_its_base_writable(backend: ModuleType) -> None:
    x = based(backend)
    frozen = views.readonly(x)
    x[0] = 5.0
    check_equal(frozen, host(x))
    for view in (frozen[0], frozen.mT, backend.flip(frozen), views.permute(frozen, (2, 1, 0))):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0.0
    copy = backend.asarray(frozen, copy=True)
    copy[...] = 0.0
    assert host(x)[0, 0, 0] == 5


def test_relax_admits_what_an_array_with_data_goes_on_knowing(backend: ModuleType) -> None:
    x = based(backend)
    for shape in (None, SHAPE, (2, Dimension(), 4), PartialShape("[?, 1..3, 4]"), RANKLESS):
        view = views.relax(x, shape=shape)
        assert view.shape == SHAPE
        assert views.shares_storage(view, x)
        view[0, 0, 0] = 9.0
    assert host(x)[0, 0, 0] == 9
    frozen = views.relax(x, shape=(2, Dimension(1, 5), 4), readonly=True)
    with pytest.raises(ValueError, match="read-only"):
        frozen[...] = 0.0


def test_relax_makes_an_abstract_array_know_less() -> None:
    x = abstract.zeros((2, 3, Dimension(1, 8)))
    view = views.relax(x, shape=(2, Dimension(1, 5), Dimension()))
    assert view.dims == (2, Dimension(1, 5), Dimension())
    assert view.shape == (2, None, None)
    assert views.relax(x, shape=RANKLESS).dims == (Dimension(),) * 3, "its rank stays known"
    with pytest.raises(ValueError, match="know more"):
        views.relax(x, shape=(2, 3, Dimension(1, 4)))


def test_named_views_of_abstract_arrays_have_the_shapes_of_real_ones() -> None:
    x = abstract.zeros((2, Dimension(3, 5), Dimension(3, 5)))
    assert views.slice(x, (0,), (1,)).dims == (Dimension(3, 5),) * 2
    assert views.diagonal(x, (1, 2)).dims == (2, Dimension(3, 5))
    assert views.block(x, (1, 2, 2), (0, 1, 1)).dims == (1, 2, 2)
    assert views.expand(x, (0,), (7, 2, Dimension(3, 5), Dimension(3, 5))).dims[0] == 7
    for bad in (lambda: views.block(x, (1, 6, 2), (0, 0, 0)), lambda: views.slice(x, (1,), (5,))):
        with pytest.raises(IndexError):
            bad()


def test_a_cursor_says_where_a_view_begins_and_how_it_moves(backend: ModuleType) -> None:
    x = based(backend)
    assert views.cursor(x) == views.Cursor(0, (12, 4, 1))
    assert views.cursor(x[1, ::-1, 1:]) == views.Cursor(21, (-4, 1))
    assert views.cursor(x.mT) == views.Cursor(0, (12, 1, 4))
    assert views.cursor(backend.linalg.diagonal(x)) == views.Cursor(0, (12, 5))
    assert views.cursor(backend.reshape(x[1], (2, 6))) == views.Cursor(12, (6, 1))
    assert views.cursor(x[0, 0, 2, ...]) == views.Cursor(2, ())


def test_sharing_is_of_storages_and_may_be_of_imported_memory(numpy_backend: ModuleType) -> None:
    memory = counted((4,))
    x, y = numpy_backend.asarray(memory), numpy_backend.asarray(memory[1:])
    assert not views.shares_storage(x, y)
    assert views.may_share_memory(x, y)
    assert not views.may_share_memory(x[:1], y[2:])
    y[0] = 9
    assert int(x[1]) == 9


def test_arrays_of_two_backends_share_nothing(
    numpy_backend: ModuleType, jax_backend: ModuleType
) -> None:
    x, y = numpy_backend.ones(3), jax_backend.ones(3)
    assert not views.shares_storage(x, y)
    assert not views.may_share_memory(x, y)


def test_foreign_arrays_are_taken_in(backend: ModuleType) -> None:
    memory = counted((2, 2))
    for view in (views.permute(memory, (1, 0)), views.readonly(memory)):  # type: ignore[arg-type]
        assert type(view) is strata_api.Array
        assert view.device == "numpy:cpu"


# -- what a user brings or takes away -------------------------------------------------------------


def test_memory_of_numpy_is_shared_and_of_jax_is_not(backend: ModuleType) -> None:
    memory = counted((3,), dtype=np.float32)
    x = strata_api.numpy.asarray(memory)
    x[0] = 9.0
    assert memory[0] == 9
    if not is_numpy(backend):
        taken = backend.asarray(memory)
        taken[1] = 7.0
        assert memory[1] == 1
    out = np.asarray(array(backend, memory))
    y = array(backend, memory)
    held = np.asarray(y)
    y[2] = 5.0
    assert (held[2] == 5) == is_numpy(backend)
    assert out[2] == 2
