"""JAX's kernels of linear algebra and Fourier transforms, and when they fail.

Products are computed in full precision on every device. A compiled program cannot raise: `check`
looks at the results of those that NumPy raises for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
from jax import numpy as jnp

from strata_api.backends import numpy_linalg
from strata_api.backends.protocol import Buffer, Device, Spec

_exact = jax.lax.Precision.HIGHEST


def _exactly(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel whose inner products are computed in full precision."""

    def exact(*buffers: Any, **params: Any) -> Any:
        with jax.default_matmul_precision("highest"):
            return kernel(*buffers, **params)

    return exact


# -- linear algebra --------------------------------------------------------------------------------


def _cholesky(x: Any, upper: bool) -> Any:
    return jnp.linalg.cholesky(x, upper=upper, symmetrize_input=False)


def _eigh(x: Any) -> Any:
    return jnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)


def _eigvalsh(x: Any) -> Any:
    return jnp.linalg.eigvalsh(x, UPLO="L", symmetrize_input=False)


def _svdvals(x: Any) -> Any:
    return jnp.linalg.svd(x, compute_uv=False)


def _tensordot(x1: Any, x2: Any, axes: Any) -> Any:
    return jnp.tensordot(x1, x2, axes, precision=_exact)


def _trace(x: Any, offset: int, dtype: Any) -> Any:
    return jnp.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


def _vecdot(x1: Any, x2: Any, axis: int) -> Any:
    return jnp.vecdot(x1, x2, axis=axis, precision=_exact)


# -- Fourier transforms ----------------------------------------------------------------------------


def _fftn(transform: Callable[..., Any], halved: bool = False) -> Callable[..., Any]:
    def kernel(x: Any, s: Any, axes: tuple[int, ...], norm: str) -> Any:
        if not axes:
            return x
        return transform(
            x, s=numpy_linalg.fft_sizes(x.shape, s, axes, halved), axes=axes, norm=norm
        )

    return kernel


def _fftfreq(spec: Spec, device: Device, n: int, d: float) -> Any:
    return jnp.asarray(numpy_linalg.KERNELS["fftfreq"](spec, device, n, d))


def _rfftfreq(spec: Spec, device: Device, n: int, d: float) -> Any:
    return jnp.asarray(numpy_linalg.KERNELS["rfftfreq"](spec, device, n, d))


KERNELS: dict[str, Callable[..., Any]] = {
    # linear algebra
    "cholesky": _exactly(_cholesky),
    "cross": partial(numpy_linalg.cross, jnp),
    "det": _exactly(jnp.linalg.det),
    "eig": jnp.linalg.eig,
    "eigh": _exactly(_eigh),
    "eigvals": jnp.linalg.eigvals,
    "eigvalsh": _exactly(_eigvalsh),
    "inv": _exactly(jnp.linalg.inv),
    "matmul": partial(jnp.matmul, precision=_exact),
    "matrix_norm": _exactly(partial(numpy_linalg.matrix_norm, jnp)),
    "matrix_power": _exactly(jnp.linalg.matrix_power),
    "matrix_rank": _exactly(partial(numpy_linalg.matrix_rank, jnp)),
    "pinv": _exactly(partial(numpy_linalg.pinv, jnp)),
    "qr": _exactly(jnp.linalg.qr),
    "slogdet": _exactly(jnp.linalg.slogdet),
    "solve": _exactly(jnp.linalg.solve),
    "svd": _exactly(jnp.linalg.svd),
    "svdvals": _exactly(_svdvals),
    "tensordot": _tensordot,
    "trace": _trace,
    "vecdot": _vecdot,
    "vector_norm": partial(numpy_linalg.vector_norm, jnp),
    # Fourier transforms
    "fft": jnp.fft.fft,
    "fftfreq": _fftfreq,
    "fftn": _fftn(jnp.fft.fftn),
    "fftshift": partial(numpy_linalg.shifted, jnp.fft.fftshift),
    "hfft": jnp.fft.hfft,
    "ifft": jnp.fft.ifft,
    "ifftn": _fftn(jnp.fft.ifftn),
    "ifftshift": partial(numpy_linalg.shifted, jnp.fft.ifftshift),
    "ihfft": jnp.fft.ihfft,
    "irfft": jnp.fft.irfft,
    "irfftn": _fftn(jnp.fft.irfftn, halved=True),
    "rfft": jnp.fft.rfft,
    "rfftfreq": _rfftfreq,
    "rfftn": _fftn(jnp.fft.rfftn),
}

CHECKED = frozenset(
    {
        "cholesky",
        "eig",
        "eigh",
        "eigvals",
        "eigvalsh",
        "inv",
        "matrix_norm",
        "matrix_power",
        "matrix_rank",
        "pinv",
        "solve",
        "svd",
        "svdvals",
    }
)


def check(name: str, buffers: Sequence[Buffer], params: dict[str, Any], result: Any) -> None:
    """Raise ``LinAlgError`` where NumPy does for the same operands.

    That can only be where an operand or a result is not finite; then NumPy is asked.
    """
    if not _are_finite((tuple(buffers), result)):
        numpy_linalg.KERNELS[name](*jax.device_get(list(buffers)), **params)


@jax.jit
def _are_finite(buffers: Any) -> Any:
    finite = [jnp.all(jnp.isfinite(x)) for x in jax.tree_util.tree_leaves(buffers)]
    return jnp.all(jnp.stack(finite))
