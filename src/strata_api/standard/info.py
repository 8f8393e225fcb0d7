"""Inspection: what a namespace can do, and where."""

from __future__ import annotations

from strata_api import _dtypes as d
from strata_api._dtypes import DType
from strata_api.backends import available, get_backend, resolve
from strata_api.backends.protocol import Device

_NAMES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_MAX_RANK = 64  # NumPy's; the same everywhere, so that what runs on one backend runs on the other


class Info:
    """What a namespace can do. Returned by ``__array_namespace_info__``.

    ``backend`` is the name of the one it is bound to, or ``None``.
    """

    __slots__ = ("backend",)

    def __init__(self, backend: str | None = None) -> None:
        self.backend = backend

    def capabilities(self) -> dict[str, bool | int | None]:
        """Return what the standard leaves to the namespace.

        On JAX results whose size depends on data are there outside of a trace alone.

        Source: the standard, ``capabilities``.
        """
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MAX_RANK,
        }

    def default_device(self) -> Device:
        """Return the device that arrays are made on if none is given.

        Source: the standard, ``default_device``.
        """
        return resolve(self.backend)[1]

    def default_dtypes(self, *, device: object = None) -> dict[str, DType]:
        """Return the dtypes that arrays have if none is given, the same on every device.

        Raises: ``ValueError`` for an unknown device.
        Source: the standard, ``default_dtypes``.
        """
        _check(device)
        return {
            "real floating": d.default_real(),
            "complex floating": d.default_complex(),
            "integral": d.default_integral(),
            "indexing": d.default_integral(),
        }

    def devices(self) -> tuple[Device, ...]:
        """Return the devices of the backend; of all backends with data, if bound to none.

        Source: the standard, ``devices``.
        """
        names = available() if self.backend is None else (self.backend,)
        return tuple([device for name in names for device in get_backend(name).devices()])

    def dtypes(
        self, *, device: object = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the standard's dtypes by name, of some kinds if asked; the same on every device.

        Raises: ``ValueError`` for an unknown device or kind.
        Source: the standard, ``dtypes``.
        """
        _check(device)
        known = {
            name: d.as_dtype(getattr(d, "bool_" if name == "bool" else name)) for name in _NAMES
        }
        if kind is None:
            return known
        kinds = kind if isinstance(kind, tuple) else (kind,)
        unknown = [name for name in kinds if name not in d.KINDS]
        if unknown:
            raise ValueError(f"dtypes: expected kinds among {', '.join(d.KINDS)}, got {unknown}")
        return {
            name: dtype
            for name, dtype in known.items()
            if any(dtype in d.KINDS[one] for one in kinds)
        }

    def __repr__(self) -> str:
        return f"Info({self.backend!r})"


def __array_namespace_info__() -> Info:
    """Return what the namespace can do.

    Source: the standard, ``__array_namespace_info__``.
    """
    return Info()


def _check(device: object) -> None:
    if device is not None:
        resolve(device)
