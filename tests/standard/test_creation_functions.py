"""Creation functions against NumPy: values, dtypes, what is shared and what is not."""

from __future__ import annotations

import array as buffers
import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strata_api
from oracle import array, check_equal, check_same, host, is_numpy, kinds, outcome, some
from strata_api import Array, Dimension, abstract
from strategies import counted, fewer, small_shapes

REAL = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL += ["float32", "float64"]
ALL = ["bool", *REAL, "complex64", "complex128"]


# -- arange and linspace --------------------------------------------------------------------------


def test_arange_of_small_integers_is_numpys(backend: ModuleType) -> None:
    bounds, steps = range(-4, 5), (-3, -2, -1, 1, 2, 3)
    for case in some(backend, list(itertools.product(bounds, bounds, steps)), 12):
        check_same(lambda: backend.arange(*case), lambda: np.arange(*case), what=case)  # noqa: B023
    check_same(lambda: backend.arange(5), lambda: np.arange(5))
    check_same(lambda: backend.arange(5.0), lambda: np.arange(5.0))
    check_same(lambda: backend.arange(7, step=2), lambda: np.arange(0, 7, 2))


def test_arange_of_floats_counts_from_the_start(backend: ModuleType) -> None:
    cases = [(0, 1, 0.1), (1.5, -2.5, -0.5), (-3.0, 4, 0.7), (1, 1, 0.5), (2, 9, 1e9)]
    for start, stop, step in some(backend, cases, 3):
        have = backend.arange(start, stop, step)
        want = start + np.arange(len(np.arange(start, stop, step))) * step
        check_equal(have, np.asarray(want, dtype="float64"), ulps=0 if is_numpy(backend) else 1)


@pytest.mark.parametrize("dtype", REAL)
def test_arange_has_the_dtype_that_is_asked_for(backend: ModuleType, dtype: str) -> None:
    want = np.arange(2, 11, 3).astype(dtype)
    check_equal(backend.arange(2, 11, 3, dtype=getattr(backend, dtype)), want)
    check_equal(backend.arange(2.0, 11, 3, dtype=getattr(backend, dtype)), want)


def test_arange_refuses_what_no_progression_is(backend: ModuleType) -> None:
    for error, arguments in [
        (ValueError, (0, 3, 0)),
        (ValueError, (0, float("inf"))),
        (ValueError, (float("nan"),)),
        (TypeError, (1j,)),
        (TypeError, ("3",)),
    ]:
        with pytest.raises(error):
            backend.arange(*arguments)
    for dtype in ("bool", "complex64"):
        with pytest.raises(TypeError, match="real-valued"):
            backend.arange(3, dtype=getattr(backend, dtype))


def test_arange_holds_every_integer_of_its_dtype_and_none_beyond(backend: ModuleType) -> None:
    top = 2**64 - 1
    for arguments in [(top - 2, top), (2**63 + 1, 2**63 - 2, -1), (2**63 - 1, 2**63 + 2, 2)]:
        have = backend.arange(*arguments, dtype=backend.uint64)
        assert host(have).tolist() == list(range(*arguments))
    assert host(backend.arange(256, dtype=backend.uint8)).tolist() == list(range(256))
    for arguments, dtype in [((257,), "uint8"), ((-1, 2), "uint8"), ((2**63, 2**63 + 2), "int64")]:
        with pytest.raises(OverflowError, match="holds"):
            backend.arange(*arguments, dtype=getattr(backend, dtype))


@given(
    st.tuples(st.integers(-6, 6), st.integers(0, 6), st.integers(0, 5)),
    st.sampled_from([-3, -2, -1, 1, 2, 3]),
    st.booleans(),
)
def test_arange_of_an_interval_holds_every_length_it_can_have(
    bounds: tuple[int, int, int], step: int, swapped: bool
) -> None:
    one, low, width = bounds
    unknown = Dimension(low, low + width)
    arguments = (unknown, one) if swapped else (one, unknown)
    (n,) = abstract.arange(*arguments, step).dims
    for length in range(low, low + width + 1):
        known = tuple(length if bound is unknown else bound for bound in arguments)
        assert Dimension(n).contains(len(range(*known, step)))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(0, 9), st.booleans(), st.booleans())
def test_linspace_is_numpys_on_numpy(
    start: float, stop: float, num: int, endpoint: bool, is_complex: bool
) -> None:
    bounds = (start + 1j, stop * 1j) if is_complex else (start, stop)
    have = strata_api.numpy.linspace(*bounds, num, endpoint=endpoint)
    check_equal(have, np.linspace(*bounds, num, endpoint=endpoint))


