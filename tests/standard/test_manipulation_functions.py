"""Manipulation functions against NumPy: values, what is a view, and unknown extents."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import prod
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strata_api
from oracle import array, check_equal, check_same, host, kinds, outcome, some
from strata_api import Array, Dimension, abstract
from strategies import (
    chains,
    counted,
    factorings,
    fewer,
    followed,
    followed_by_ours,
    shapes,
    small_shapes,
)

Shape = tuple[int, ...]


def check_like(ours: Callable[[], Any], numpys: Callable[[], Any], *, what: object) -> None:
    """Check as `check_same`; where two things are wrong, the error may be that of either."""
    want = outcome(numpys)
    if isinstance(want, Exception):
        assert kinds(outcome(ours)) & kinds(want), f"{what}: expected {want!r}"
    else:
        check_same(ours, lambda: want, what=what)


def check_view(
    xp: ModuleType, a: Any, ours: Callable[[Array], Array], numpys: Callable[[Any], Any]
) -> None:
    """Check a view: that it has NumPy's elements, and that what is written reaches the array."""
    a = a.copy()
    x = array(xp, a)
    view, expected = ours(x), numpys(a)
    check_equal(view, expected)
    expected[...] = expected + 100
    view[...] = array(xp, expected)
    check_equal(x, a)


def check_fresh(xp: ModuleType, ours: Callable[..., Array], *arrays: Any) -> None:
    """Check that what is written into a result does not reach the arguments."""
    xs = [array(xp, a) for a in arrays]
    result = ours(*xs)
    result[...] = 1 if result.dtype == strata_api.bool else 77
    for x, a in zip(xs, arrays, strict=True):
        check_equal(x, a)


# -- views ----------------------------------------------------------------------------------------


def test_expand_dims_is_numpys(backend: ModuleType) -> None:
    axes: list[Any] = [*range(-4, 4), *itertools.product(range(-4, 4), repeat=2), (0, 2, 4), ()]
    for shape, axis in some(backend, list(itertools.product(small_shapes(2), axes)), 12):
        check_same(
            lambda: backend.expand_dims(array(backend, counted(shape)), axis),  # noqa: B023
            lambda: np.expand_dims(counted(shape), axis),  # noqa: B023
            what=(shape, axis),
        )
    check_view(
        backend,
        counted((2, 3)),
        lambda x: backend.expand_dims(x, axis=(0, -1)),
        lambda a: np.expand_dims(a, (0, -1)),
    )


def test_squeeze_is_numpys(backend: ModuleType) -> None:
    axes: list[Any] = [*range(-4, 4), *itertools.product(range(-3, 3), repeat=2), ()]
    for shape, axis in some(backend, list(itertools.product(small_shapes(3, 2)[1:], axes)), 12):
        check_like(
            lambda: backend.squeeze(array(backend, counted(shape)), axis),  # noqa: B023
            lambda: np.squeeze(counted(shape), axis),  # noqa: B023
            what=(shape, axis),
        )
    check_view(
        backend, counted((1, 3, 1)), lambda x: backend.squeeze(x, (0, 2)), lambda a: a[0, :, 0]
    )


def test_flip_is_numpys(backend: ModuleType) -> None:
    for shape in some(backend, small_shapes(), 6):
        rank = len(shape)
        axes: list[Any] = [None, *range(-rank - 1, rank + 1), (), (0, -1), (0, 1)]
        for axis in some(backend, axes, 2):
            check_same(
                lambda: backend.flip(array(backend, counted(shape)), axis=axis),  # noqa: B023
                lambda: np.flip(counted(shape), axis),  # noqa: B023
                what=(shape, axis),
            )
    check_view(backend, counted((2, 3)), backend.flip, np.flip)


