"""Binding: the namespace with creation functions of one backend."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import ParamSpec, TypeVar

from strata_api import _context

P = ParamSpec("P")
R = TypeVar("R")


def bound(function: Callable[P, R], backend: str, module: str) -> Callable[P, R]:
    """Return a creation function whose ``device=None`` means a backend, as part of a module."""

    @wraps(function)
    def on_backend(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs.get("device") is None:
            kwargs["device"] = _context.backend_bound_to(backend)
        return function(*args, **kwargs)

    on_backend.__module__ = module  # where pickle looks for it
    return on_backend


def bound_module(
    module: ModuleType, names: tuple[str, ...], backend: str, parent: str
) -> ModuleType:
    """Return a module like another, with these functions bound, that can be imported."""
    name = f"{parent}.{module.__name__.rpartition('.')[2]}"
    result = ModuleType(name, module.__doc__)
    public = {public: getattr(module, public) for public in module.__all__}
    vars(result).update(public, __all__=module.__all__)
    for function in names:
        setattr(result, function, bound(getattr(module, function), backend, name))
    sys.modules[name] = result
    return result
