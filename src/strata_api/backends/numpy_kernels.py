"""NumPy's kernels by the names of the rules."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from strata_api.backends import numpy_elementwise, numpy_linalg, numpy_searching
from strata_api.backends.protocol import Device, Spec


def _itself(x: Any) -> Any:
    """Return ``x``: the backend makes what a kernel returns fresh, row-major, of the dtype."""
    return x


def _extents(spec: Spec) -> tuple[int, ...]:
    """Return the extents of what is made; raises for one that is unknown."""
    return tuple(map(index, spec.shape))


def _zeros(spec: Spec, device: Device) -> Any:
    return np.zeros(_extents(spec), spec.dtype)


def _empty(spec: Spec, device: Device) -> Any:
    return np.empty(_extents(spec), spec.dtype)


def _full(value: Any, spec: Spec, device: Device) -> Any:
    return np.full(_extents(spec), value, spec.dtype)


def _eye(spec: Spec, device: Device, k: int) -> Any:
    rows, columns = _extents(spec)
    return np.eye(rows, columns, k, spec.dtype)


def _arange(start: Any, step: Any, spec: Spec, device: Device) -> Any:
    """Count in the dtype of the operands, which wraps: ``uint64`` has room for no other sign."""
    return start + np.arange(*_extents(spec)).astype(start.dtype) * step


def _linspace(start: Any, stop: Any, spec: Spec, device: Device, endpoint: bool) -> Any:
    (count,) = _extents(spec)
    pieces = max(count - 1 if endpoint else count, 1)
    t = np.arange(count, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = stop - start
        step = whole / pieces
        result = t * step + start if step != 0 else t / pieces * whole + start
        if not np.isfinite(whole) and np.isfinite(start) and np.isfinite(stop):
            t = t / pieces
            result = start * (1 - t) + stop * t
    if endpoint and count > 1:
        result[-1] = stop
    return np.floor(result) if spec.dtype.kind in "iu" else result


def _astype(x: Any, to: Any) -> Any:
    """Cast as XLA does: what an integer dtype cannot hold becomes its nearest number, NaN 0."""
    if to.kind in "iu" and x.dtype.kind not in "biu":
        return _nearest_integers(x, to)
    with np.errstate(all="ignore"):
        return x.astype(to)


def _nearest_integers(x: Any, to: Any) -> Any:
    low, high = int(np.iinfo(to).min), int(np.iinfo(to).max)
    with np.errstate(all="ignore"):
        if x.size == 0 or (low <= float(x.min()) and float(x.max()) <= high):
            return x.astype(to)
        wide = x.astype(np.float64)
        result = wide.astype(to)
    result[wide <= low] = low
    result[wide >= high] = high
    result[np.isnan(wide)] = 0
    return result


def _reshape(x: Any, to: tuple[int, ...]) -> Any:
    result = np.empty(to, x.dtype)
    result.reshape(x.shape)[...] = x
    return result


KERNELS: dict[str, Callable[..., Any]] = {
    **numpy_elementwise.KERNELS,
    **numpy_searching.KERNELS,
    **numpy_linalg.KERNELS,
    # creation, data type and manipulation functions
    "arange": _arange,
    "empty": _empty,
    "eye": _eye,
    "full": _full,
    "linspace": _linspace,
    "zeros": _zeros,
    "tril": np.tril,
    "triu": np.triu,
    "astype": _astype,
    "concat": lambda *xs, axis: np.concatenate(xs, axis=axis),
    "copy": _itself,
    "repeat_known": np.repeat,
    "repeat": lambda x, repeats, axis: np.repeat(x, repeats.astype(np.intp), axis=axis),
    "reshape": _reshape,
    "roll": lambda x, shift, axis: np.roll(x, shift, axis=axis),
    "tile": np.tile,
    # utility functions
    "diff": lambda x, n, axis: np.diff(x, n, axis),
}