def test_permute_dims_takes_every_permutation_and_nothing_else(backend: ModuleType) -> None:
    a = counted((2, 3, 4))
    for axes in some(backend, list(itertools.product(range(-4, 4), repeat=3)), 8):
        check_like(
            lambda: backend.permute_dims(array(backend, a), axes),  # noqa: B023
            lambda: a.transpose(axes),  # noqa: B023
            what=axes,
        )
    for axes in ((0, 1), (0, 1, 2, 0), (), None):
        with pytest.raises((ValueError, TypeError)):
            backend.permute_dims(array(backend, a), axes)
    check_view(
        backend, a, lambda x: backend.permute_dims(x, (2, 0, 1)), lambda a: a.transpose(2, 0, 1)
    )


def test_moveaxis_is_numpys(backend: ModuleType) -> None:
    a = counted((2, 3, 4))
    ends: list[Any] = [*range(-4, 4), (0, 1), (2, 0), (-1, -2), (0, 0), (1,), (0, 1, 2), ()]
    for source, destination in some(backend, list(itertools.product(ends, ends)), 12):
        check_same(
            lambda: backend.moveaxis(array(backend, a), source, destination),  # noqa: B023
            lambda: np.moveaxis(a, source, destination),  # noqa: B023
            what=(source, destination),
        )
    check_view(backend, a, lambda x: backend.moveaxis(x, 0, -1), lambda a: np.moveaxis(a, 0, -1))


def test_unstack_gives_a_view_of_each_part(backend: ModuleType) -> None:
    a = counted((2, 3, 2))
    for axis in range(-3, 3):
        x, b = array(backend, a), a.copy()
        parts = backend.unstack(x, axis=axis)
        assert len(parts) == a.shape[axis]
        for k, part in enumerate(parts):
            check_equal(part, np.moveaxis(b, axis, 0)[k])
            part[...] = -k
            np.moveaxis(b, axis, 0)[k] = -k
        check_equal(x, b)
    assert backend.unstack(backend.ones((0, 2))) == ()
    (only,) = backend.unstack(backend.asarray([5]))
    assert only.shape == ()
    for error, argument in [(IndexError, backend.ones(())), (IndexError, 3)]:
        with pytest.raises(error):
            backend.unstack(argument) if isinstance(argument, Array) else backend.unstack(
                backend.ones((2, 2)), axis=argument
            )


def test_broadcast_to_is_numpys_and_read_only(backend: ModuleType) -> None:
    pairs = list(itertools.product(small_shapes(2), small_shapes(2)))
    for shape, target in some(backend, pairs, 12):
        check_same(
            lambda: backend.broadcast_to(array(backend, counted(shape)), target),  # noqa: B023
            lambda: np.broadcast_to(counted(shape), target),  # noqa: B023
            what=(shape, target),
        )
    x = backend.ones((2, 1))
    for view in (backend.broadcast_to(x, (2, 3)), backend.broadcast_to(x, (2, 1))):
        x[0, 0] = 5
        assert host(view)[0, 0] == 5
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    y = backend.ones(())
    with pytest.raises(ValueError, match="read-only"):
        backend.broadcast_to(y, ())[...] = 2


def test_broadcast_arrays_is_numpys_and_read_only(backend: ModuleType) -> None:
    triples = list(itertools.product(small_shapes(2, 2), repeat=2))
    for case in some(backend, triples, 8):
        ours = [array(backend, counted(shape)) for shape in case]
        check_same(
            lambda: backend.broadcast_arrays(*ours),  # noqa: B023
            lambda: tuple(np.broadcast_arrays(*[counted(shape) for shape in case])),  # noqa: B023
            what=case,
        )
    assert backend.broadcast_arrays() == ()
    for view in backend.broadcast_arrays(backend.ones(2), backend.ones((2, 1), dtype=backend.int8)):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0


# -- reshape --------------------------------------------------------------------------------------


def targets(size: int) -> list[Any]:
    """Return shapes to try for so many elements: all that fit, some with -1, some that do not."""
    fitting = factorings(size, 3)
    holes = [(*s[:k], -1, *s[k + 1 :]) for s in fitting for k in range(len(s))]
    return [*fitting, *holes, (-1, -1), (size + 1,), (-1, size + 1), (-2, 3), (), (0, -1), -1, size]


