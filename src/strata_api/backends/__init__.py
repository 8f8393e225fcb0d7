"""The backends by name. None is imported before it is asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from strata_api import _context
from strata_api.backends.protocol import Backend, Device

_loaded: dict[str, Backend] = {}
_adopters: list[type] = []
_NATIVE = {"numpy": "numpy", "jax": "jax", "jaxlib": "jax"}  # top package of a type -> backend


def get_backend(name: str) -> Backend:
    """Return a backend, loading it on first use.

    Raises: ``ValueError`` for an unknown name, ``ImportError`` that says what to install.
    """
    backend = _loaded.get(name)
    if backend is None:
        _context.checked_backend(name)
        if name == "jax" and find_spec("jax") is None:
            raise ImportError('the JAX backend needs JAX: pip install "strata-api[jax]"')
        module = import_module(f"strata_api.backends.{name}")
        backend = _loaded.setdefault(name, module.BACKEND)
        for array_type in _adopters:
            backend.adopt(array_type)
    return backend


def adopt(array_type: type) -> None:
    """Tell every backend, those loaded later too, which class arrays have."""
    _adopters.append(array_type)


def namespace(name: str) -> ModuleType:
    """Return the namespace bound to a backend."""
    return import_module(f"strata_api.{name}")


def available() -> tuple[str, ...]:
    """Return the names of the backends with data that can be used here."""
    return ("numpy", "jax") if find_spec("jax") is not None else ("numpy",)


def backend_of(obj: object) -> Backend | None:
    """Return the backend whose own array ``obj`` is, or ``None``."""
    package = type(obj).__module__.partition(".")[0]
    name = _NATIVE.get(package)
    if name is None:
        return None
    backend = get_backend(name)
    return backend if backend.is_native(obj) else None


def default_backend() -> Backend:
    """Return the backend that creation functions use now."""
    return get_backend(_context.backend_now())


def resolve(device: object) -> tuple[Backend, Device]:
    """Return the backend and device that ``device`` names.

    A device, its string, a backend's name, a backend's native device, or ``None``: the default.

    Raises: ``ValueError`` for what names no device here.
    """
    if device is None:
        backend = default_backend()
        return backend, backend.default_device()
    if isinstance(device, Device):
        return get_backend(device.backend), device
    if isinstance(device, str):
        name, _, rest = device.partition(":")
        if name in _context.BACKENDS:
            backend = get_backend(name)
            return backend, backend.find_device(rest) if rest else backend.default_device()
        backend = default_backend()
        return backend, backend.find_device(device)
    package = type(device).__module__.partition(".")[0]
    if package in _NATIVE:
        backend = get_backend(_NATIVE[package])
        return backend, backend.find_device(device)
    raise ValueError(
        f"unknown device {device!r}: expected a device, its string such as 'numpy:cpu', a "
        "backend's name, or a jax.Device"
    )
