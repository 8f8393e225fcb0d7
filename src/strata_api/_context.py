"""What a context may change: the default backend, the default dtypes, and strictness.

Each is a context variable, so threads and tasks do not disturb each other. The environment gives
the values that hold outside of every context.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

BACKENDS = ("numpy", "jax", "abstract")


@dataclass(frozen=True, slots=True)
class DefaultDtypes:
    """The names of the dtypes that creation functions use where none is given."""

    real: str = "float64"
    complex: str = "complex128"
    integral: str = "int64"

    def __post_init__(self) -> None:
        for field in fields(self):
            value, allowed = getattr(self, field.name), _ALLOWED[field.name]
            if value not in allowed:
                raise ValueError(
                    f"default {field.name} dtype: expected one of {', '.join(allowed)}, "
                    f"got {value!r}"
                )


_ALLOWED = {
    "real": ("float64", "float32"),
    "complex": ("complex128", "complex64"),
    "integral": ("int64", "int32"),
}


def checked_backend(name: str) -> str:
    """Return the name of a backend, or raise ``ValueError`` with the names there are."""
    if name not in BACKENDS:
        raise ValueError(f"unknown backend {name!r}: expected one of {', '.join(BACKENDS)}")
    return name


def _parsed(text: str) -> DefaultDtypes:
    """Read ``real=float32,integral=int32``, or one real dtype's name, which implies the complex."""
    pairs = dict(part.strip().split("=", 1) for part in text.split(",") if "=" in part)
    if text and not pairs:
        pairs = {"real": text, "complex": "complex64" if text == "float32" else "complex128"}
    unknown = set(pairs) - set(_ALLOWED)
    if unknown:
        raise ValueError(
            f"STRATA_API_DEFAULT_DTYPES: expected {', '.join(_ALLOWED)}, got {sorted(unknown)}"
        )
    return DefaultDtypes(**pairs)


_process_backend = checked_backend(os.environ.get("STRATA_API_BACKEND", "numpy"))
_backend: ContextVar[str | None] = ContextVar("strata_api default backend", default=None)
_running: ContextVar[str | None] = ContextVar("strata_api running backend", default=None)
_strict: ContextVar[bool] = ContextVar(
    "strata_api strict", default=os.environ.get("STRATA_API_STRICT", "") not in ("", "0")
)
_dtypes: ContextVar[DefaultDtypes] = ContextVar(
    "strata_api default dtypes",
    default=_parsed(os.environ.get("STRATA_API_DEFAULT_DTYPES", "")),  # noqa: B039  # it is frozen
)


def backend_now() -> str:
    """Return the backend that creation functions use: the running one, or the default."""
    return _running.get() or _backend.get() or _process_backend


def backend_bound_to(name: str) -> str:
    """Return the backend that a bound namespace creates on: the running one, or its own."""
    return _running.get() or name


def running_now() -> str | None:
    """Return the backend that runs a program, if one does."""
    return _running.get()


def default_dtypes_now() -> DefaultDtypes:
    """Return the default dtypes in force."""
    return _dtypes.get()


def is_strict() -> bool:
    """Tell whether everything beyond the standard is switched off."""
    return _strict.get()


def key() -> tuple[object, ...]:
    """Return what a compiled program must be keyed on besides its arguments."""
    return backend_now(), _dtypes.get(), _strict.get()


def set_default_backend(name: str) -> None:
    """Make ``"numpy"`` or ``"jax"`` the default backend of this process.

    Raises: ``ValueError`` for an unknown name.
    """
    global _process_backend  # the one process-wide setting
    _process_backend = checked_backend(name)


@contextmanager
def default_backend(name: str) -> Iterator[None]:
    """Use another default backend in the ``with`` block, in this thread or task alone.

    Raises: ``ValueError`` for an unknown name.
    """
    token = _backend.set(checked_backend(name))
    try:
        yield
    finally:
        _backend.reset(token)


@contextmanager
def running_backend(name: str) -> Iterator[None]:
    """Make creation follow the backend that runs a program (``infer``, ``jit``)."""
    token = _running.set(name)
    try:
        yield
    finally:
        _running.reset(token)


@contextmanager
def default_dtypes(
    *, real: object = None, complex: object = None, integral: object = None
) -> Iterator[None]:
    """Use other default dtypes in the ``with`` block; where only ``real`` is given, ``complex``
    follows it.

    Raises: ``ValueError`` for a dtype that cannot be a default.
    """
    if real is not None and complex is None:
        complex = {"float32": "complex64", "float64": "complex128"}.get(_name(real))
    given = {"real": real, "complex": complex, "integral": integral}
    changes = {field: _name(value) for field, value in given.items() if value is not None}
    token = _dtypes.set(replace(_dtypes.get(), **changes))
    try:
        yield
    finally:
        _dtypes.reset(token)


def _name(dtype: object) -> str:
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype))


@contextmanager
def strict(enabled: bool = True) -> Iterator[None]:
    """Switch off, in the ``with`` block, everything that goes beyond the standard."""
    token = _strict.set(enabled)
    try:
        yield
    finally:
        _strict.reset(token)