def test_reshape_of_an_array_is_numpys(backend: ModuleType) -> None:
    cases = [(s, t) for s in small_shapes() for t in targets(prod(s))]
    for shape, target in some(backend, cases, 25):
        if (target == (-2, 3)) or (target == (0, -1)):  # NumPy takes -2 for -1
            with pytest.raises(ValueError, match=r"reshape|extent"):
                backend.reshape(array(backend, counted(shape)), target)
            continue
        check_same(
            lambda: backend.reshape(array(backend, counted(shape)), target),  # noqa: B023
            lambda: counted(shape).reshape(target),  # noqa: B023
            what=(shape, target),
        )


def check_reshape_of_view(xp: ModuleType, base: Shape, chain: Sequence[Any], target: Shape) -> None:
    """Check that a reshape of a view is a view where NumPy's is, on every backend."""
    a, x = counted(base), array(xp, counted(base))
    theirs, ours = followed(list(chain), a), followed_by_ours(list(chain), xp, x)
    is_view = theirs.size == 0 or np.shares_memory(theirs.reshape(target), theirs)
    expected = theirs.reshape(target)
    result = xp.reshape(ours, target)
    check_equal(result, expected)
    if not is_view:
        with pytest.raises(ValueError, match="copy=False"):
            xp.reshape(ours, target, copy=False)
    else:
        check_equal(xp.reshape(ours, target, copy=False), expected)
    copy = xp.reshape(ours, target, copy=True)
    copy[...] = -1
    check_equal(x, a)
    expected[...] = -2
    result[...] = -2
    check_equal(x, a)


@given(chains(max_length=3), st.data())
def test_reshape_of_a_view_is_a_view_where_numpys_is(
    chained: tuple[Shape, list[Any]], data: st.DataObject
) -> None:
    base, chain = chained
    end = followed(chain, counted(base))
    target = data.draw(st.sampled_from([end.shape, *factorings(end.size)]))
    check_reshape_of_view(strata_api.numpy, base, chain, target)


@fewer(4)
@given(chains(max_length=2, max_rank=2), st.data())
def test_reshape_of_a_view_is_a_view_on_jax_too(
    jax_backend: ModuleType, chained: tuple[Shape, list[Any]], data: st.DataObject
) -> None:
    base, chain = chained
    end = followed(chain, counted(base))
    target = data.draw(st.sampled_from([end.shape, *factorings(end.size, 2)]))
    check_reshape_of_view(jax_backend, base, chain, target)


def test_reshape_of_an_imported_buffer_follows_its_strides(numpy_backend: ModuleType) -> None:
    a = np.arange(12).reshape(3, 4).T
    x = numpy_backend.asarray(a)
    with pytest.raises(ValueError, match="copy=False"):
        numpy_backend.reshape(x, (12,), copy=False)
    numpy_backend.reshape(x.T, (12,), copy=False)[0] = 99
    assert a[0, 0] == 99


def test_reshape_takes_lists_and_dimensions(backend: ModuleType) -> None:
    x = backend.arange(6)
    for shape in ([2, 3], [2, -1], (np.int64(2), 3), (Dimension(2), 3)):
        assert backend.reshape(x, shape).shape == (2, 3)
    for shape in ((2.0, 3), "23", None):
        with pytest.raises(TypeError):
            backend.reshape(x, shape)


def test_a_chain_of_reshapes_still_writes_through(backend: ModuleType) -> None:
    x = backend.zeros((2, 6))
    y = backend.reshape(backend.reshape(x, (3, 4)), (2, 2, 3))
    part = backend.reshape(y[1:], (6,))[::2]
    part[...] = 1
    part += 1
    want = np.zeros((2, 6))
    want.reshape(12)[6::2] = 2
    check_equal(x, want)


def test_a_long_chain_of_views_is_worked_out_without_recursion(numpy_backend: ModuleType) -> None:
    n = 3000
    for step in (lambda x: x[1:], numpy_backend.flip, lambda x: numpy_backend.reshape(x, x.shape)):
        x = view = numpy_backend.zeros(n)
        for _ in range(n - 1):
            view = step(view)
        view[...] = 1
        view += 1
        assert host(x).sum() == 2 * view.size


