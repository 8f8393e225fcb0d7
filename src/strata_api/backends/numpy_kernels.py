"""NumPy's kernels by the names of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from strata_api.backends.protocol import Device, Spec


def _itself(x: Any) -> Any:
    """Return ``x``: the backend makes what a kernel returns fresh, row-major, of the right dtype."""
    return x


def _full(spec: Spec, device: Device, value: Any) -> Any:
    return np.full(spec.shape, value, dtype=spec.dtype)


KERNELS: dict[str, Callable[..., Any]] = {
    # elementwise functions
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.true_divide,
    "equal": np.equal,
    # creation, data type and manipulation functions
    "astype": _itself,
    "copy": _itself,
    "full": _full,
    "nonzero": np.nonzero,
    "sum": lambda x, axis, keepdims: np.add.reduce(x, axis=axis, keepdims=keepdims),
    "any": lambda x, axis, keepdims: np.logical_or.reduce(x, axis=axis, keepdims=keepdims),
    "matmul": np.matmul,
}