SEVENTHS = st.integers(-(10**9), 10**9).map(lambda n: n / 7)  # none so small that XLA makes it 0


@fewer(5)
@given(SEVENTHS, SEVENTHS)
def test_linspace_on_jax_is_that_on_numpy_within_ulps(
    jax_backend: ModuleType, start: float, stop: float
) -> None:
    want = np.linspace(start, stop, 5)
    have = host(jax_backend.linspace(start, stop, 5))
    np.testing.assert_allclose(have, want, rtol=0, atol=2 * np.spacing(max(abs(start), abs(stop))))
    assert have[0] == want[0]
    assert have[-1] == want[-1]


def test_linspace_spans_the_whole_range_of_a_dtype(backend: ModuleType) -> None:
    top = backend.finfo(backend.float64).max
    x = host(backend.linspace(-top, top, 5))
    np.testing.assert_allclose(x, [-top, -top / 2, 0, top / 2, top], rtol=1e-15)
    assert (x[0], x[-1]) == (-top, top)
    tiny = 5e-324
    assert host(backend.linspace(0, tiny, 4))[[0, -1]].tolist() in ([0, tiny], [0, 0])


def test_linspace_has_the_dtypes_of_the_standard(backend: ModuleType) -> None:
    assert backend.linspace(0, 1, 3).dtype == backend.float64
    assert backend.linspace(0, 1j, 3).dtype == backend.complex128
    assert backend.linspace(0, 1, 3, dtype=backend.float32).dtype == backend.float32
    check_equal(backend.linspace(-1, 1, 4, dtype=backend.int32), np.array([-1, -1, 0, 1], "int32"))
    with pytest.raises(TypeError):
        backend.linspace(0, 1j, 3, dtype=backend.float64)
    with pytest.raises(ValueError, match="-1"):
        backend.linspace(0, 1, -1)
    with strata_api.strict(), pytest.raises(TypeError, match="floating-point"):
        backend.linspace(0, 1, 3, dtype=backend.int32)


# -- constants ------------------------------------------------------------------------------------


def test_constants_have_the_shape_and_dtype_that_are_asked_for(backend: ModuleType) -> None:
    cases = list(itertools.product(small_shapes(2), ALL))
    for shape, dtype in some(backend, cases, 12):
        for name, value in (("zeros", 0), ("ones", 1)):
            have = getattr(backend, name)(shape, dtype=getattr(backend, dtype))
            check_equal(have, np.full(shape, value, dtype), what=(name, shape, dtype))
        empty = backend.empty(shape, dtype=getattr(backend, dtype))
        assert (empty.shape, empty.dtype) == (shape, np.dtype(dtype))


def test_a_shape_is_an_integer_a_tuple_or_a_list(backend: ModuleType) -> None:
    for shape, want in [(3, (3,)), ([2, 3], (2, 3)), ((), ()), (np.int64(2), (2,))]:
        assert backend.zeros(shape).shape == want
    for error, shape in [(ValueError, (2, -1)), (TypeError, (2.0,)), (TypeError, "3")]:
        with pytest.raises(error):
            backend.zeros(shape)


def test_full_takes_the_default_dtype_of_the_kind_of_its_value(backend: ModuleType) -> None:
    for value, dtype in [(True, "bool"), (3, "int64"), (2.5, "float64"), (1 + 2j, "complex128")]:
        check_equal(backend.full((2,), value), np.full((2,), value, dtype))
        with strata_api.default_dtypes(real="float32", integral="int32"):
            narrow = {"int64": "int32", "float64": "float32", "complex128": "complex64"}
            assert backend.full((), value).dtype == narrow.get(dtype, dtype)


def test_full_keeps_signs_of_zero_and_nan(backend: ModuleType) -> None:
    for value in (0.0, -0.0, float("nan"), float("inf"), complex(-0.0, -0.0)):
        have, want = host(backend.full((2,), value)), np.full((2,), value)
        np.testing.assert_array_equal(have, want)
        np.testing.assert_array_equal(np.signbit(have.real), np.signbit(want.real))
        np.testing.assert_array_equal(np.signbit(have.imag), np.signbit(want.imag))


def test_full_takes_a_0_d_array(backend: ModuleType) -> None:
    value = backend.asarray(2.5, dtype=backend.float32)
    check_equal(backend.full((2,), value), np.full((2,), 2.5, "float32"))
    check_equal(backend.full_like(value, value, dtype=backend.int8), np.array(2, "int8"))
    with pytest.raises(TypeError, match="0-d"):
        backend.full((2,), backend.ones((2,)))


