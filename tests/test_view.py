"""The steps of a view, as values: what each one reads, and that two in a row are one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_api import _view as v
from strata_api._dimension import Dimension
from strata_api._view import Affine, Reshape, View
from strata_api.backends.numpy import BACKEND
from strategies import (
    chains,
    counted,
    factorings,
    followed,
    moves_of,
    shapes,
    small_shapes,
    small_slices,
)

Shape = tuple[int, ...]
Case = tuple[str, Affine, Callable[[Any], Any]]


def affine_steps(shape: Shape) -> Iterator[Case]:
    """Yield each kind of affine step that an array of this shape has, and what it is in NumPy."""
    rank = len(shape)
    yield "whole", v.whole(shape), lambda a: a[...]
    for axes in itertools.permutations(range(rank)):
        yield f"permuted{axes}", v.permuted(shape, axes), lambda a, p=axes: a.transpose(p)
    for axis, n in enumerate(shape):
        yield f"flipped({axis})", v.flipped(shape, (axis,)), lambda a, k=axis: np.flip(a, k)
        if n == 1:
            step = v.without_axes(shape, (axis,))
            yield f"without({axis})", step, lambda a, k=axis: np.squeeze(a, k)
        if n > 1:
            step = v.block_of(shape, (*shape[:axis], n - 1, *shape[axis + 1 :]), _at(rank, axis))
            key = (slice(None),) * axis + (slice(1, None),)
            yield f"block({axis})", step, lambda a, key=key: a[key]
    for axis in range(rank + 1):
        step = v.with_new_axes(shape, (axis,))
        yield f"new({axis})", step, lambda a, k=axis: np.expand_dims(a, k)
    wider = (2, *[3 if n == 1 else n for n in shape])
    yield "expanded", v.expanded(shape, wider), lambda a: np.broadcast_to(a, wider)
    if rank > 1 and shape[0] == shape[1]:
        step = v.diagonal_of(shape, (0, 1), shape[0])
        yield "diagonal", step, lambda a: np.moveaxis(np.einsum("ii...->i...", a), 0, -1)


def _at(rank: int, axis: int) -> Shape:
    return tuple(int(k == axis) for k in range(rank))


def offsets_of(view: View, base: Shape) -> Any:
    """Return which elements of the base, counted in row-major order, a view reaches."""
    return view.read(counted(base), BACKEND)


@pytest.mark.parametrize("shape", small_shapes(rank=2), ids=str)
def test_a_step_has_the_shape_the_elements_and_the_strides_of_numpys_view(shape: Shape) -> None:
    a = counted(shape)
    for name, step, numpys in affine_steps(shape):
        want = numpys(a)
        assert step.shape == want.shape, name
        np.testing.assert_array_equal(step.read(a, BACKEND), want, err_msg=name)
        check_layout(step.layout(0, v.row_major(shape)), a, want)


@pytest.mark.parametrize("shape", small_shapes(rank=2), ids=str)
def test_two_affine_steps_in_a_row_are_one(shape: Shape) -> None:
    a = counted(shape)
    for one, first, _ in affine_steps(shape):
        for other, second, numpys in affine_steps(first.shape):
            fused = first.then(second)
            what = f"{one} then {other}"
            assert fused.base == shape, what
            want = numpys(first.read(a, BACKEND))
            np.testing.assert_array_equal(fused.read(a, BACKEND), want, err_msg=what)


@pytest.mark.parametrize("shape", [(2, 2, 3), (1, 3, 3), (0, 2, 2)], ids=str)
def test_three_affine_steps_in_a_row_are_one_however_they_are_grouped(shape: Shape) -> None:
    for _, first, _ in affine_steps(shape):
        for _, second, _ in affine_steps(first.shape):
            for _, third, _ in itertools.islice(affine_steps(second.shape), 0, None, 3):
                assert first.then(second).then(third) == first.then(second.then(third))


@pytest.mark.parametrize("shape", small_shapes(rank=3), ids=str)
def test_what_undoes_a_step_makes_the_identity(shape: Shape) -> None:
    for axis in range(len(shape)):
        flip = v.flipped(shape, (axis,))
        assert flip.then(flip).is_identity
        assert (
            v.with_new_axes(shape, (axis,))
            .then(v.without_axes((*shape[:axis], 1, *shape[axis:]), (axis,)))
            .is_identity
        )
    for axes in itertools.permutations(range(len(shape))):
        back = sorted(range(len(shape)), key=axes.__getitem__)
        step = v.permuted(shape, axes)
        assert step.then(v.permuted(step.shape, back)).is_identity


def test_a_view_keeps_no_step_that_does_nothing() -> None:
    flip = v.flipped((3, 2), (0,))
    assert v.WHOLE.then(v.whole((3, 2))).steps == ()
    assert v.WHOLE.then(flip).then(flip).steps == ()
    assert v.WHOLE.then(Reshape((3, 2), (6,))).then(Reshape((6,), (3, 2))).steps == ()
    assert v.WHOLE.then(flip).then(Reshape((3, 2), (6,))).steps == (flip, Reshape((3, 2), (6,)))


def test_a_view_that_shares_elements_is_read_only_and_so_is_every_view_of_it() -> None:
    wide = v.WHOLE.then(v.expanded((1, 2), (3, 2)))
    assert wide.readonly
    assert wide.then(v.block_of((3, 2), (1, 2), (0, 0))).readonly
    assert not v.WHOLE.then(v.expanded((1, 2), (1, 2))).readonly
    assert v.WHOLE.then(v.flipped((2,), (0,))).protected().then(v.flipped((2,), (0,))).readonly


def test_an_axis_of_extent_one_expanded_to_one_shares_nothing() -> None:
    assert not v.expanded((1,), (1, 1)).is_expanded
    assert v.expanded((1,), (2,)).is_expanded
    assert v.expanded((1,), (0,)).is_expanded
    assert v.expanded((1,), (Dimension(1, 2),)).is_expanded


@pytest.mark.parametrize("shape", small_shapes(rank=3, most=3), ids=str)
def test_row_major_strides_are_numpys(shape: Shape) -> None:
    a = counted(shape)
    if a.size:
        have = [s for s, n in zip(v.row_major(shape), shape, strict=True) if n != 1]
        want = [s // 8 for s, n in zip(a.strides, shape, strict=True) if n != 1]
        assert have == want


def check_layout(layout: tuple[int, Shape] | None, base: Any, want: Any) -> None:
    """Check offset and strides against those of NumPy's view; those that lead nowhere are free."""
    assert layout is not None
    if want.size == 0:
        return
    offset, strides = layout
    byte = want.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    assert offset == byte // base.itemsize
    for have, stride, n in zip(strides, want.strides, want.shape, strict=True):
        assert n == 1 or have == stride // base.itemsize


