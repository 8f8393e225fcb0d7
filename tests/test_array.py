"""The array as a citizen: what it says of itself, and how Python and other libraries take it."""

from __future__ import annotations

import copy
import operator
import pickle
import re
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np
import pytest

import strata_api
from oracle import array, check_equal, check_same, host, is_numpy
from strata_api import Array
from strategies import counted

SAMPLES = [
    np.array(5, dtype=np.int32),
    counted((3,)),
    counted((2, 3)).astype(np.float32) / 4,
    np.array([[True, False]]),
    np.array([1 + 2j, -0.5j]),
    np.zeros((0, 3), dtype=np.int8),
    np.array(0.1, dtype=np.float16),
]
BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]
INTEGER_BINARY = [
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
]


# -- attributes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("a", SAMPLES, ids=str)
def test_attributes_are_numpys(backend: ModuleType, a: Any) -> None:
    x = array(backend, a)
    for name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
        assert getattr(x, name) == getattr(a, name), name
    assert type(x.shape) is tuple
    assert all(type(n) is int for n in x.shape)
    assert x.dims == x.shape
    assert x.device == backend.__array_namespace_info__().default_device()
    assert x.tolist() == a.tolist()


def test_transposes_are_views(backend: ModuleType) -> None:
    a = counted((2, 3, 4))
    x = array(backend, a)
    check_equal(x.mT, a.mT)
    check_equal(x[0].T, a[0].T)
    x.mT[0, 0, 0] = -1
    x[0].T[1, 0] = -2
    a[0, 0, 0], a[0, 0, 1] = -1, -2
    check_equal(x, a)
    for wrong in (lambda: x.T, lambda: x[0, 0].T, lambda: x[0, 0].mT):
        with pytest.raises(ValueError, match="shape"):
            wrong()


