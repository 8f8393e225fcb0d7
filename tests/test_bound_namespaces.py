"""The namespaces bound to a backend: the same functions, and creation on that backend."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from types import ModuleType
from typing import Any, get_type_hints

import numpy as np
import pytest

import strata_api
from strata_api import Array
from strata_api._context import running_backend

CREATION = ["arange", "asarray", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "zeros"]
OWN = [*CREATION, "fft", "__array_namespace_info__"]
TRANSFORMS = ["fftfreq", "rfftfreq"]

CALLS: dict[str, tuple[Any, ...]] = {
    "arange": (3,),
    "asarray": ([1, 2],),
    "empty": (2,),
    "eye": (2,),
    "from_dlpack": (np.arange(2),),
    "full": (2, 1.5),
    "linspace": (0, 1, 3),
    "ones": (2,),
    "zeros": (2,),
}


@pytest.fixture(params=["numpy", "jax", "abstract"], scope="module")
def bound(request: pytest.FixtureRequest) -> ModuleType:
    """Each bound namespace in turn."""
    if request.param == "jax":
        pytest.importorskip("jax")
    return import_module(f"strata_api.{request.param}")


def test_a_bound_namespace_has_every_name_and_most_are_the_same_objects(bound: ModuleType) -> None:
    assert bound.__all__ == strata_api.__all__
    assert set(dir(bound)) == set(strata_api.__all__)
    for name in strata_api.__all__:
        same = getattr(bound, name) is getattr(strata_api, name)
        assert same == (name not in OWN), name


def test_a_bound_namespace_is_imported_by_its_name(bound: ModuleType) -> None:
    assert import_module(bound.__name__) is bound
    assert getattr(strata_api, bound.__name__.rpartition(".")[2]) is bound
    assert import_module(bound.fft.__name__) is bound.fft
    assert bound.zeros(1).__array_namespace__() is bound


def test_creation_is_on_the_bound_backend(bound: ModuleType) -> None:
    name = bound.__name__.rpartition(".")[2]
    for other in ("numpy", name):
        with strata_api.default_backend(other):
            for function, arguments in CALLS.items():
                assert getattr(bound, function)(*arguments).device.backend == name, function
            for function in TRANSFORMS:
                assert getattr(bound.fft, function)(4).device.backend == name, function


def test_a_device_that_is_given_wins(bound: ModuleType) -> None:
    for function, arguments in CALLS.items():
        x = getattr(bound, function)(*arguments, device="abstract:spec")
        assert x.device == "abstract:spec", function


def test_asarray_brings_arrays_of_other_backends(bound: ModuleType) -> None:
    name = bound.__name__.rpartition(".")[2]
    for data in (np.arange(2), strata_api.numpy.arange(2)):
        x = bound.asarray(data)
        assert (x.device.backend, x.shape, x.dtype) == (name, (2,), strata_api.int64)
    x = bound.zeros(2)
    assert bound.asarray(x) is x


def test_inside_a_running_program_creation_follows_it(bound: ModuleType) -> None:
    with running_backend("abstract"):
        assert bound.zeros(2).device == "abstract:spec"
        assert strata_api.zeros(2).device == "abstract:spec"


def test_bound_functions_keep_signature_hints_and_docstring(bound: ModuleType) -> None:
    pairs = [(bound, strata_api, name) for name in CREATION]
    pairs += [(bound.fft, strata_api.fft, name) for name in TRANSFORMS]
    for mine, theirs, name in pairs:
        function, original = getattr(mine, name), getattr(theirs, name)
        assert function.__name__ == name
        assert inspect.signature(function) == inspect.signature(original)
        assert get_type_hints(function) == get_type_hints(original)
        assert get_type_hints(function)["return"] is Array
        assert function.__doc__ == original.__doc__
        assert pickle.loads(pickle.dumps(function)) is function


def test_errors_are_those_of_the_function(bound: ModuleType) -> None:
    with pytest.raises(TypeError, match="positional"):
        bound.zeros()
    with pytest.raises(TypeError, match="unexpected keyword"):
        bound.zeros(2, order="F")
    with pytest.raises(ValueError, match="device"):
        bound.zeros(2, device="moon")


def test_the_unbound_namespace_creates_on_the_default_backend(backend: ModuleType) -> None:
    name = backend.__name__.rpartition(".")[2]
    with strata_api.default_backend(name):
        for function, arguments in CALLS.items():
            if function != "from_dlpack":  # which stays where its argument is
                assert getattr(strata_api, function)(*arguments).device.backend == name


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="'torch'"):
        strata_api.torch  # noqa: B018  # the look-up is the test
    assert {"numpy", "jax", "abstract"} <= set(dir(strata_api))


IMPORTS = """
import sys
import strata_api
assert "jax" not in sys.modules, "importing the package imports JAX"
assert strata_api.numpy.zeros(2).device == "numpy:cpu"
assert "jax" not in sys.modules, "the NumPy backend imports JAX"
assert strata_api.abstract.zeros(2).shape == (2,)
assert "jax" not in sys.modules, "the abstract backend imports JAX"
"""


def test_jax_is_imported_only_when_it_is_named() -> None:
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)


MISSING = """
import sys
sys.modules["jax"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "jax" else find(name, *rest)
import strata_api
try:
    strata_api.jax
except ImportError as error:
    assert "pip install" in str(error), error
else:
    raise AssertionError("no error")
assert [str(d) for d in strata_api.__array_namespace_info__().devices()] == ["numpy:cpu"]
"""


def test_without_jax_the_error_says_what_to_install() -> None:
    subprocess.run([sys.executable, "-c", MISSING], check=True)
