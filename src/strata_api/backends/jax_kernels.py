"""jax.numpy's kernels by the names of the rules, and those that run on the host."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from jax import lax
from jax import numpy as jnp

from strata_api._dtypes import DType
from strata_api.backends import jax_elementwise, jax_linalg, jax_searching, numpy_kernels
from strata_api.backends.protocol import Device, Spec


def _itself(x: Any) -> Any:
    """Return ``x``: the backend casts what a kernel returns to the right dtype."""
    return x


# -- creation functions ---------------------------------------------------------------------------


def _zeros(spec: Spec, device: Device) -> Any:
    return jnp.zeros(spec.shape, spec.dtype)


def _full(value: Any, spec: Spec, device: Device) -> Any:
    return jnp.full(spec.shape, value, spec.dtype)


def _eye(spec: Spec, device: Device, k: int) -> Any:
    rows, columns = spec.shape
    return jnp.eye(rows, columns, k, spec.dtype)


def _arange(start: Any, step: Any, spec: Spec, device: Device) -> Any:
    """Count in the dtype of the operands, which wraps: ``uint64`` has room for no other sign."""
    return start + lax.iota(start.dtype, index(spec.shape[0])) * step


def _linspace(start: Any, stop: Any, spec: Spec, device: Device, endpoint: bool) -> Any:
    count = index(spec.shape[0])
    pieces = max(count - 1 if endpoint else count, 1)
    t = jnp.arange(count, dtype=jnp.float64)
    whole = stop - start
    step = whole / pieces
    result = jnp.where(step != 0, t * step + start, t / pieces * whole + start)
    overflows = ~jnp.isfinite(whole) & jnp.isfinite(start) & jnp.isfinite(stop)
    t = t / pieces
    result = jnp.where(overflows, start * (1 - t) + stop * t, result)
    if endpoint and count > 1:
        result = result.at[-1].set(stop)
    return jnp.floor(result) if spec.dtype.kind in "iu" else result


# -- data type, manipulation and utility functions ------------------------------------------------


def _astype(x: Any, to: DType) -> Any:
    return x != 0 if to.kind == "b" else x


def _repeat(x: Any, repeats: int | tuple[int, ...], axis: int) -> Any:
    if isinstance(repeats, int):
        return jnp.repeat(x, repeats, axis)
    total = sum(repeats)
    return jnp.repeat(x, jnp.asarray(repeats), axis, total_repeat_length=total)


KERNELS: dict[str, Callable[..., Any]] = {
    **jax_elementwise.KERNELS,
    **jax_searching.KERNELS,
    **jax_linalg.KERNELS,
    # creation, data type and manipulation functions
    "arange": _arange,
    "empty": _zeros,
    "eye": _eye,
    "full": _full,
    "linspace": _linspace,
    "zeros": _zeros,
    "tril": jnp.tril,
    "triu": jnp.triu,
    "astype": _astype,
    "concat": lambda *xs, axis: jnp.concatenate(xs, axis),
    "copy": _itself,
    "repeat_known": _repeat,
    "reshape": lambda x, to: x.reshape(to),
    "roll": jnp.roll,
    "tile": jnp.tile,
    # utility functions
    "diff": lambda x, n, axis: jnp.diff(x, n, axis),
}
HOST: dict[str, Callable[..., Any]] = {
    **jax_searching.HOST,
    "repeat": numpy_kernels.KERNELS["repeat"],
}
