"""jax.numpy's kernels by the names of the rules, and those that run on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import numpy as jnp

from strata_api.backends import jax_elementwise, numpy_kernels
from strata_api.backends.protocol import Device, Spec


def _itself(x: Any) -> Any:
    """Return ``x``: the backend casts what a kernel returns to the right dtype."""
    return x


def _full(spec: Spec, device: Device, value: Any) -> Any:
    return jnp.full(spec.shape, value, dtype=spec.dtype)


KERNELS: dict[str, Callable[..., Any]] = {
    **jax_elementwise.KERNELS,
    "astype": _itself,
    "copy": _itself,
    "full": _full,
    "matmul": jnp.matmul,
    "sum": jnp.sum,
}
HOST: dict[str, Callable[..., Any]] = {"nonzero": numpy_kernels.KERNELS["nonzero"]}
