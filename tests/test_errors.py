"""Bad input: the same exception with the same words on every backend, and nothing is changed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import strata_api
from oracle import array, check_equal, host, is_numpy
from strata_api import Array
from strategies import counted

F = counted((2, 3)) / 2
I = counted((2, 3))  # noqa: E741  # as F: by its first letter
B = I > 2


class Bad(NamedTuple):
    """A call that must fail: with which exception, and what its message says, in this order."""

    call: Callable[..., Any]  # of the namespace and the arrays
    inputs: tuple[Any, ...]
    error: type[Exception]
    says: tuple[str, ...]
    needs_data: bool = False  # an array without data cannot tell


BAD: dict[str, Bad] = {
    # kinds of dtypes
    "a function of floats given booleans": Bad(
        lambda xp, x: xp.sin(x), (B,), TypeError, ("sin", "floating-point", "bool")
    ),
    "a bitwise function of floats": Bad(
        lambda xp, x: xp.bitwise_and(x, x), (F,), TypeError, ("bitwise_and", "integer", "float64")
    ),
    "an order of complex numbers": Bad(
        lambda xp, x: x < x, (F + 1j,), TypeError, ("less", "real", "complex128")
    ),
    "a negated boolean": Bad(lambda xp, x: -x, (B,), TypeError, ("negative", "bool")),
    "a logical function of integers": Bad(
        lambda xp, x: xp.logical_not(x), (I,), TypeError, ("logical_not", "boolean", "int64")
    ),
    "an inverse of integers": Bad(
        lambda xp, x: xp.linalg.inv(x[:, :2]), (I,), TypeError, ("inv", "float", "int64")
    ),
    "an index array of floats": Bad(
        lambda xp, x: xp.take(x, x[0], axis=0), (F,), TypeError, ("take", "integer", "float64")
    ),
    "complex numbers to real ones": Bad(
        lambda xp, x: xp.astype(x, xp.float64),
        (F + 1j,),
        TypeError,
        ("astype", "complex128", "float64"),
    ),
    "an unknown dtype": Bad(
        lambda xp, x: xp.astype(x, "nonsense"), (F,), TypeError, ("dtype", "nonsense")
    ),
    "a dtype that is none": Bad(
        lambda xp, x: xp.zeros(2, dtype=object), (F,), TypeError, ("dtype", "object")
    ),
    # operands
    "a list for an array": Bad(
        lambda xp, x: xp.add(x, [1, 2, 3]), (F,), TypeError, ("add", "array", "list", "[1, 2, 3]")
    ),
    "a list for the only array": Bad(
        lambda xp, x: xp.sum([1, 2]), (F,), TypeError, ("sum", "array", "list")
    ),
    "scalars alone": Bad(lambda xp, x: xp.add(1, 2), (F,), TypeError, ("add", "array", "1", "2")),
    "a string for an array": Bad(
        lambda xp, x: xp.sin("x"), (F,), TypeError, ("sin", "array", "str")
    ),
    "nothing for an array": Bad(
        lambda xp, x: xp.exp(None), (F,), TypeError, ("exp", "array", "None")
    ),
    "an array of objects": Bad(lambda xp, x: xp.asarray([1, "a"]), (F,), TypeError, ("numbers",)),
    "a ragged list": Bad(lambda xp, x: xp.asarray([[1], [1, 2]]), (F,), ValueError, ("ragged",)),
    "an integer that does not fit": Bad(
        lambda xp, x: xp.asarray([300], dtype=xp.int8), (F,), OverflowError, ()
    ),
    # shapes
    "shapes that do not broadcast": Bad(
        lambda xp, x: xp.add(x, xp.ones((4, 3))), (F,), ValueError, ("add", "(2, 3)", "(4, 3)")
    ),
    "shapes that do not broadcast, by an operator": Bad(
        lambda xp, x: x * xp.ones((2, 2)), (F,), ValueError, ("multiply", "(2, 3)", "(2, 2)")
    ),
    "shapes that do not broadcast, of three": Bad(
        lambda xp, x: xp.where(xp.ones(4, dtype=xp.bool), x, x),
        (F,),
        ValueError,
        ("where", "(4,)", "(2, 3)"),
    ),
    "a broadcast to a smaller shape": Bad(
        lambda xp, x: xp.broadcast_to(x, (3,)), (F,), ValueError, ("broadcast_to", "(2, 3)", "(3,)")
    ),
    "a reshape to another size": Bad(
        lambda xp, x: xp.reshape(x, (4, 2)), (F,), ValueError, ("reshape", "(2, 3)", "6", "(4, 2)")
    ),
    "a reshape with two unknowns": Bad(
        lambda xp, x: xp.reshape(x, (-1, -1)), (F,), ValueError, ("reshape", "-1", "(-1, -1)")
    ),
    "a reshape that does not divide": Bad(
        lambda xp, x: xp.reshape(x, (4, -1)), (F,), ValueError, ("reshape", "6", "(4, -1)")
    ),
    "a reshape that must copy": Bad(
        lambda xp, x: xp.reshape(x.T, (6,), copy=False), (F,), ValueError, ("reshape", "copy")
    ),
    "a negative extent": Bad(lambda xp, x: xp.zeros((2, -1)), (F,), ValueError, ("-1",)),
    "a shape of floats": Bad(lambda xp, x: xp.zeros((2.0, 1)), (F,), TypeError, ("2.0",)),
    "arrays that do not join": Bad(
        lambda xp, x: xp.concat([x, xp.ones((2, 2))]), (F,), ValueError, ("concat", "(2, 3)", "0")
    ),
    "nothing to join": Bad(lambda xp, x: xp.concat([]), (F,), ValueError, ("concat",)),
    "arrays that do not stack": Bad(
        lambda xp, x: xp.stack([x, x[0]]), (F,), ValueError, ("stack", "(2, 3)", "(3,)")
    ),
    "inner extents that differ": Bad(
        lambda xp, x: x @ x, (F,), ValueError, ("matmul", "(2, 3)", "3", "2")
    ),
    "a product of no axes": Bad(
        lambda xp, x: xp.matmul(x, x[0, 0]), (F,), ValueError, ("matmul", "(2, 3)", "()")
    ),
    "an inverse of a rectangle": Bad(
        lambda xp, x: xp.linalg.inv(x), (F,), ValueError, ("inv", "square", "(2, 3)")
    ),
    "a squeeze of more than one": Bad(
        lambda xp, x: xp.squeeze(x, 1), (F,), ValueError, ("squeeze", "1", "(2, 3)")
    ),
    "the largest of nothing": Bad(
        lambda xp, x: xp.max(x[:0]), (F,), ValueError, ("max", "no elements", "(0, 3)")
    ),
    "the place of the largest of nothing": Bad(
        lambda xp, x: xp.argmax(x[:, :0], axis=1), (F,), ValueError, ("argmax", "(2, 0)")
    ),
    # axes
    "an axis out of range": Bad(
        lambda xp, x: xp.sum(x, axis=2), (F,), IndexError, ("sum", "2", "2 dimensions")
    ),
    "a negative axis out of range": Bad(
        lambda xp, x: xp.flip(x, axis=-3), (F,), IndexError, ("flip", "-3", "2")
    ),
    "an axis out of range is a ValueError too": Bad(
        lambda xp, x: xp.sort(x, axis=5), (F,), ValueError, ("sort", "5", "2")
    ),
    "an axis given twice": Bad(
        lambda xp, x: xp.sum(x, axis=(0, -2)), (F,), ValueError, ("sum", "twice", "(0, -2)")
    ),
    "an axis of another kind": Bad(
        lambda xp, x: xp.sum(x, axis=1.0), (F,), TypeError, ("sum", "integer", "1.0")
    ),
    "axes that are no permutation": Bad(
        lambda xp, x: xp.permute_dims(x, (0, 0)), (F,), ValueError, ("permute_dims", "(0, 0)")
    ),
    "a new axis out of range": Bad(
        lambda xp, x: xp.expand_dims(x, axis=4), (F,), IndexError, ("expand_dims", "4")
    ),
    # indices
    "an index out of range": Bad(lambda xp, x: x[0, 3], (F,), IndexError, ("3", "axis 1", "3")),
    "too many indices": Bad(lambda xp, x: x[0, 0, 0], (F,), IndexError, ("too many", "2", "3")),
    "an index array out of range": Bad(
        lambda xp, x: x[[0, 5]], (F,), IndexError, ("5", "axis 0", "2"), needs_data=True
    ),
    "taking out of range": Bad(
        lambda xp, x: xp.take(x, xp.asarray([0, 9]), axis=1),
        (F,),
        IndexError,
        ("9", "axis 1", "3"),
        needs_data=True,
    ),
    "taking along an axis out of range": Bad(
        lambda xp, x: xp.take_along_axis(x, xp.asarray([[9]]), axis=1),
        (F,),
        IndexError,
        ("9", "axis 1", "3"),
        needs_data=True,
    ),
    "a mask of another shape": Bad(
        lambda xp, x, m: x[m], (F, B[:, :2]), IndexError, ("mask", "(2, 2)", "(2, 3)")
    ),
    "a mask of too many axes": Bad(
        lambda xp, x, m: x[0][m], (F, B), IndexError, ("mask", "(2, 3)", "(3,)")
    ),
    "a string as an index": Bad(lambda xp, x: x["a"], (F,), IndexError, ("index", "'a'")),
    "a step of zero": Bad(lambda xp, x: x[::0], (F,), ValueError, ("zero",)),
    # writing
    "a write to a broadcast": Bad(
        lambda xp, x: xp.broadcast_to(x, (2, 2, 3)).__setitem__(0, 1),
        (F,),
        ValueError,
        ("read-only", "copy"),
    ),
    "a write of another shape": Bad(
        lambda xp, x: x.__setitem__(0, xp.ones(2)), (F,), ValueError, ("(2,)", "(3,)")
    ),
    "a write of another kind": Bad(
        lambda xp, x: x.__setitem__(0, 1.5), (I,), TypeError, ("float", "int64")
    ),
    "a write of an array of another kind": Bad(
        lambda xp, x, y: x.__setitem__(Ellipsis, y), (I, F), TypeError, ("float64", "int64")
    ),
    "a write of complex numbers": Bad(
        lambda xp, x: x.__setitem__(0, 1j), (F,), TypeError, ("complex", "float64")
    ),
    "a write under a mask of another count": Bad(
        lambda xp, x, m: x.__setitem__(m, xp.ones(5)),
        (F, B),
        ValueError,
        ("(5,)", "3 elements"),
        needs_data=True,
    ),
    "a write out of range": Bad(
        lambda xp, x: x.__setitem__(7, 1.0), (F,), IndexError, ("7", "axis 0", "2")
    ),
    "a write of an integer that does not fit": Bad(
        lambda xp, x: x.__setitem__(0, 2**70), (I,), OverflowError, ("int64", str(2**70))
    ),
    "an in-place sum that grows": Bad(
        lambda xp, x: x[0].__iadd__(x), (F,), ValueError, ("add", "(2, 3)", "(3,)")
    ),
    "an in-place sum that loses its kind": Bad(
        lambda xp, x: x.__iadd__(1.5), (I,), TypeError, ("add", "float64", "int64")
    ),
    "an in-place quotient of integers": Bad(
        lambda xp, x: x.__itruediv__(2), (I,), TypeError, ("divide",)
    ),
    # values
    "an unknown mode": Bad(
        lambda xp, x: xp.linalg.qr(x, mode="other"), (F,), ValueError, ("qr", "other")
    ),
    "an unknown side": Bad(
        lambda xp, x: xp.searchsorted(x[0], x, side="middle"),
        (F,),
        ValueError,
        ("searchsorted", "middle"),
    ),
    "an unknown norm of a transform": Bad(
        lambda xp, x: xp.fft.fft(x, norm="other"), (F,), ValueError, ("fft", "other")
    ),
    "a transform of no points": Bad(
        lambda xp, x: xp.fft.fft(x, n=0), (F,), ValueError, ("fft", "0")
    ),
    "an unknown indexing of a grid": Bad(
        lambda xp, x: xp.meshgrid(x[0], x[0], indexing="other"),
        (F,),
        ValueError,
        ("meshgrid", "other"),
    ),
    "a step of nothing": Bad(lambda xp, x: xp.arange(0, 1, 0), (F,), ValueError, ("arange", "0")),
    "a negative number of points": Bad(
        lambda xp, x: xp.linspace(0, 1, -1), (F,), ValueError, ("0 or more", "-1")
    ),
    "a negative repetition": Bad(
        lambda xp, x: xp.repeat(x, -1), (F,), ValueError, ("repeat", "-1")
    ),
    "an integer to a negative power": Bad(lambda xp, x: x**-1, (I,), ValueError, ("pow", "-1")),
    "a clip by bounds that lose their kind": Bad(
        lambda xp, x: xp.clip(x, "a"), (F,), TypeError, ("clip",)
    ),
    "no least difference": Bad(lambda xp, x: xp.diff(x, n=-1), (F,), ValueError, ("diff", "-1")),
    # devices, backends, versions
    "an unknown device": Bad(lambda xp, x: xp.zeros(2, device="moon"), (F,), ValueError, ("moon",)),
    "a device of another kind": Bad(
        lambda xp, x: xp.zeros(2, device=3.5), (F,), ValueError, ("device", "3.5")
    ),
    "to an unknown device": Bad(
        lambda xp, x: x.to_device("numpy:gpu"), (F,), ValueError, ("gpu", "numpy:cpu")
    ),
    "a stream": Bad(
        lambda xp, x: x.to_device(x.device, stream=1), (F,), ValueError, ("stream", "1")
    ),
    "an unknown version": Bad(
        lambda xp, x: x.__array_namespace__(api_version="1999.12"),
        (F,),
        ValueError,
        ("1999.12", "2025.12"),
    ),
    "no bool of many": Bad(lambda xp, x: bool(x), (F,), TypeError, ("bool", "(2, 3)")),
}


FROM_SHAPES = {name: bad for name, bad in BAD.items() if not bad.needs_data}
STRICT: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "a transform of integers": (lambda xp, x: xp.fft.fft(x), (I,), "fft.*int64"),
    "a mean of booleans": (lambda xp, x: xp.mean(x), (B,), "mean.*bool"),
    "a condition of integers": (lambda xp, x: xp.where(x, x, x), (I,), "where.*int64"),
    "integers with floats": (lambda xp, x, y: x + y, (I, F), "int64.*float64"),
    "booleans with integers": (lambda xp, x, y: x * y, (B, I), "bool.*int64"),
    "a quotient of integers": (lambda xp, x: x / (x + 1), (I,), "divide.*int64"),
    "a dtype by its name": (lambda xp, x: xp.astype(x, "float32"), (F,), "float32"),
    "a float for integers": (lambda xp, x: x + 1.5, (I,), "int64.*float"),
}


@pytest.mark.parametrize(("call", "inputs", "says"), STRICT.values(), ids=STRICT.keys())
def test_strict_refuses_what_else_is_taken(
    backend: ModuleType, call: Callable[..., Any], inputs: tuple[Any, ...], says: str
) -> None:
    operands = [array(backend, a) for a in inputs]
    assert type(call(backend, *operands)) is Array
    with strata_api.strict(), pytest.raises(TypeError, match=says):
        call(backend, *operands)


def caught(bad: Bad, xp: ModuleType, operands: list[Array]) -> Exception:
    try:
        result = bad.call(xp, *operands)
    except Exception as error:
        return error
    raise AssertionError(f"expected {bad.error.__name__}, got {result!r}")


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_with_what_was_expected_and_given(
    backend: ModuleType, bad: Bad
) -> None:
    operands = [array(backend, a) for a in bad.inputs]
    error = caught(bad, backend, operands)
    assert isinstance(error, bad.error), repr(error)
    assert re.search(".*".join(map(re.escape, bad.says)), str(error)), repr(error)
    assert "\n" not in str(error), "an error is one line"
    for x, a in zip(operands, bad.inputs, strict=True):
        check_equal(x, a)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_in_the_same_words_on_every_backend(
    numpy_backend: ModuleType, jax_backend: ModuleType, bad: Bad
) -> None:
    errors = [
        caught(bad, xp, [array(xp, a) for a in bad.inputs]) for xp in (numpy_backend, jax_backend)
    ]
    first, second = errors
    assert type(first) is type(second)
    if "device" not in str(first):  # each names its own
        assert str(first) == str(second)


@pytest.mark.parametrize(
    "bad",
    [b for b in BAD.values() if not b.needs_data],
    ids=[k for k in BAD if not BAD[k].needs_data],
)
def test_what_shapes_and_dtypes_tell_is_refused_without_data_too(
    numpy_backend: ModuleType, bad: Bad
) -> None:
    xp = strata_api.abstract
    error = caught(bad, xp, [xp.empty(a.shape, dtype=a.dtype) for a in bad.inputs])
    real = caught(bad, numpy_backend, [array(numpy_backend, a) for a in bad.inputs])
    assert type(error) is type(real)
    if "device" not in str(real) and "copy" not in str(real):
        assert str(error) == str(real)


# -- two backends ---------------------------------------------------------------------------------

MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "an operator": lambda x, y: x + y,
    "a function": strata_api.multiply,
    "a product": lambda x, y: x @ y.T,
    "a choice": lambda x, y: strata_api.where(x > 0, x, y),
    "a join": lambda x, y: strata_api.concat([x, y]),
    "a write": lambda x, y: x.__setitem__(0, y[0]),
    "a sum in place": lambda x, y: x.__iadd__(y),
    "a solution": lambda x, y: strata_api.linalg.solve(x[:, :2], y),
}


@pytest.mark.parametrize("call", MIXED.values(), ids=MIXED.keys())
def test_two_backends_in_one_call_are_refused_with_both_names_and_advice(
    numpy_backend: ModuleType, jax_backend: ModuleType, call: Callable[[Any, Any], Any]
) -> None:
    x, y = array(numpy_backend, F), array(jax_backend, F)
    for first, second in ((x, y), (y, x)):
        with pytest.raises(TypeError, match=r"jax and numpy|numpy and jax") as error:
            call(first, second)
        assert "to_device" in str(error.value)
    check_equal(x, F)
    check_equal(y, F)


def test_foreign_arrays_of_two_libraries_are_refused(jax_backend: ModuleType) -> None:
    import jax.numpy as jnp

    with pytest.raises(TypeError, match="to_device"):
        strata_api.add(np.ones(2), jnp.ones(2))
    assert strata_api.add(np.ones(2), 1).__array_namespace__() is strata_api.numpy
    assert strata_api.add(jnp.ones(2), 1).__array_namespace__() is jax_backend


def test_a_foreign_array_goes_to_the_backend_of_the_array_beside_it(
    backend: ModuleType, jax_backend: ModuleType
) -> None:
    import jax.numpy as jnp

    x = array(backend, F)
    for other in (F, jnp.asarray(F)):
        y = strata_api.add(x, other)
        assert y.__array_namespace__() is backend
        np.testing.assert_allclose(host(y), 2 * F)


# -- without JAX ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [
        "import strata_api.jax",
        "import strata_api; strata_api.jax",
        "import strata_api as xp; xp.zeros(2, device='jax')",
        "import strata_api as xp; xp.zeros(2).to_device('jax:cpu')",
        "import strata_api as xp; xp.set_default_backend('jax'); xp.zeros(2)",
    ],
)
def test_without_jax_the_rest_works_and_the_error_says_what_to_install(program: str) -> None:
    hide = (
        "import sys, importlib.abc\n"
        "class Hide(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('jax', 'jaxlib'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
        "import strata_api as xp\n"
        "assert float(xp.sum(xp.ones(3))) == 3\n"
        "import importlib.util\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'jax' else 1 / 0\n"
        "import strata_api.backends\n"
        "strata_api.backends.find_spec = importlib.util.find_spec\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", hide + program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert 'ImportError: the JAX backend needs JAX: pip install "strata-api[jax]"' in done.stderr


# -- what a trace cannot do -----------------------------------------------------------------------

TRACED: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "a branch": (lambda xp, x: x if x[0, 0] > 0 else -x, TypeError, "traced.*where"),
    "a float": (lambda xp, x: float(x[0, 0]), TypeError, "traced.*concrete"),
    "a list": (lambda xp, x: x.tolist(), TypeError, "traced.*concrete"),
    "an ndarray": (lambda xp, x: np.asarray(x), TypeError, "traced.*concrete"),
    "a mask": (lambda xp, x: x[x > 0], TypeError, r"shape.*depends on the data.*where"),
    "nonzero": (lambda xp, x: xp.nonzero(x)[0], TypeError, r"shape.*depends on the data.*where"),
    "unique_values": (
        lambda xp, x: xp.unique_values(x),
        TypeError,
        r"shape.*depends on the data.*sort",
    ),
    "repeat by counts": (
        lambda xp, x: xp.repeat(x, xp.astype(x[0], xp.int32), axis=1),
        TypeError,
        r"shape.*depends on the data",
    ),
    "a bad axis": (lambda xp, x: xp.sum(x, axis=4), IndexError, "sum.*4"),
    "shapes that do not broadcast": (lambda xp, x: x + xp.ones(4), ValueError, r"\(4,\)"),
    "a bad index": (lambda xp, x: x[5], IndexError, "5.*axis 0"),
}


@pytest.mark.usefixtures("no_leaked_tracers")
@pytest.mark.parametrize(("call", "error", "says"), TRACED.values(), ids=TRACED.keys())
def test_a_trace_refuses_what_it_cannot_know_and_says_what_to_do(
    jax_backend: ModuleType,
    call: Callable[[Any, Any], Any],
    error: type[Exception],
    says: str,
) -> None:
    import jax

    x = array(jax_backend, F.astype(np.float32))
    with pytest.raises(error, match=says):
        jax.jit(lambda x: call(jax_backend, x))(x)
    check_equal(x, F.astype(np.float32))


def test_writing_under_a_mask_works_under_a_trace(jax_backend: ModuleType) -> None:
    import jax

    def positive(x: Array) -> Array:
        x[x < 1] = 0
        return x

    x = array(jax_backend, F.astype(np.float32))
    check_equal(jax.jit(positive)(x), np.where(F < 1, 0, F).astype(np.float32))
    check_equal(x, F.astype(np.float32))


def test_an_array_of_the_outside_cannot_be_written_from_a_plain_transformation(
    jax_backend: ModuleType,
) -> None:
    import jax

    outside = array(jax_backend, F.astype(np.float32))

    def write(x: Array) -> Array:
        outside[0] = x[0]
        return x

    with pytest.raises(RuntimeError, match=r"outside.*strata_api\.jit"):
        jax.jit(write)(outside + 1)
    check_equal(outside, F.astype(np.float32))
    outside[0] = 1
    assert float(outside[0, 0]) == 1


def test_a_wide_numpy_backed_array_does_not_enter_a_narrow_transformation(
    numpy_backend: ModuleType, jax_backend: ModuleType
) -> None:
    import jax

    wide = array(numpy_backend, F)
    with jax.enable_x64(False), pytest.raises(TypeError, match=r"float64.*to_device"):
        jax.jit(lambda x: x + 1)(wide)
    narrow = array(numpy_backend, F.astype(np.float32))
    with jax.enable_x64(False):
        check_equal(jax.jit(lambda x: x + 1)(narrow), F.astype(np.float32) + 1)
    with jax.enable_x64(True):
        check_equal(jax.jit(lambda x: x + 1)(wide), F + 1)
    check_equal(wide, F)


def test_an_array_over_a_deleted_buffer_says_that_it_is_deleted(jax_backend: ModuleType) -> None:
    import jax.numpy as jnp

    taken = jnp.ones(3)
    x = jax_backend.asarray(taken)
    taken.delete()
    for call in (
        lambda: x + 1,
        lambda: x[1:] + 1,
        lambda: np.asarray(x),
        lambda: x.__setitem__(0, 1),
    ):
        with pytest.raises(RuntimeError, match="deleted"):
            call()


def test_a_device_that_does_not_exist_is_named_with_those_that_do(backend: ModuleType) -> None:
    name = "numpy" if is_numpy(backend) else "jax"
    for device in (f"{name}:moon", f"{name}:cpu:99"):
        with pytest.raises(ValueError, match=f"{device.partition(':')[2]}.*{name}:cpu"):
            backend.zeros(2, device=device)
