"""Which way imports go, and where the libraries behind the backends may be named."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

import strata_api

ROOT = Path(strata_api.__file__).parent

# From the bottom up: a module imports from the rows above its own and, where the row is marked with
# a "+", from its neighbours. What is imported for types alone is named in UPWARD_FOR_TYPES.
ORDER = """
    _context
    _explain
    _dtypes
    _dimension
    _shape
    _partial_shape
    _format_tag
    _drawing
    _layout
    _rules
    backends.protocol
    backends
    _view
    _index _packing _storage
    + backends.*
    _apply
    _access
    _reorder
    _repr
    _array
    + views interop
    standard standard.* linalg fft
    _binding
    + transform _*
    + tosa tosa.*
    __init__
    numpy jax abstract
    + cli __main__
"""
UPWARD_FOR_TYPES = {"backends.protocol", "_index", "_apply", "_access", "_reorder", "_repr"}
MAY_IMPORT = {
    "numpy": ["_dtypes", "_repr", "backends.numpy*", "backends.jax*"],
    "ml_dtypes": ["_dtypes", "backends.numpy*", "backends.jax*"],
    "jax": ["backends.jax*"],
    "jaxlib": ["backends.jax*"],
    "array_api_compat": [],
    "scipy": [],
    "flatbuffers": ["tosa._flatbuffer"],
}


class Import(NamedTuple):
    """One import statement: of which module, where, and whether for types alone."""

    module: str
    line: int
    is_for_types: bool
    is_at_top: bool


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def own(module: str) -> str | None:
    """Return the name inside the package of an imported module, or ``None`` for a foreign one."""
    if module == "strata_api":
        return "__init__"
    return module.removeprefix("strata_api.") if module.startswith("strata_api.") else None


def imports_of(tree: ast.AST, for_types: bool = False, at_top: bool = True) -> Iterator[Import]:
    """Yield every import of a module, wherever it stands."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, for_types, at_top)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                module = inner if own(inner) in FILES else str(node.module)
                yield Import(module, node.lineno, for_types, at_top)
        else:
            guarded = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_of(node, for_types or guarded, at_top and not in_function)


IMPORTS = {name: list(imports_of(ast.parse(path.read_text()))) for name, path in FILES.items()}


def row_of(module: str) -> int:
    """Return the row of the table that names a module: by its name, else by a pattern."""
    rows = [row.split() for row in ORDER.strip().splitlines()]
    exact = [k for k, row in enumerate(rows) if module in row]
    matching = [k for k, row in enumerate(rows) if any(fnmatchcase(module, p) for p in row)]
    assert exact or matching, f"{module}: a new module needs a place in ORDER"
    return (exact or matching)[0]


def may_see_neighbours(row: int) -> bool:
    return ORDER.strip().splitlines()[row].split()[0] == "+"


def allowed(module: str, imported: str) -> bool:
    here, there = row_of(module), row_of(imported)
    return there < here or (there == here and may_see_neighbours(here) and imported != module)


@pytest.mark.parametrize("module", FILES)
def test_imports_go_down_only(module: str) -> None:
    wrong = []
    for one in IMPORTS[module]:
        imported = own(one.module)
        if imported is None or (one.is_for_types and module in UPWARD_FOR_TYPES):
            continue
        if not allowed(module, imported):
            wrong.append(f"{FILES[module]}:{one.line} imports {imported}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", FILES)
def test_libraries_are_imported_where_they_may_be_and_nowhere_else(module: str) -> None:
    wrong = []
    for one in IMPORTS[module]:
        places = MAY_IMPORT.get(one.module.partition(".")[0], ["*"])
        if not any(fnmatchcase(module, place) for place in places):
            wrong.append(f"{FILES[module]}:{one.line} imports {one.module}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", FILES)
def test_no_function_imports(module: str) -> None:
    wrong = [f"{FILES[module]}:{one.line}" for one in IMPORTS[module] if not one.is_at_top]
    assert not wrong, "\n".join(wrong)


def test_there_is_no_cycle() -> None:
    edges = {
        module: {own(one.module) for one in found if not one.is_for_types} - {None, module}
        for module, found in IMPORTS.items()
    }
    while edges:
        free = [module for module, seen in edges.items() if not seen & set(edges)]
        assert free, f"a cycle among {sorted(edges)}"
        for module in free:
            del edges[module]


def test_nobody_asks_which_backend_it_is() -> None:
    wrong = []
    for module, path in FILES.items():
        if module in ("backends", "_context", "cli", "_partial_shape"):  # where they are values
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                for side in [node.left, *node.comparators]:
                    if isinstance(side, ast.Constant) and side.value in ("numpy", "jax"):
                        wrong.append(f"{path}:{node.lineno} {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


def run(program: str) -> str:
    """Return what a program prints in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_imports_neither_jax_nor_scipy_nor_array_api_compat() -> None:
    heavy = ("jax", "jaxlib", "scipy", "array_api_compat", "array_api_strict", "matplotlib")
    program = (
        "import sys, strata_api, strata_api.numpy as xp\n"
        "x = xp.ones((2, 3)); x[1:] += 1; float(xp.sum(x)); repr(x); x._repr_html_()\n"
        "xp.linalg.inv(xp.eye(2)); xp.fft.fft(xp.ones(4)); xp.asarray([1, 2])[[0]]\n"
        f"print(*[name for name in {heavy!r} if name in sys.modules])"
    )
    assert run(program) == ""


def test_the_bound_namespaces_load_when_they_are_first_named() -> None:
    program = (
        "import sys, strata_api\n"
        "print('strata_api.abstract' in sys.modules, end=' ')\n"
        "strata_api.abstract\n"
        "print('strata_api.abstract' in sys.modules)"
    )
    assert run(program) == "False True"


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        strata_api.nonsense  # noqa: B018  # the access is the test