def test_a_number_that_its_dtype_does_not_hold_raises(backend: ModuleType) -> None:
    for make in (
        lambda v, t: backend.full((2,), v, dtype=t),
        lambda v, t: backend.asarray(v, dtype=t),
    ):
        for value, dtype in [
            (128, "int8"),
            (-1, "uint8"),
            (2**64, "uint64"),
            (float("inf"), "int8"),
        ]:
            with pytest.raises(OverflowError):
                make(value, getattr(backend, dtype))
        with pytest.raises(TypeError, match="complex"):
            make(1j, backend.float64)
        with pytest.raises(ValueError, match="NaN"):
            make(float("nan"), backend.int32)
        assert host(make(1e300, backend.float32)).max() == np.inf
    with pytest.raises(OverflowError):
        backend.asarray([0, 2**63])


def test_what_is_like_an_array_has_its_shape_dtype_and_device(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3), np.int16))[:, ::2]
    for make in (
        strata_api.zeros_like,
        strata_api.ones_like,
        strata_api.empty_like,
        lambda x, **kw: strata_api.full_like(x, 7, **kw),
    ):
        y = make(x)
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
        assert make(x, dtype=backend.float32).dtype == backend.float32
        y[...] = 1
        assert host(x).tolist() == [[0, 2], [3, 5]]
    there = backend.zeros_like(x, device="abstract")
    assert there.device == "abstract:spec"


def test_eye_is_numpys(backend: ModuleType) -> None:
    cases = list(itertools.product(range(4), [None, *range(4)], [*range(-5, 6), -(2**70), 2**70]))
    for rows, columns, k in some(backend, cases, 10):
        near = min(max(k, -9), 9)
        have = backend.eye(rows, columns, k=k, dtype=backend.int32)
        check_equal(have, np.eye(rows, columns, near, "int32"), what=(rows, columns, k))
    assert backend.eye(2).dtype == backend.float64


def test_triangles_are_numpys(backend: ModuleType) -> None:
    shapes = [shape for shape in small_shapes(3) if len(shape) > 1]
    for shape, k in some(backend, list(itertools.product(shapes, range(-4, 5))), 8):
        a = counted(shape, start=1)
        for name in ("tril", "triu"):
            have = getattr(backend, name)(array(backend, a), k=k)
            check_equal(have, getattr(np, name)(a, k), what=(name, shape, k))
    with pytest.raises(ValueError, match="two axes"):
        backend.tril(backend.ones((3,)))


def test_meshgrid_is_numpys_and_fresh(backend: ModuleType) -> None:
    vectors = [np.arange(2.0), np.arange(3), np.arange(4, dtype="int8"), np.array(7)]
    for count, indexing in itertools.product(range(len(vectors) + 1), ("xy", "ij")):
        ours = [array(backend, v) for v in vectors[:count]]
        have = backend.meshgrid(*ours, indexing=indexing)
        check_equal(have, tuple(np.meshgrid(*vectors[:count], indexing=indexing)))
        for x in have:
            x[...] = 0
        assert all(np.array_equal(host(x), v) for x, v in zip(ours, vectors, strict=False))
    with pytest.raises(ValueError, match="one axis"):
        backend.meshgrid(backend.ones((2, 2)))
    with pytest.raises(ValueError, match="indexing"):
        backend.meshgrid(backend.ones(2), indexing="ji")


def test_extents_may_be_unknown_where_there_is_no_data(numpy_backend: ModuleType) -> None:
    n = Dimension(1, 8)
    assert abstract.zeros((n, 3)).dims == (n, 3)
    assert abstract.eye(n).dims == (n, n)
    assert abstract.linspace(0, 1, n).dims == (n,)
    assert abstract.zeros_like(abstract.ones(n)).dims == (n,)
    grid = abstract.meshgrid(abstract.ones(n), abstract.ones(3))
    assert [x.dims for x in grid] == [(3, n), (3, n)]
    with pytest.raises(TypeError, match="unknown"):
        numpy_backend.zeros((n, 3))


# -- asarray --------------------------------------------------------------------------------------

NUMBERS: list[Any] = [True, 3, 2.5, 1j, -(2**63), 2**63 - 1, -0.0]
NESTED: list[Any] = [
    [],
    [[], []],
    [1, 2],
    (1, 2.5),
    [[True, False], [False, True]],
    [[1, 2.0], (3, 4j)],
    [True, 2],
    range(3),
    [range(2), range(2)],
    [np.float32(1), np.float32(2)],
    [np.int8(1), 2.5],
    [np.arange(2), [3, 4]],
]
NO_NUMBERS: list[Any] = [None, "3", ["a"], {"a": 1}, {1}, object(), [None], lambda: 0]