def test_reshape_keeps_what_is_read_only(backend: ModuleType) -> None:
    x = backend.broadcast_to(backend.ones((2, 3)), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        backend.reshape(x, (6,))[0] = 2


# -- fresh arrays ---------------------------------------------------------------------------------


def test_concat_is_numpys(backend: ModuleType) -> None:
    pairs = itertools.product(small_shapes(2, 2), small_shapes(2, 2), [None, *range(-3, 3)])
    for one, other, axis in some(backend, list(pairs), 20):
        a, b = counted(one), counted(other, np.float32)
        check_like(
            lambda: backend.concat([array(backend, a), array(backend, b)], axis=axis),  # noqa: B023
            lambda: np.concatenate([a, b], axis=axis),  # noqa: B023
            what=(one, other, axis),
        )


def test_joining_promotes_and_is_fresh(backend: ModuleType) -> None:
    a, b = counted((2, 2), np.int8), counted((2, 2), np.int16)
    for name, numpys in (("concat", np.concatenate), ("stack", np.stack)):
        function = getattr(backend, name)
        check_equal(
            function([array(backend, a), array(backend, b)], axis=1), numpys([a, b], axis=1)
        )
        check_equal(function((array(backend, a),)), numpys([a]))
        check_fresh(backend, lambda x: function([x]), a)  # noqa: B023
        with pytest.raises(ValueError, match="at least one"):
            function([])
        with pytest.raises(TypeError):
            function([array(backend, a), 3.5])
    with strata_api.strict(), pytest.raises(TypeError, match="strict"):
        backend.concat([backend.ones(1), backend.ones(1, dtype=backend.int8)])


def test_arrays_of_two_backends_do_not_join(jax_backend: ModuleType) -> None:
    with pytest.raises(TypeError, match="to_device"):
        strata_api.concat([jax_backend.ones(1), strata_api.numpy.ones(1)])


def test_stack_is_numpys(backend: ModuleType) -> None:
    pairs = itertools.product(small_shapes(2, 2), small_shapes(2, 2), range(-4, 4))
    for one, other, axis in some(backend, list(pairs), 12):
        check_like(
            lambda: backend.stack(
                [array(backend, counted(one)), array(backend, counted(other))],  # noqa: B023
                axis=axis,  # noqa: B023
            ),
            lambda: np.stack([counted(one), counted(other)], axis=axis),  # noqa: B023
            what=(one, other, axis),
        )


def test_stack_undoes_unstack(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3, 2)))
    for axis in range(-3, 3):
        check_equal(backend.stack(backend.unstack(x, axis=axis), axis=axis), counted((2, 3, 2)))


def test_repeat_is_numpys(backend: ModuleType) -> None:
    a = counted((2, 3))
    counts: list[Any] = [
        0,
        1,
        3,
        [2],
        [1, 2],
        [1, 0, 2],
        [0, 1, 2, 3, 0, 1],
        (0, 0),
        [],
        -1,
        [-1, 2],
    ]
    for repeats, axis in some(backend, list(itertools.product(counts, [None, *range(-3, 3)])), 25):
        x = array(backend, a)
        numpys = lambda: np.repeat(a, np.asarray(repeats, dtype=int), axis=axis)  # noqa: B023, E731
        what = (repeats, axis)
        check_same(lambda: backend.repeat(x, repeats, axis=axis), numpys, what=what)  # noqa: B023
        given_ = backend.asarray(repeats, dtype=backend.int16)
        check_same(lambda: backend.repeat(x, given_, axis=axis), numpys, what=what)  # noqa: B023
    check_fresh(backend, lambda x: backend.repeat(x, 1), a)
    check_fresh(backend, lambda x, r: backend.repeat(x, r, axis=1), a, np.ones(3, np.uint64))
    for repeats in (1.5, backend.ones(3), backend.asarray([True]), "2"):
        with pytest.raises(TypeError):
            backend.repeat(array(backend, a), repeats, axis=1)