# -- reshape: a view exactly where NumPy's is -----------------------------------------------------


def numpys_reshape_is_a_view(a: Any, shape: Shape) -> bool:
    return np.shares_memory(a, a.reshape(shape))


def check_reshapes(base: Any, view: View, a: Any) -> None:
    strides = v.row_major(base.shape)
    for shape in factorings(a.size):
        if prod(shape) == a.size and a.size:
            have = v.can_reshape(view, base.shape, strides, shape)
            assert have == numpys_reshape_is_a_view(a, shape), (view, shape)


@pytest.mark.parametrize("shape", small_shapes(rank=3), ids=str)
def test_a_reshape_of_a_step_is_a_view_exactly_where_numpys_is(shape: Shape) -> None:
    base = counted(shape)
    for _, step, numpys in affine_steps(shape):
        check_reshapes(base, v.WHOLE.then(step), numpys(base))


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 4), (6, 2)], ids=str)
def test_a_reshape_of_two_steps_is_a_view_exactly_where_numpys_is(shape: Shape) -> None:
    base = counted(shape)
    for _, first, one in affine_steps(shape):
        for _, second, other in affine_steps(first.shape):
            check_reshapes(base, v.WHOLE.then(first).then(second), other(one(base)))


@given(chains(max_length=3))
def test_numpy_reshapes_a_chain_without_a_copy_where_we_say_so(
    chain: tuple[Shape, list[Any]],
) -> None:
    base = counted(chain[0])
    a = followed(chain[1], base)
    assert all(
        v.reshaped_strides(a.shape, tuple(s // 8 for s in a.strides), shape) is not None
        for shape in factorings(a.size)
        if a.size and numpys_reshape_is_a_view(a, shape)
    )


# -- disjoint views -------------------------------------------------------------------------------


def test_views_said_to_be_disjoint_share_no_element() -> None:
    base = (5,)
    every = [v.WHOLE.then(_sliced(base, key)) for key in small_slices(4, (1, 2))]
    reached = [set(offsets_of(view, base).ravel()) for view in every]
    said = 0
    for (a, one), (b, other) in itertools.product(zip(every, reached, strict=True), repeat=2):
        if v.are_disjoint(a, b):
            said += 1
            assert not one & other, (a, b)
        elif a.steps and b.steps and len(one) < 2:
            assert one & other, f"one element is told from others: {a}, {b}"
    assert said


def _sliced(shape: Shape, key: slice) -> Affine:
    start, stop, step = key.indices(shape[0])
    n = len(range(start, stop, step))
    return Affine(shape, (start if n else 0,), (v.Axis(n, ((0, step),)),))


def test_red_and_black_rows_and_columns_are_disjoint() -> None:
    shape = (6, 6)
    whole = v.whole(shape)
    even = v.WHOLE.then(whole._replace(axes=(v.Axis(3, ((0, 2),)), v.Axis(6, ((1, 1),)))))
    odd = v.WHOLE.then(
        whole._replace(starts=(1, 0), axes=(v.Axis(3, ((0, 2),)), v.Axis(6, ((1, 1),))))
    )
    assert v.are_disjoint(even, odd)
    assert not v.are_disjoint(even, even)
    assert not v.are_disjoint(even, v.WHOLE)


# -- every chain of two views ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (2, 3), (1, 3), (0, 2)], ids=str)
def test_a_chain_reads_what_numpy_reads(numpy_backend: Any, shape: Shape) -> None:
    base = counted(shape)
    for first in moves_of(shape):
        one = first.numpys(base)
        for second in moves_of(one.shape):
            x = numpy_backend.asarray(base, copy=True)
            view = second.ours(numpy_backend, first.ours(numpy_backend, x))
            want = second.numpys(one)
            np.testing.assert_array_equal(np.asarray(view), want, err_msg=f"{first} {second}")


@given(st.data(), shapes(max_rank=3, max_extent=3))
def test_a_view_writes_where_it_reads(data: st.DataObject, shape: Shape) -> None:
    steps = [case for case in affine_steps(shape) if not case[1].is_expanded]
    name, step, numpys = data.draw(st.sampled_from(steps))
    a = counted(shape)
    want = counted(shape)
    value = -1 - counted(step.shape)
    numpys(want)[...] = value
    np.testing.assert_array_equal(step.write(a, value, BACKEND), want, err_msg=name)