@pytest.mark.parametrize("data", [*NUMBERS, *NESTED], ids=repr)
def test_asarray_of_python_objects_is_numpys(backend: ModuleType, data: Any) -> None:
    check_same(lambda: backend.asarray(data), lambda: np.asarray(data))


@pytest.mark.parametrize("dtype", ALL)
def test_asarray_takes_a_dtype(backend: ModuleType, dtype: str) -> None:
    for data in (1, True, [1, 0], [[True], [False]], np.arange(3), [np.int8(3), 4]):
        check_equal(backend.asarray(data, dtype=getattr(backend, dtype)), np.asarray(data, dtype))


def test_asarray_refuses_what_holds_no_numbers(backend: ModuleType) -> None:
    for data in NO_NUMBERS:
        with pytest.raises(TypeError):
            backend.asarray(data)
    for data in ([1, [2]], [[1, 2], [3]], [backend.ones(2), backend.ones(3)]):
        with pytest.raises(ValueError, match=r"ragged|join"):
            backend.asarray(data)
    for data in (np.array(["a"]), np.array([None]), np.array([1], "datetime64[s]")):
        with pytest.raises(TypeError, match="dtype"):
            backend.asarray(data)


def test_default_dtypes_hold_for_python_numbers_alone(backend: ModuleType) -> None:
    with strata_api.default_dtypes(real="float32", integral="int32"):
        for data, dtype in [([1.5], "float32"), ([1], "int32"), (1j, "complex64"), ([], "float32")]:
            assert backend.asarray(data).dtype == dtype
        assert backend.asarray(np.array([1.5])).dtype == backend.float64
        with pytest.raises(OverflowError):
            backend.asarray([2**31])