def test_roll_is_numpys(backend: ModuleType) -> None:
    shifts: list[Any] = [0, 1, -1, 5, -(2**40), (1, 2), (1,), (-1, 7)]
    axes: list[Any] = [None, 0, -1, 2, (0, 1), (1, 0), (0, 0), (0,)]
    cases = list(itertools.product([(2, 3), (0, 2), (4,), ()], shifts, axes))
    for shape, shift, axis in some(backend, cases, 20):
        if isinstance(shift, tuple) and (axis is None or len(shift) != np.size(axis) > 1):
            continue  # NumPy broadcasts shifts and axes, the standard does not
        if isinstance(shift, tuple) and len(shift) > 1 and np.size(axis) == 1:
            with pytest.raises((ValueError, IndexError)):
                backend.roll(array(backend, counted(shape)), shift, axis=axis)
            continue
        check_same(
            lambda: backend.roll(array(backend, counted(shape)), shift, axis=axis),  # noqa: B023
            lambda: np.roll(counted(shape), shift, axis),  # noqa: B023
            what=(shape, shift, axis),
        )
    check_fresh(backend, lambda x: backend.roll(x, 0), counted((2, 3)))
    with pytest.raises(ValueError, match="one shift"):
        backend.roll(backend.ones(3), (1, 2))
    with pytest.raises(TypeError, match="integer"):
        backend.roll(backend.ones(3), 1.5)


def test_tile_is_numpys(backend: ModuleType) -> None:
    counts: list[Any] = [(), (2,), (1, 2), (2, 0), (1, 2, 2), 3]
    cases = list(itertools.product([(), (2,), (0, 2), (2, 1)], counts))
    for shape, repetitions in some(backend, cases, 10):
        check_equal(
            backend.tile(array(backend, counted(shape)), repetitions),
            np.tile(counted(shape), repetitions),
            what=(shape, repetitions),
        )
    check_fresh(backend, lambda x: backend.tile(x, (1, 1)), counted((2, 3)))
    for error, repetitions in [(ValueError, (-1,)), (TypeError, (1.5,)), (TypeError, "2")]:
        with pytest.raises(error, match="tile"):
            backend.tile(backend.ones(2), repetitions)


# -- shapes alone ---------------------------------------------------------------------------------


def test_broadcast_shapes_is_numpys(backend: ModuleType) -> None:
    for case in itertools.product(small_shapes(2), repeat=2):
        try:
            want = np.broadcast_shapes(*case)
        except ValueError:
            with pytest.raises(ValueError, match="do not broadcast"):
                backend.broadcast_shapes(*case)
        else:
            assert backend.broadcast_shapes(*case) == want
    assert backend.broadcast_shapes() == ()


def test_broadcast_shapes_passes_unknown_extents_on() -> None:
    for given_, want in [
        (((None, 3), (1,)), (None, 3)),
        (((None,), (None,)), (None,)),
        (((None,), (4,)), (4,)),
        (((None,), (1,)), (None,)),
        (((Dimension(2, 5), 1), (3,)), (Dimension(2, 5), 3)),
        (((Dimension(2, 5),), (4,)), (4,)),
    ]:
        have = strata_api.broadcast_shapes(*given_)
        assert have == want
        assert [type(n) for n in have] == [type(n) for n in want]
    with pytest.raises(ValueError, match="do not broadcast"):
        strata_api.broadcast_shapes((Dimension(2, 5),), (7,))


def lengths(n: Any) -> list[int]:
    """Return what an extent may be."""
    low, high = Dimension(n).get_interval()
    assert high is not None
    return list(range(low, high + 1))


