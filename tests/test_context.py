"""Contexts: the default backend, the default dtypes and strictness, and who is touched by them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import pytest

import strata_api
from strata_api import _context

Manager = Callable[[], AbstractContextManager[Any]]

CONTEXTS: dict[str, Manager] = {
    "default_backend": lambda: strata_api.default_backend("abstract"),
    "default_dtypes": lambda: strata_api.default_dtypes(real="float32"),
    "strict": strata_api.strict,
}


@pytest.mark.parametrize("enter", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_a_context_ends_with_its_block_even_by_an_error(enter: Manager) -> None:
    before = _context.key()

    def fail() -> None:
        with enter():
            assert _context.key() != before
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert _context.key() == before


@pytest.mark.parametrize("enter", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_a_context_does_not_reach_another_thread(enter: Manager) -> None:
    before = _context.key()
    seen: list[Any] = []
    with enter():
        thread = threading.Thread(target=lambda: seen.append(_context.key()))
        thread.start()
        thread.join()
    assert seen == [before]


@pytest.mark.parametrize("enter", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_a_context_does_not_reach_another_task(enter: Manager) -> None:
    before = _context.key()

    async def inside(entered: asyncio.Event, leave: asyncio.Event) -> None:
        with enter():
            entered.set()
            await leave.wait()

    async def main() -> Any:
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(inside(entered, leave))
        await entered.wait()
        seen = _context.key()
        leave.set()
        await task
        return seen

    assert asyncio.run(main()) == before


def test_creation_uses_the_default_backend(backend: ModuleType) -> None:
    name = backend.__name__.rpartition(".")[2]
    with strata_api.default_backend(name):
        for x in (
            strata_api.zeros(2),
            strata_api.asarray([1, 2]),
            strata_api.arange(3),
            strata_api.eye(2),
            strata_api.linspace(0, 1, 3),
            strata_api.fft.fftfreq(4),
        ):
            assert x.__array_namespace__() is backend
    assert strata_api.zeros(2).__array_namespace__() is strata_api.numpy


def test_contexts_nest(backend: ModuleType) -> None:
    with strata_api.default_dtypes(real="float32"):
        with strata_api.default_dtypes(integral="int32"):
            assert backend.ones(1).dtype == backend.float32
            assert backend.arange(3).dtype == backend.int32
        assert backend.arange(3).dtype == backend.int64
        with strata_api.strict(), strata_api.strict(False):
            assert not _context.is_strict()


def test_the_default_dtypes_are_what_creation_gives(backend: ModuleType) -> None:
    with strata_api.default_dtypes(real="float32", integral="int32"):
        defaults = backend.__array_namespace_info__().default_dtypes()
        assert backend.zeros(2).dtype == backend.float32 == defaults["real floating"]
        assert backend.asarray([1.0]).dtype == backend.float32
        assert backend.asarray([1j]).dtype == backend.complex64 == defaults["complex floating"]
        assert backend.asarray([1]).dtype == backend.int32 == defaults["integral"]
        assert backend.linspace(0, 1, 3).dtype == backend.float32
        ones = backend.ones((2, 2))
        assert backend.argmax(ones).dtype == backend.int32 == defaults["indexing"]
        assert backend.sum(backend.ones(2, dtype=backend.int8)).dtype == backend.int32
        assert backend.sum(backend.ones(2, dtype=backend.uint8)).dtype == backend.uint32


def test_the_real_default_implies_the_complex_one_unless_it_is_given() -> None:
    with strata_api.default_dtypes(real="float32"):
        assert _context.default_dtypes_now().complex == "complex64"
    with strata_api.default_dtypes(real="float32", complex="complex128"):
        assert _context.default_dtypes_now().complex == "complex128"


def test_a_default_dtype_is_named_by_a_dtype_too() -> None:
    with strata_api.default_dtypes(real=strata_api.float32, integral=strata_api.int32):
        assert strata_api.zeros(1).dtype == strata_api.float32
        assert strata_api.asarray(1).dtype == strata_api.int32


@pytest.mark.parametrize(
    "wrong", [{"real": "int32"}, {"real": "float16"}, {"complex": "float64"}, {"integral": "uint8"}]
)
def test_a_dtype_that_cannot_be_a_default_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="expected one of"), strata_api.default_dtypes(**wrong):
        pass


def test_an_unknown_backend_is_refused_with_the_names_there_are() -> None:
    for call in (
        strata_api.set_default_backend,
        lambda name: strata_api.default_backend(name).__enter__(),
    ):
        with pytest.raises(ValueError, match=r"'torch'.*numpy, jax"):
            call("torch")


def test_the_default_backend_of_the_process_can_be_set() -> None:
    try:
        strata_api.set_default_backend("abstract")
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(_context.backend_now()))
        thread.start()
        thread.join()
        assert seen == ["abstract"]
    finally:
        strata_api.set_default_backend("numpy")


def test_a_bound_namespace_ignores_the_default_backend(backend: ModuleType) -> None:
    with strata_api.default_backend("abstract"):
        assert backend.zeros(2).__array_namespace__() is backend


def test_strict_refuses_what_is_beyond_the_standard(backend: ModuleType) -> None:
    x, i = backend.ones(2), backend.ones(2, dtype=backend.int64)
    with strata_api.strict():
        for call in (lambda: x + i, lambda: i * 1.5, lambda: backend.zeros(2, dtype="float32")):
            with pytest.raises(TypeError):
                call()
    assert (x + i).dtype == backend.float64


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    program = (
        "import strata_api as xp\n"
        "print(xp.zeros(1).device, xp.zeros(1).dtype, xp.asarray(1).dtype)\n"
        "try:\n"
        "    print((xp.ones(1) + xp.asarray([1])).dtype)\n"
        "except TypeError:\n"
        "    print('TypeError')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("environment", "printed"),
    [
        ({}, "numpy:cpu float64 int64\nfloat64"),
        ({"STRATA_API_DEFAULT_DTYPES": "float32"}, "numpy:cpu float32 int64\nfloat32"),
        (
            {"STRATA_API_DEFAULT_DTYPES": "real=float32,integral=int32"},
            "numpy:cpu float32 int32\nfloat32",
        ),
        ({"STRATA_API_STRICT": "1"}, "numpy:cpu float64 int64\nTypeError"),
        ({"STRATA_API_STRICT": "0"}, "numpy:cpu float64 int64\nfloat64"),
    ],
    ids=str,
)
def test_the_environment_sets_what_holds_outside_of_contexts(
    environment: dict[str, str], printed: str
) -> None:
    done = run(**environment)
    assert done.stdout.strip() == printed, done.stderr


@pytest.mark.usefixtures("jax_backend")
def test_the_environment_sets_the_default_backend() -> None:
    assert run(STRATA_API_BACKEND="jax").stdout.startswith("jax:")


@pytest.mark.parametrize(
    "environment",
    [{"STRATA_API_BACKEND": "torch"}, {"STRATA_API_DEFAULT_DTYPES": "real=int8"}],
    ids=str,
)
def test_a_wrong_environment_is_refused_at_import(environment: dict[str, str]) -> None:
    done = run(**environment)
    assert done.returncode != 0
    assert "ValueError" in done.stderr
    assert "expected" in done.stderr