def test_asarray_of_an_array_is_the_array_unless_something_changes(backend: ModuleType) -> None:
    x = backend.arange(3)
    for copy in (None, False):
        assert backend.asarray(x, copy=copy) is x
        assert backend.asarray(x, dtype=backend.int64, device=x.device, copy=copy) is x
    copied = backend.asarray(x, copy=True)
    cast = backend.asarray(x, dtype=backend.float32)
    copied[0], cast[0] = 9, 9
    assert x.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="copy=False"):
        backend.asarray(x, dtype=backend.float32, copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        backend.asarray(x, device="abstract", copy=False)
    with pytest.raises(TypeError, match="real"):
        backend.asarray(backend.asarray([1j]), dtype=backend.float64)


def test_an_ndarray_is_shared_and_written_through(numpy_backend: ModuleType) -> None:
    a = np.arange(6).reshape(2, 3)
    for view in (a, a.T, a[:, ::-1], a[1], a[0, 0, ...]):
        before = view.copy()
        x = numpy_backend.asarray(view)
        assert np.shares_memory(np.asarray(x), a)
        x += 10
        assert np.array_equal(view, before + 10)
    fresh = numpy_backend.asarray(a, copy=True)
    assert not np.shares_memory(np.asarray(fresh), a)
    for other in (np.arange(3).astype(">i4"), np.arange(3, dtype="f4")):
        with pytest.raises(ValueError, match="copy"):
            numpy_backend.asarray(other, dtype=numpy_backend.int64, copy=False)
    swapped = numpy_backend.asarray(np.arange(3).astype(">i4"))
    assert (swapped.dtype, swapped.tolist()) == (numpy_backend.int32, [0, 1, 2])


def test_what_is_read_only_stays_so(numpy_backend: ModuleType) -> None:
    a = np.arange(3)
    a.flags.writeable = False
    for data in (a, b"abc", memoryview(b"abc"), np.broadcast_to(np.arange(1), (3,))):
        x = numpy_backend.asarray(data)
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1
        numpy_backend.asarray(data, copy=True)[0] = 1


def test_a_jax_array_keeps_its_value_and_its_backend(jax_backend: ModuleType) -> None:
    jnp = pytest.importorskip("jax.numpy")
    theirs = jnp.arange(3.0, dtype="float32")
    x = strata_api.asarray(theirs)
    assert (x.device, x.dtype) == (jax_backend.zeros(1).device, jax_backend.float32)
    x[0] = 7
    assert theirs.tolist() == [0, 1, 2]
    assert x.tolist() == [7, 1, 2]
    assert strata_api.numpy.asarray(theirs).device == "numpy:cpu"
    assert strata_api.asarray(theirs, device="numpy:cpu").device == "numpy:cpu"


def test_asarray_stacks_arrays_in_lists(backend: ModuleType) -> None:
    x = backend.asarray(2.5, dtype=backend.float32)
    have = backend.asarray([[x, 0], [1, x]])
    check_equal(have, np.array([[2.5, 0], [1, 2.5]], "float32"))
    rows = [backend.arange(2), backend.asarray([0.5, 1.5])]
    check_equal(backend.asarray(rows), np.array([[0, 1], [0.5, 1.5]]))
    check_equal(backend.asarray((x, x), dtype=backend.float64), np.array([2.5, 2.5]))


class Shown:
    """An array of another library: it has ``__array__`` and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.array, dtype=dtype, copy=copy)


class Exported:
    """An array of another library: it has DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()  # type: ignore[no-any-return]  # NumPy says what it is


def test_arrays_of_other_libraries_come_in_whatever_they_offer(backend: ModuleType) -> None:
    a = np.arange(3.0)
    for data in (Shown(a), Exported(a), memoryview(a), buffers.array("d", [0, 1, 2])):
        check_equal(backend.asarray(data), a)
        check_equal(backend.asarray(data, dtype=backend.float32), a.astype("float32"))
        copied = backend.asarray(data, copy=True)
        copied[0] = 9
        assert a[0] == 0
    check_equal(backend.asarray(bytearray(b"abc")), np.frombuffer(b"abc", np.uint8))


def test_memory_of_other_libraries_is_shared_on_numpy(numpy_backend: ModuleType) -> None:
    a = np.arange(3.0)
    for data in (Shown(a), Exported(a), memoryview(a)):
        assert np.shares_memory(np.asarray(numpy_backend.asarray(data)), a)
        assert np.shares_memory(np.asarray(numpy_backend.asarray(data, copy=False)), a)


def test_copy_false_is_refused_where_there_is_no_array_to_share(backend: ModuleType) -> None:
    for data in (1, 2.5, [1, 2], (1,), range(3)):
        with pytest.raises(ValueError, match="copy=False"):
            backend.asarray(data, copy=False)


def test_asarray_follows_promotion_alone_when_strict(backend: ModuleType) -> None:
    x = backend.asarray([1.5])
    assert backend.asarray(x, dtype=backend.int8).tolist() == [1]
    with strata_api.strict():
        with pytest.raises(TypeError, match="strict"):
            backend.asarray(x, dtype=backend.int8)
        narrow = backend.ones((), dtype=backend.float32)
        assert backend.asarray(narrow, dtype=backend.float64).dtype == backend.float64


# -- from_dlpack ----------------------------------------------------------------------------------


def test_from_dlpack_takes_every_dtype(backend: ModuleType) -> None:
    for dtype in ALL:
        a = counted((2, 3)).astype(dtype)
        for x in (a, Exported(a), array(backend, a)):
            check_equal(backend.from_dlpack(x), a)
            check_equal(backend.from_dlpack(x, copy=True), a)


def test_from_dlpack_shares_host_memory(numpy_backend: ModuleType) -> None:
    a = np.arange(3.0)
    for data in (a, Exported(a)):
        assert np.shares_memory(np.asarray(numpy_backend.from_dlpack(data)), a)
        assert not np.shares_memory(np.asarray(numpy_backend.from_dlpack(data, copy=True)), a)
    x = numpy_backend.asarray(a)
    numpy_backend.from_dlpack(x, copy=False)[0] = 5
    assert a[0] == 5


def test_from_dlpack_needs_the_protocol(backend: ModuleType) -> None:
    for data in (3, [1, 2], "a", Shown(np.arange(3))):
        with pytest.raises(AttributeError, match="__dlpack__"):
            backend.from_dlpack(data)


def test_from_dlpack_passes_on_the_errors_of_the_exporter(backend: ModuleType) -> None:
    class Refusing(Exported):
        def __dlpack__(self, **keywords: Any) -> Any:
            raise BufferError("no")

    error = outcome(lambda: backend.from_dlpack(Refusing(np.arange(3))))
    assert "BufferError" in kinds(error)


def test_results_are_arrays_of_the_bound_backend(backend: ModuleType) -> None:
    name = backend.__name__.rpartition(".")[2]
    made = [
        backend.arange(3),
        backend.asarray([1]),
        backend.asarray(np.arange(2)),
        backend.from_dlpack(np.arange(2)),
        backend.linspace(0, 1, 2),
        backend.full(2, 1),
    ]
    assert all(type(x) is Array and x.device.backend == name for x in made)
