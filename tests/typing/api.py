"""The types of the public surface. Checked by mypy, never run."""

from __future__ import annotations

from types import ModuleType
from typing import Any, assert_type

import numpy as np

import strata_api as xp
import strata_api.jax as sjx
import strata_api.numpy as snp
from strata_api import Array, Dimension, PartialShape

Dtype = np.dtype[np.generic]

x = xp.zeros((2, 3))
y = snp.asarray([[1.0, 2.0, 3.0]])
z = sjx.ones(3, dtype=xp.float32, device="jax:cpu:0")

# creation
assert_type(x, Array)
assert_type(y, Array)
assert_type(z, Array)
assert_type(xp.arange(3), Array)
assert_type(xp.full((Dimension(1, 8), 3), 0.5), Array)
assert_type(xp.meshgrid(x, y), tuple[Array, ...])
assert_type(xp.from_dlpack(x), Array)
assert_type(xp.fft.fftfreq(4), Array)

# attributes
assert_type(x.shape, tuple[int | None, ...])
assert_type(x.dims, tuple[int | Dimension, ...])
assert_type(x.size, int | None)
assert_type(x.nbytes, int | None)
assert_type(x.ndim, int)
assert_type(x.itemsize, int)
assert_type(x.dtype, Dtype)
assert_type(x.T, Array)
assert_type(x.mT, Array)
assert_type(x.__array_namespace__(), ModuleType)
assert_type(x.to_device("numpy:cpu"), Array)
assert_type(x.to_device(x.device), Array)

# operators and indexing
assert_type(x + y, Array)
assert_type(1 + x, Array)
assert_type(x**2.0, Array)
assert_type(x @ y.T, Array)
assert_type(-x, Array)
assert_type(x == y, Array)
assert_type(x < 1, Array)
assert_type(x[0], Array)
assert_type(x[..., None, 1:], Array)
assert_type(x[x > 0], Array)
x[0, :] = y[0]
x[x > 0] = 1.5
x += y
assert_type(x, Array)
assert_type(list(x), list[Array])
assert_type(bool(x[0, 0]), bool)
assert_type(float(x[0, 0]), float)
assert_type(complex(x[0, 0]), complex)
assert_type(len(x), int)
assert_type(x.tolist(), Any)
assert_type(x.item(), bool | int | float | complex)

# functions
assert_type(xp.add(x, 1), Array)
assert_type(xp.clip(x, 0, max=y), Array)
assert_type(xp.sum(x, axis=(0, 1), keepdims=True), Array)
assert_type(xp.reshape(x, (x.dims[0], -1)), Array)
assert_type(xp.concat([x, y], axis=None), Array)
assert_type(xp.broadcast_arrays(x, y), tuple[Array, ...])
assert_type(xp.unstack(x), tuple[Array, ...])
assert_type(xp.nonzero(x), tuple[Array, ...])
assert_type(xp.where(x > 0, x, 0), Array)
assert_type(xp.take(x, xp.argsort(x), axis=0), Array)
assert_type(xp.astype(x, xp.float32), Array)
assert_type(xp.result_type(x, xp.float32, 1), Dtype)
assert_type(xp.can_cast(x, xp.float32), bool)
assert_type(xp.isdtype(x.dtype, "real floating"), bool)
assert_type(xp.finfo(x.dtype).eps, float)
assert_type(xp.iinfo(xp.int8).max, int)
assert_type(xp.unique_all(x).inverse_indices, Array)
assert_type(xp.unique_counts(x).counts, Array)
assert_type(xp.unique_values(x), Array)
assert_type(xp.linalg.svd(x).S, Array)
assert_type(xp.linalg.qr(x).Q, Array)
assert_type(xp.linalg.eigh(x).eigenvalues, Array)
assert_type(xp.linalg.slogdet(x).logabsdet, Array)
assert_type(xp.linalg.inv(x), Array)
assert_type(xp.fft.rfft(x), Array)
assert_type(xp.pi, float)

# dimensions
assert_type(Dimension(1, 8) + 1, Dimension)
assert_type(Dimension.merge(Dimension(1, 8), Dimension(3)), Dimension)
assert_type(PartialShape("[1..8, 3]").rank, Dimension)

# contexts
with xp.default_backend("numpy"), xp.default_dtypes(real="float32"), xp.strict():
    assert_type(xp.zeros(2), Array)
xp.set_default_backend("numpy")
