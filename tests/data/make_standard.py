"""Write standard.json: the names and signatures of the standard, from its stubs.

python tests/data/make_standard.py PATH/TO/array_api_stubs/_2025_12 > tests/data/standard.json
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

NAMESPACES = {"linalg": "linalg", "fft": "fft", "info": "info"}  # the rest is the main namespace


def parameters(function: ast.FunctionDef) -> list[list[str | None]]:
    """Return name, kind and default of each parameter."""
    args = function.args
    placed = [*args.posonlyargs, *args.args]
    defaults: list[Any] = [None] * (len(placed) - len(args.defaults)) + args.defaults
    found: list[list[str | None]] = []
    for k, (arg, default) in enumerate(zip(placed, defaults, strict=True)):
        kind = "positional-only" if k < len(args.posonlyargs) else "positional or keyword"
        found.append([arg.arg, kind, None if default is None else ast.unparse(default)])
    if args.vararg:
        found.append([args.vararg.arg, "variadic", None])
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append([arg.arg, "keyword-only", None if default is None else ast.unparse(default)])
    return found


def functions(body: list[ast.stmt]) -> dict[str, list[list[str | None]]]:
    return {node.name: parameters(node) for node in body if isinstance(node, ast.FunctionDef)}


def collected(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = {"main": {}, "linalg": {}, "fft": {}, "info": {}, "constants": []}
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path.stem == "array_object":
            body = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
            is_property = [node for node in body if getattr(node, "decorator_list", [])]
            result["attributes"] = sorted(node.name for node in is_property)  # type: ignore[attr-defined]
            methods = functions([node for node in body if node not in is_property])
            methods.pop("__init__")
            result["methods"] = {
                name: [p for p in found if p[0] != "self"] for name, found in methods.items()
            }
        elif path.stem == "constants":
            result["constants"] = [
                ast.unparse(node.targets[0])
                for node in tree.body
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) != "__all__"
            ]
        elif path.stem not in ("__init__", "_types", "data_types"):
            result[NAMESPACES.get(path.stem, "main")].update(functions(tree.body))
    result["main"]["__array_namespace_info__"] = result["info"].pop("__array_namespace_info__")
    return result


if __name__ == "__main__":
    json.dump(collected(Path(sys.argv[1])), sys.stdout, indent=None, separators=(",", ":"))
    print()