def test_an_array_has_no_attributes_of_its_own(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    for name in ("shape", "dtype", "anything"):
        with pytest.raises(AttributeError):
            setattr(x, name, 1)


# -- how it shows itself --------------------------------------------------------------------------


@pytest.mark.parametrize("a", SAMPLES, ids=str)
def test_the_repr_shows_elements_dtype_and_a_device_that_is_not_numpys(
    backend: ModuleType, a: Any
) -> None:
    x = array(backend, a)
    text = repr(x)
    assert text.startswith("Array(")
    assert f"dtype={a.dtype.name}" in text
    assert ("device=" in text) == (not is_numpy(backend))
    shown = re.findall(r"[\d.]+|True|False", text.partition("dtype")[0])
    assert len(shown) >= a.size
    assert str(x) == str(a)
    assert f"{x}" == str(a)


def test_a_format_of_one_element_formats_it(backend: ModuleType) -> None:
    assert f"{array(backend, np.array(1.25)):.1f}" == "1.2"
    assert f"{array(backend, np.array(7)):>4}" == "   7"


def test_a_large_array_is_cut_and_no_more_is_moved_than_is_shown(
    backend: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = np.arange(1_000_000).reshape(1000, 1000)
    x = array(backend, a)
    moved = []
    kept = type(x._element.backend).to_numpy

    def counting(self: Any, x: Any, copy: Any) -> Any:
        result = kept(self, x, copy)
        moved.append(result.size)
        return result

    monkeypatch.setattr(type(x._element.backend), "to_numpy", counting)
    text = repr(x)
    assert sum(moved) < 1000
    assert len(text) < 1000
    assert "..." in text
    assert "999999" in text
    assert str(x) == str(a)


def test_an_abstract_array_shows_shape_and_dtype() -> None:
    x = strata_api.abstract.zeros((strata_api.Dimension(1, 8), 3), dtype=strata_api.float32)
    assert repr(x) == "Array(shape=(1..8, 3), dtype=float32, device=abstract:spec)"


@pytest.mark.parametrize("a", SAMPLES, ids=str)
def test_the_html_form_names_shape_dtype_and_device(backend: ModuleType, a: Any) -> None:
    x = array(backend, a)
    text = x._repr_html_()
    assert a.dtype.name in text
    assert str(x.device) in text
    assert str(a.shape) in text
    assert text.count("<td>") == (a.size if a.ndim in (1, 2) else 0)
    assert text.count("<") == text.count(">")


def test_the_html_form_says_that_an_array_is_read_only(backend: ModuleType) -> None:
    x = array(backend, counted((3,)))
    assert "read-only" not in x._repr_html_()
    assert "read-only" in backend.broadcast_to(x, (2, 3))._repr_html_()


# -- Python's own conversions ---------------------------------------------------------------------


@pytest.mark.parametrize("convert", [bool, int, float, complex, operator.index], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64", "float16"])
def test_conversions_are_numpys_of_the_standards_kinds(
    backend: ModuleType, convert: Callable[[Any], Any], dtype: str
) -> None:
    for value in (0, 1):
        a = np.array(value, dtype=dtype)
        x = array(backend, a)
        is_integer = np.dtype(dtype).kind in "iu"
        refused = {operator.index: not is_integer, int: dtype == "complex64"}
        if refused.get(convert, convert is float and dtype == "complex64"):
            with pytest.raises(TypeError):
                convert(x)
        else:
            assert convert(x) == convert(a)
            assert type(convert(x)) is type(convert(a))


@pytest.mark.parametrize("convert", [bool, int, float, complex, operator.index], ids=str)
@pytest.mark.parametrize("shape", [(1,), (2,), (0,), (1, 1)], ids=str)
def test_only_an_array_without_axes_converts(
    backend: ModuleType, convert: Callable[[Any], Any], shape: tuple[int, ...]
) -> None:
    with pytest.raises(TypeError, match=re.escape(str(shape))):
        convert(array(backend, np.ones(shape, dtype=np.int64)))


def test_inf_and_nan_convert_to_what_python_says(backend: ModuleType) -> None:
    assert float(array(backend, np.array(np.inf))) == np.inf
    assert np.isnan(float(array(backend, np.array(np.nan))))
    with pytest.raises(OverflowError):
        int(array(backend, np.array(np.inf)))
    with pytest.raises(ValueError, match="NaN"):
        int(array(backend, np.array(np.nan)))


def test_item_and_tolist(backend: ModuleType) -> None:
    assert array(backend, np.array([[3]])).item() == 3
    assert array(backend, np.array(1.5)).tolist() == 1.5
    assert array(backend, counted((2, 2))).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="size 1"):
        array(backend, counted((2,))).item()


def test_an_array_is_an_index_and_a_length_where_python_wants_one(backend: ModuleType) -> None:
    one = array(backend, np.array(1))
    assert [10, 20][one] == 20
    assert list(range(one)) == [0]
    assert "ab" * one == "ab"


def test_len_and_iteration_follow_the_first_axis(backend: ModuleType) -> None:
    a = counted((3, 2))
    x = array(backend, a)
    assert len(x) == 3
    for have, want in zip(x, a, strict=True):
        check_equal(have, want)
    assert len(list(array(backend, counted((0, 2))))) == 0
    for call in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            call(array(backend, np.array(1)))


def test_iterating_gives_views_of_rows_and_copies_of_numbers(backend: ModuleType) -> None:
    x = array(backend, counted((2, 2)))
    for row in x:
        row[0] = -1
    check_equal(x, np.array([[-1, 1], [-1, 3]]))
    a, b = x[:, 1]
    x[:, 1] = 7
    assert (int(a), int(b)) == (1, 3)


def test_contains_compares(backend: ModuleType) -> None:
    x = array(backend, counted((2, 2)))
    assert 3 in x
    assert 4 not in x


def test_hashing_is_refused(backend: ModuleType) -> None:
    x = array(backend, np.array(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError):
        {x: 1}  # noqa: B018  # building it is the test


def test_the_truth_of_a_comparison_of_many_is_refused(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    with pytest.raises(TypeError, match="bool"):
        bool(x == x)


# -- operators ------------------------------------------------------------------------------------


@pytest.mark.parametrize("operate", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_binary_operator_is_numpys_both_ways(
    backend: ModuleType, operate: Callable[[Any, Any], Any], dtype: str
) -> None:
    a, b = np.array([5, 6, 7]).astype(dtype), np.array([2, 3, 1]).astype(dtype)
    x, y = array(backend, a), array(backend, b)
    check_same(lambda: operate(x, y), lambda: operate(a, b), ulps=2)
    check_same(lambda: operate(x, 2), lambda: operate(a, 2), ulps=2)
    check_same(lambda: operate(2, x), lambda: operate(2, a), ulps=2)
    check_same(lambda: operate(x, b), lambda: operate(a, b), ulps=2)
    check_same(lambda: operate(a, y), lambda: operate(a, b), ulps=2)


@pytest.mark.parametrize("operate", INTEGER_BINARY, ids=lambda f: f.__name__)
def test_a_bitwise_operator_is_numpys_both_ways(
    backend: ModuleType, operate: Callable[[Any, Any], Any]
) -> None:
    a, b = np.array([5, 6, 7]), np.array([2, 3, 1])
    x, y = array(backend, a), array(backend, b)
    check_same(lambda: operate(x, y), lambda: operate(a, b))
    check_same(lambda: operate(x, 2), lambda: operate(a, 2))
    check_same(lambda: operate(2, x), lambda: operate(2, a))
    with pytest.raises(TypeError):
        operate(x, 1.5)


@pytest.mark.parametrize(
    "operate", [*BINARY[:7], *INTEGER_BINARY, operator.matmul], ids=lambda f: f.__name__
)
def test_an_in_place_operator_changes_the_array_that_it_is_given(
    backend: ModuleType, operate: Callable[[Any, Any], Any]
) -> None:
    in_place = getattr(operator, "i" + operate.__name__.rstrip("_"))
    dtype = np.float64 if operate is operator.truediv else np.int64
    a, b = np.array([[5, 6], [7, 4]], dtype=dtype), np.array([[2, 3], [1, 2]], dtype=dtype)
    x = array(backend, a)
    alias = x[:]
    result = in_place(x, array(backend, b))
    assert result is x
    check_equal(alias, operate(a, b))


@pytest.mark.parametrize("operate", [operator.neg, operator.pos, abs], ids=lambda f: f.__name__)
def test_a_unary_operator_is_numpys(backend: ModuleType, operate: Callable[[Any], Any]) -> None:
    for a in (np.array([1, -2]), np.array([0.5, -0.0]), np.array([3 - 4j])):
        check_equal(operate(array(backend, a)), operate(a))
    with pytest.raises(TypeError):
        operate(array(backend, np.array([True])))


def test_inversion_takes_integers_and_booleans(backend: ModuleType) -> None:
    for a in (np.array([1, -2]), np.array([True, False])):
        check_equal(~array(backend, a), ~a)
    with pytest.raises(TypeError):
        ~array(backend, np.array([1.0]))


def test_matmul_is_numpys(backend: ModuleType) -> None:
    a, b = counted((2, 3)), counted((3, 2), start=5)
    check_equal(array(backend, a) @ array(backend, b), a @ b)
    check_equal(array(backend, a) @ b, a @ b)
    check_equal(a @ array(backend, b), a @ b)


def test_an_operator_leaves_other_kinds_of_operands_to_them(backend: ModuleType) -> None:
    class Other:
        def __radd__(self, other: object) -> str:
            return "taken"

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]  # equal to anything

    x = array(backend, counted((2,)))
    assert x + Other() == "taken"
    assert (x == Other()) is True
    for wrong in (None, "a", [1, 2], object()):
        with pytest.raises(TypeError):
            x + wrong


def test_a_comparison_with_what_is_no_array_is_not_equal(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    for other in (None, "a", object()):
        assert (x == other) is False
        assert (x != other) is True


# -- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("a", SAMPLES, ids=str)
def test_pickle_keeps_dtype_backend_and_values(backend: ModuleType, a: Any, protocol: int) -> None:
    x = array(backend, a)
    y = pickle.loads(pickle.dumps(x, protocol))
    check_equal(y, a)
    assert y.device == x.device
    assert y.__array_namespace__() is backend


def test_pickle_keeps_narrow_dtypes_views_and_read_only(backend: ModuleType) -> None:
    x = backend.astype(array(backend, counted((2, 3))), backend.bfloat16)
    y = pickle.loads(pickle.dumps(x[:, ::-2]))
    assert y.dtype == backend.bfloat16
    np.testing.assert_array_equal(host(y), host(x)[:, ::-2])
    wide = pickle.loads(pickle.dumps(backend.broadcast_to(x, (2, 2, 3))))
    with pytest.raises(ValueError, match="read-only"):
        wide[0] = 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=lambda f: f.__name__)
def test_a_copy_is_independent(backend: ModuleType, copied: Callable[[Any], Any]) -> None:
    a = counted((2, 3))
    x = array(backend, a)
    for part, want in ((x, a), (x[:, 1], a[:, 1])):
        y = copied(part)
        assert type(y) is Array
        check_equal(y, want)
        y[...] = -1
        check_equal(x, a)


def test_deepcopy_honours_its_memo(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    tree = copy.deepcopy({"a": x, "b": [x]})
    assert tree["a"] is tree["b"][0]
    assert tree["a"] is not x


# -- NumPy ----------------------------------------------------------------------------------------


def test_numpy_takes_the_array_as_it_is(backend: ModuleType) -> None:
    a = counted((2, 3)) / 2
    x = array(backend, a)
    np.testing.assert_array_equal(np.asarray(x), a)
    np.testing.assert_array_equal(np.sin(x), np.sin(a))
    assert np.sum(np.asarray(x)) == a.sum()
    assert np.array(x, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.concatenate([x, x]), np.concatenate([a, a]))


def test_numpys_view_of_a_numpy_backed_array_is_the_same_memory(
    numpy_backend: ModuleType,
) -> None:
    a = counted((2, 3))
    x = array(numpy_backend, a)
    view = np.asarray(x)
    x[0, 0] = 9
    assert view[0, 0] == 9
    view[0, 1] = 8
    assert int(x[0, 1]) == 8
    assert np.shares_memory(np.asarray(x[:, ::-1]), view)


def test_what_numpy_was_given_of_a_jax_backed_array_keeps_its_value(
    jax_backend: ModuleType,
) -> None:
    x = array(jax_backend, counted((2, 3)))
    taken = np.asarray(x)
    x[0, 0] = 9
    assert taken[0, 0] == 0


def test_asarray_of_an_ndarray_shares_its_memory_on_numpy(numpy_backend: ModuleType) -> None:
    a = counted((2, 3))
    x = numpy_backend.asarray(a)
    x[0, 0] = 9
    a[0, 1] = 8
    check_equal(x, a)
    assert a[0, 0] == 9
    assert int(x[0, 1]) == 8


def test_array_with_copy_true_is_independent_and_with_false_shares_or_raises(
    backend: ModuleType,
) -> None:
    a = counted((2, 3))
    x = array(backend, a)
    mine = x.__array__(copy=True)
    mine[...] = 0
    check_equal(x, a)
    np.testing.assert_array_equal(x.__array__(copy=False), a)
    np.testing.assert_array_equal(x.__array__(copy=None), a)
    with pytest.raises(ValueError, match="copy=False"):
        x.__array__(np.float32, copy=False)
    assert x.__array__(np.float32).dtype == np.float32


def test_an_ndarray_on_the_left_defers_to_us(backend: ModuleType) -> None:
    a = counted((2, 3))
    x = array(backend, a)
    assert not hasattr(Array, "__array_ufunc__")
    for operate in (operator.add, operator.mul, operator.lt, operator.eq, operator.sub):
        check_equal(operate(a, x), operate(a, a))
        check_equal(operate(np.int64(2), x), operate(np.int64(2), a))


def test_an_ndarray_in_place_stays_an_ndarray(backend: ModuleType) -> None:
    a = counted((2, 3))
    kept = a
    a += np.asarray(array(backend, counted((2, 3))))
    assert a is kept
    np.testing.assert_array_equal(a, 2 * counted((2, 3)))


# -- JAX ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("jax_backend")
def test_jax_takes_the_array_as_it_is(backend: ModuleType) -> None:
    from jax import numpy as jnp

    a = (counted((2, 3)) / 2).astype(np.float32)
    x = array(backend, a)
    for taken in (jnp.asarray(x), jnp.sin(x), jnp.concatenate([x, x]), x.__jax_array__()):
        assert isinstance(taken, type(jnp.zeros(1)))
    np.testing.assert_array_equal(jnp.asarray(x[:, ::-1]), a[:, ::-1])
    check_equal(backend.asarray(jnp.asarray(x)), a)


GIVEN: dict[str, Callable[[Any], Any]] = {
    "__jax_array__": lambda x: x.__jax_array__(),
    "__jax_array__ of a view": lambda x: x[0].__jax_array__(),
    "jnp.asarray": lambda x: import_module("jax.numpy").asarray(x),
    "jnp.from_dlpack": lambda x: import_module("jax.numpy").from_dlpack(x),
    "np.asarray": np.asarray,
    "np.from_dlpack": np.from_dlpack,
    "the leaf of a tree": lambda x: import_module("jax").tree.leaves(x)[0],
}


@pytest.mark.parametrize("give", GIVEN.values(), ids=GIVEN.keys())
def test_what_was_handed_out_keeps_its_value(
    jax_backend: ModuleType, give: Callable[[Any], Any]
) -> None:
    x = array(jax_backend, counted((2, 3)).astype(np.float32))
    x[0, 0] = 5  # from now on the buffer is ours
    given = give(x)
    value = np.array(given)
    for _ in range(3):
        x[0] = -1
        x[:, ::2] = 0
        x += 1
    np.testing.assert_array_equal(given, value)


def test_a_jax_array_that_was_taken_in_never_changes_and_never_dies(
    jax_backend: ModuleType,
) -> None:
    from jax import numpy as jnp

    users = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
    value = np.array(users)
    for take in (jax_backend.asarray, jax_backend.from_dlpack, lambda u: strata_api.add(u, 0)):
        x = take(users)
        for _ in range(3):
            x[0] = -1
            x += 1
            x[:, ::2] = 0
        np.testing.assert_array_equal(users, value)


# -- DLPack ---------------------------------------------------------------------------------------


def test_dlpack_goes_to_numpy_and_back(backend: ModuleType) -> None:
    for a in SAMPLES:
        x = array(backend, a)
        assert x.__dlpack_device__()[0] == 1
        np.testing.assert_array_equal(np.from_dlpack(x), a)
        check_equal(backend.from_dlpack(x), a)
        check_equal(backend.from_dlpack(a), a)


def test_dlpack_of_a_numpy_backed_view_is_the_same_memory(numpy_backend: ModuleType) -> None:
    a = counted((4, 6))
    x = array(numpy_backend, a)
    there = np.from_dlpack(x[::2, ::-3])
    x[...] = -1
    np.testing.assert_array_equal(there, np.full((2, 2), -1))


def test_dlpack_copies_if_told_to(backend: ModuleType) -> None:
    x = array(backend, counted((3,)))
    taken = backend.from_dlpack(x, copy=True)
    taken[0] = 9
    check_equal(x, counted((3,)))
    with pytest.raises((ValueError, BufferError)):
        backend.from_dlpack(np.lib.stride_tricks.as_strided(counted((4,)), (2,), (4,)), copy=False)


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1)])
def test_dlpack_speaks_every_version(backend: ModuleType, version: Any) -> None:
    x = array(backend, counted((3,)))
    assert "dltensor" in repr(x.__dlpack__(max_version=version))


def test_a_read_only_array_is_read_only_by_dlpack_too(numpy_backend: ModuleType) -> None:
    wide = numpy_backend.broadcast_to(array(numpy_backend, counted((3,))), (2, 3))
    there = np.from_dlpack(wide)
    assert not there.flags.writeable


# -- devices and the namespace --------------------------------------------------------------------


def test_to_device_moves_between_backends(backend: ModuleType, numpy_backend: ModuleType) -> None:
    a = counted((2, 3))
    x = array(backend, a)
    y = x.to_device("numpy")
    assert y.device == "numpy:cpu"
    assert y.__array_namespace__() is numpy_backend
    check_equal(y, a)
    check_equal(y.to_device(x.device), a)
    assert y.to_device(x.device).device == x.device
    if not is_numpy(backend):
        y[0] = -1
        check_equal(x, a)


def test_to_the_device_that_it_is_on_is_the_array_itself(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    for device in (x.device, str(x.device), x.device.backend):
        assert x.to_device(device) is x


def test_a_device_compares_hashes_prints_and_is_accepted(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    device = x.device
    assert device == backend.zeros(1).device
    assert not device != backend.zeros(1).device  # noqa: SIM202  # both ways
    assert {device: 1}[backend.zeros(1).device] == 1
    assert str(device).startswith(backend.__name__.rpartition(".")[2] + ":")
    assert device == str(device)
    assert device != "nowhere:cpu"
    assert device in backend.__array_namespace_info__().devices()
    for where in (device, str(device), device.backend):
        assert backend.zeros(2, device=where).device == device


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12", "2025.12", None])
def test_the_namespace_of_an_array_is_bound_to_its_backend(
    backend: ModuleType, version: str | None
) -> None:
    x = array(backend, counted((2,)))
    assert x.__array_namespace__(api_version=version) is backend


def test_an_unknown_version_of_the_standard_is_refused(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    with pytest.raises(ValueError, match=r"2019\.01.*2025\.12"):
        x.__array_namespace__(api_version="2019.01")


# -- array_api_compat -----------------------------------------------------------------------------


def test_array_api_compat_answers_rightly(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3)))
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x) is backend
    assert array_api_compat.array_namespace(x, x[0], 1.0, None) is backend
    assert array_api_compat.device(x) == x.device
    assert array_api_compat.size(x) == 6
    check_equal(array_api_compat.to_device(x, x.device), host(x))
    assert array_api_compat.is_writeable_array(x)
    assert not array_api_compat.is_lazy_array(x)
    for is_that in ("numpy", "jax", "torch", "cupy", "dask"):
        assert not getattr(array_api_compat, f"is_{is_that}_array")(x)
        assert not getattr(array_api_compat, f"is_{is_that}_namespace")(backend)


def test_an_abstract_array_is_lazy_to_array_api_compat() -> None:
    xp = strata_api.abstract
    assert array_api_compat.is_lazy_array(xp.zeros((2, 3)))
    unknown = xp.zeros((strata_api.Dimension(1, 4), 3))
    assert array_api_compat.size(unknown) is None
    assert unknown.shape == (None, 3)
    assert unknown.size is None
    assert unknown.nbytes is None
    for ask in (bool, float, len, list, np.asarray, lambda x: x.tolist()):
        with pytest.raises(TypeError):
            ask(unknown)


def test_waiting_gives_the_array_itself(backend: ModuleType) -> None:
    x = array(backend, counted((2,)))
    assert x.block_until_ready() is x
