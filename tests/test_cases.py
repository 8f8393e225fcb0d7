"""What users of array libraries have reported, run on each backend: see data/cases_public.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import strata_api
from oracle import is_numpy
from strata_api import Array, Dimension

PATH = Path(__file__).parent / "data" / "cases_public.md"
CASE = re.compile(r"^## (\w\d\d) .*?\n\ntags: (.*?)\n.*?```python\n(.*?)```", re.S | re.M)


class Case(NamedTuple):
    """A block of code with its number and its tags."""

    number: str
    tags: frozenset[str]
    code: str

    def __str__(self) -> str:
        return self.number


CASES = [
    Case(number, frozenset(tags.split()), code)
    for number, tags, code in CASE.findall(PATH.read_text(encoding="utf-8"))
]
UNTIMED = [case for case in CASES if "performance" not in case.tags]  # benchmarks measure time


def unknown(shape: tuple[int | None, ...], dtype: Any) -> Array:
    """Return an array whose extents of ``None`` are not known."""
    dims = tuple(Dimension() if n is None else n for n in shape)
    x: Array = strata_api.abstract.empty(dims, dtype=dtype)
    return x


def compiler(xp: ModuleType) -> Callable[..., Any]:
    """Return what compiles a function for this backend."""
    if is_numpy(xp):
        return lambda f: f
    jit: Callable[..., Any] = import_module("jax").jit
    return jit


def test_every_case_is_found() -> None:
    assert len(CASES) == 31
    assert len({case.number for case in CASES}) == 31


@pytest.mark.parametrize("case", UNTIMED, ids=str)
def test_a_reported_case_is_right(backend: ModuleType, case: Case) -> None:
    names = {"xp": backend, "jit": compiler(backend), "unknown": unknown}
    exec(compile(case.code, f"{PATH.name}:{case.number}", "exec"), names)
