"""The names of the namespace: all that the standard has, with its signatures, and documented."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import strata_api
from conftest import HAS_JAX
from strata_api import Array

STANDARD = json.loads((Path(__file__).parent / "data" / "standard.json").read_text())
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float32", "float64", "complex64", "complex128"]
EXTENSIONS = ("linalg", "fft")
# What the package has beside the standard. A name more is a decision, and stands here.
BEYOND = {
    "Array",
    "Dimension",
    "MemoryDescriptor",
    "PartialShape",
    "bfloat16",
    "cond",
    "default_backend",
    "default_dtypes",
    "explain",
    "float16",
    "fori_loop",
    "from_buffer",
    "infer",
    "jit",
    "reorder",
    "scan",
    "set_default_backend",
    "shares_storage",
    "strict",
    "tosa",
    "views",
    "while_loop",
}
IN_PLACE = [
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
]
CREATION = [
    *("arange", "asarray", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "zeros"),
    *("fft.fftfreq", "fft.rfftfreq"),
]

FUNCTIONS: list[tuple[str, list[list[str | None]]]] = [
    *STANDARD["main"].items(),
    *[(f"{space}.{name}", p) for space in EXTENSIONS for name, p in STANDARD[space].items()],
]
NAMES = [name for name, _ in FUNCTIONS]
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional or keyword",
    inspect.Parameter.VAR_POSITIONAL: "variadic",
    inspect.Parameter.KEYWORD_ONLY: "keyword-only",
    inspect.Parameter.VAR_KEYWORD: "keywords",
}


def found(xp: Any, name: str) -> Any:
    """Return what a dotted name means in a namespace."""
    for part in name.split("."):
        xp = getattr(xp, part)
    return xp


@pytest.fixture(params=["strata_api", "numpy", "jax", "abstract"], scope="module")
def space(request: pytest.FixtureRequest) -> ModuleType:
    """The namespace itself, and bound to each backend."""
    if request.param == "strata_api":
        return strata_api
    if request.param == "jax":
        pytest.importorskip("jax")
    return getattr(strata_api, request.param)


# -- names ----------------------------------------------------------------------------------------


def test_every_name_of_the_standard_is_there_and_no_other_but_ours(space: ModuleType) -> None:
    standard = {*STANDARD["main"], *STANDARD["constants"], *DTYPES, *EXTENSIONS}
    names = set(space.__all__) - {"__array_api_version__"}
    assert not standard - names
    assert not names - standard - BEYOND
    assert len(space.__all__) == len(set(space.__all__))


def test_every_public_name_is_an_attribute_and_dir_shows_it(space: ModuleType) -> None:
    for name in space.__all__:
        assert hasattr(space, name), name
    assert set(space.__all__) <= set(dir(space))
    for name in dir(space):
        assert (name == "jax" and not HAS_JAX) or hasattr(space, name), name
    assert not [name for name in dir(space) if name.startswith("_") and not name.endswith("__")]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_extension_has_the_standards_names_and_no_other(
    space: ModuleType, extension: str
) -> None:
    assert set(getattr(space, extension).__all__) == set(STANDARD[extension])


def test_constants_and_versions(space: ModuleType) -> None:
    assert space.__array_api_version__ == "2025.12"
    assert (space.pi, space.e, space.newaxis) == (3.141592653589793, 2.718281828459045, None)
    assert space.inf == float("inf")
    assert space.nan != space.nan


def test_only_creation_differs_in_a_bound_namespace(space: ModuleType) -> None:
    for name in NAMES:
        same = found(space, name) is found(strata_api, name)
        bound = space is not strata_api and name in [*CREATION, "__array_namespace_info__"]
        assert same != bound, name


def test_a_bound_namespace_creates_on_its_backend(space: ModuleType) -> None:
    backend = "numpy" if space is strata_api else space.__name__.rpartition(".")[2]
    made = {
        "arange": space.arange(3),
        "asarray": space.asarray([1, 2]),
        "empty": space.empty(2),
        "eye": space.eye(2),
        "full": space.full(2, 1.0),
        "linspace": space.linspace(0, 1, 3),
        "ones": space.ones(2),
        "zeros": space.zeros(2),
        "fft.fftfreq": space.fft.fftfreq(4),
        "fft.rfftfreq": space.fft.rfftfreq(4),
        "zeros_like": space.zeros_like(space.ones(2)),
    }
    for name, x in made.items():
        assert x.device.backend == backend, name
        assert x.__array_namespace__() is getattr(strata_api, backend), name
    devices = space.__array_namespace_info__().devices()
    assert type(devices) is tuple
    assert space is strata_api or {device.backend for device in devices} == {backend}


def test_functions_follow_the_backend_of_their_arguments(space: ModuleType) -> None:
    x = space.ones((2, 2))
    for y in (strata_api.add(x, x), strata_api.linalg.inv(x + space.eye(2)), strata_api.fft.fft(x)):
        assert y.device == x.device


# -- signatures -----------------------------------------------------------------------------------


def signature_of(function: Callable[..., Any]) -> list[tuple[str, str, Any]]:
    return [
        (p.name, KINDS[p.kind], None if p.default is p.empty else repr(p.default))
        for p in inspect.signature(function).parameters.values()
    ]


def check_signature(have: list[tuple[str, str, Any]], want: list[list[str | None]]) -> None:
    """Check names and kinds of parameters, and that a default is a default.

    A number in the standard's signature is ours too; ``Ellipsis`` and the like may differ.
    """
    assert [p[:2] for p in have] == [tuple(p[:2]) for p in want]
    for (name, _, ours), (_, _, theirs) in zip(have, want, strict=True):
        assert (ours is None) == (theirs is None), name
        if theirs is not None and ours is not None:
            assert ours.strip("'\"") == theirs.strip("'\""), name


@pytest.mark.parametrize(("name", "parameters"), FUNCTIONS, ids=NAMES)
def test_a_signature_is_the_standards(
    space: ModuleType, name: str, parameters: list[list[str | None]]
) -> None:
    check_signature(signature_of(found(space, name)), parameters)


@pytest.mark.parametrize("name", STANDARD["info"])
def test_an_inspection_has_the_standards_signature(space: ModuleType, name: str) -> None:
    info = space.__array_namespace_info__()
    check_signature(signature_of(getattr(info, name)), STANDARD["info"][name])


@pytest.mark.parametrize("name", STANDARD["methods"])
def test_a_method_has_the_standards_signature(name: str) -> None:
    have = [p for p in signature_of(getattr(Array, name)) if p[0] != "self"]
    want = STANDARD["methods"][name]
    assert [p[1] for p in have] == [p[1] for p in want]
    assert [p[0] for p in have if p[1] == "keyword-only"] == [
        p[0] for p in want if p[1] == "keyword-only"
    ]


@pytest.mark.parametrize("name", STANDARD["attributes"])
def test_an_attribute_of_the_standard_is_a_documented_property(name: str) -> None:
    attribute = inspect.getattr_static(Array, name)
    assert isinstance(attribute, property)
    assert attribute.__doc__


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_operator_is_there_reflected_and_in_place(name: str) -> None:
    for form in (f"__{name}__", f"__r{name}__", f"__i{name}__"):
        assert callable(getattr(Array, form))


# -- documentation --------------------------------------------------------------------------------

LINE = re.compile(r"^(Shape|Dtype|Raises|Source): \S.*", re.MULTILINE)
RETURNS_NO_ARRAY = {
    "__array_namespace_info__",
    "broadcast_shapes",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
    "result_type",
}
RAISES_NOTHING = {"__array_namespace_info__", "can_cast", "empty_like", "ones_like", "zeros_like"}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_says_its_shape_its_dtype_its_errors_and_its_source(name: str) -> None:
    text = inspect.getdoc(found(strata_api, name)) or ""
    first, _, rest = text.partition("\n")
    assert first.endswith("."), "the first line is a sentence"
    assert not rest or rest.startswith("\n"), "a blank line follows the first one"
    lines = set(LINE.findall(text))
    wanted = {"Source"}
    if name not in RETURNS_NO_ARRAY:
        wanted |= {"Shape", "Dtype"}
    if name not in RAISES_NOTHING:
        wanted |= {"Raises"}
    assert not wanted - lines
    bare = name.rpartition(".")[2]
    assert re.search(rf"Source: the standard, `*({name}|{bare})`*\.", text), (
        "the source names the function"
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_a_docstring_says_it_raises_is_an_exception(name: str) -> None:
    text = inspect.getdoc(found(strata_api, name)) or ""
    raises = re.search(r"^Raises: (.*?)(?=^\w+: |\Z)", text, re.MULTILINE | re.DOTALL)
    if raises is None:
        return
    errors = set(re.findall(r"``(\w+Error)``", raises[1]))
    assert errors, "the line names types of exceptions"
    known = {"TypeError", "ValueError", "IndexError", "OverflowError", "AxisError", "LinAlgError"}
    assert errors <= known | {"AttributeError", "BufferError", "ImportError"}


@pytest.mark.parametrize("name", NAMES)
def test_annotations_resolve(space: ModuleType, name: str) -> None:
    function = found(space, name)
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters
    assert set(hints) == {*parameters, "return"}


def test_annotations_of_the_array_resolve() -> None:
    for name, method in inspect.getmembers(Array, inspect.isfunction):
        typing.get_type_hints(method)
        assert "return" in method.__annotations__, name


@pytest.mark.parametrize("name", sorted(BEYOND & set(strata_api.__all__)))
def test_what_is_beyond_the_standard_is_documented(name: str) -> None:
    thing = getattr(strata_api, name)
    if not hasattr(thing, "names"):  # a dtype has NumPy's
        assert inspect.getdoc(thing)


# -- inspection -----------------------------------------------------------------------------------


def test_inspection_agrees_with_what_the_functions_do(backend: ModuleType) -> None:
    info = backend.__array_namespace_info__()
    dtypes = info.dtypes()
    assert set(dtypes) == set(DTYPES)
    for name, dtype in dtypes.items():
        assert getattr(backend, name) == dtype
        for kind in ("bool", "signed integer", "unsigned integer", "real floating"):
            assert (name in info.dtypes(kind=kind)) == backend.isdtype(dtype, kind)
    both = info.dtypes(kind=("integral", "complex floating"))
    assert set(both) == {*INTEGERS, "complex64", "complex128"}
    assert info.default_device() in info.devices()
    assert info.capabilities()["boolean indexing"] is True
    with pytest.raises(ValueError, match="nonsense"):
        info.dtypes(kind="nonsense")