UNKNOWN: list[tuple[str, Callable[[ModuleType, Any, Any], Any]]] = [
    ("broadcast_arrays", lambda xp, x, y: xp.broadcast_arrays(x, y)[0]),
    ("broadcast_to", lambda xp, x, y: xp.broadcast_to(x, (3, 2, 2))),
    ("concat 0", lambda xp, x, y: xp.concat([x, y])),
    ("concat 1", lambda xp, x, y: xp.concat([x, y], axis=1)),
    ("concat", lambda xp, x, y: xp.concat([x, y], axis=None)),
    ("expand_dims", lambda xp, x, y: xp.expand_dims(x, (0, -1))),
    ("flip", lambda xp, x, y: xp.flip(x)),
    ("moveaxis", lambda xp, x, y: xp.moveaxis(x, 0, 1)),
    ("permute_dims", lambda xp, x, y: xp.permute_dims(x, (1, 0))),
    ("repeat", lambda xp, x, y: xp.repeat(x, 3)),
    ("repeat 0", lambda xp, x, y: xp.repeat(x, 3, axis=0)),
    ("repeat a list", lambda xp, x, y: xp.repeat(x, [1, 4], axis=0)),
    ("reshape", lambda xp, x, y: xp.reshape(x, (-1,))),
    ("reshape 2", lambda xp, x, y: xp.reshape(x, (2, -1))),
    ("roll", lambda xp, x, y: xp.roll(x, 1, axis=0)),
    ("squeeze", lambda xp, x, y: xp.squeeze(x, 0)),
    ("stack", lambda xp, x, y: xp.stack([x, y])),
    ("tile", lambda xp, x, y: xp.tile(x, (2, 1, 3))),
    ("unstack", lambda xp, x, y: xp.unstack(x, axis=1)[0]),
]


@pytest.mark.parametrize(("name", "function"), UNKNOWN, ids=[name for name, _ in UNKNOWN])
@given(
    st.tuples(st.integers(0, 3), st.integers(0, 2)), st.tuples(st.integers(0, 3), st.integers(0, 2))
)
def test_unknown_extents_give_every_shape_there_is_and_the_error_of_all(
    name: str,
    function: Callable[[ModuleType, Any, Any], Any],
    one: tuple[int, int],
    other: tuple[int, int],
) -> None:
    n, m = Dimension(one[0], sum(one)), Dimension(other[0], sum(other))
    real = []
    for i, j in itertools.product(lengths(n), lengths(m)):
        try:
            real.append(
                function(
                    strata_api.numpy, strata_api.numpy.ones((i, 2)), strata_api.numpy.ones((j, 2))
                ).shape
            )
        except ValueError:
            continue
    try:
        dims = function(abstract, abstract.ones((n, 2)), abstract.ones((m, 2))).dims
    except ValueError:
        assert not real
        return
    for shape in real:
        assert len(shape) == len(dims)
        assert all(Dimension(a).contains(b) for a, b in zip(dims, shape, strict=True))


def test_counts_that_are_data_give_an_unknown_extent() -> None:
    x, counts = abstract.ones((2, 3)), abstract.ones(3, dtype=strata_api.int64)
    assert abstract.repeat(x, counts, axis=1).dims == (2, Dimension())
    assert abstract.repeat(x, abstract.ones(6, dtype=strata_api.int8)).dims == (Dimension(),)
    assert abstract.repeat(abstract.ones(0), abstract.ones(1, dtype=strata_api.int8)).dims == (0,)
    with pytest.raises(ValueError, match="counts"):
        abstract.repeat(x, counts, axis=0)
    with pytest.raises(TypeError, match="unknown"):
        abstract.unstack(abstract.ones(Dimension(1, 3)))


@given(shapes(max_rank=3), st.data())
def test_everything_works_on_arrays_of_a_foreign_library(shape: Shape, data: st.DataObject) -> None:
    a = counted(shape)
    axes = data.draw(st.permutations(range(len(shape))))
    check_equal(strata_api.permute_dims(a, tuple(axes)), a.transpose(axes))
    check_equal(strata_api.concat([a, a], axis=None), np.concatenate([a, a], axis=None))
    check_equal(strata_api.reshape(a, (-1,)), a.reshape(-1))
