"""NumPy's kernels of linear algebra and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np

from strata_api.backends.protocol import Device, Spec

_quiet = np.errstate(all="ignore")


# -- formulas that NumPy and jax.numpy share; ``xp`` is either -------------------------------------


def vector_norm(
    xp: Any, x: Any, axis: tuple[int, ...], keepdims: bool, ord: float, dtype: Any
) -> Any:
    """Return the norm of this order along axes, computed in ``dtype``."""
    size = xp.abs(x).astype(dtype)
    reduce = partial(xp.sum, axis=axis, keepdims=keepdims)
    if ord == inf:
        return xp.max(size, axis=axis, keepdims=keepdims)
    if ord == -inf:
        return xp.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return reduce(size != 0, dtype=dtype)
    if ord == 1:
        return reduce(size)
    if ord == 2:
        return xp.sqrt(reduce(size * size))
    return reduce(size ** dtype.type(ord)) ** dtype.type(1 / ord)


def matrix_norm(xp: Any, x: Any, keepdims: bool, ord: float | str) -> Any:
    """Return the norm of this order of each matrix."""
    size = xp.abs(x)
    if ord == "fro":
        return xp.sqrt(xp.sum(size * size, axis=(-2, -1), keepdims=keepdims))
    if ord in ("nuc", 2, -2):
        result = _of_singular_values(xp, xp.linalg.svd(x, compute_uv=False), ord)
    else:
        sums = xp.sum(size, axis=-2 if abs(ord) == 1 else -1)  # type: ignore[arg-type]  # a number
        result = (xp.max if ord > 0 else xp.min)(sums, axis=-1)  # type: ignore[operator]  # a number
    return result[..., None, None] if keepdims else result


def _of_singular_values(xp: Any, s: Any, ord: float | str) -> Any:
    if ord == "nuc":
        return xp.sum(s, axis=-1)
    return s[..., 0] if ord == 2 else s[..., -1]


def matrix_rank(xp: Any, x: Any, rtol: Any = None) -> Any:
    """Return how many singular values of each matrix are above the tolerance."""
    s = xp.linalg.svd(x, compute_uv=False)
    if rtol is None:
        rtol = max(x.shape[-2:]) * xp.finfo(s.dtype).eps
    largest = xp.max(s, axis=-1, initial=0)
    return xp.sum(s > (largest * rtol)[..., None], axis=-1)


def pinv(xp: Any, x: Any, rtol: Any = None) -> Any:
    """Return the pseudo-inverse of each matrix."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * xp.finfo(x.dtype).eps
    return xp.linalg.pinv(x, rtol=xp.asarray(rtol))


def cross(xp: Any, x1: Any, x2: Any, axis: int, dtype: Any) -> Any:
    """Return the cross product of vectors along an axis counted from the end, each 3 long."""
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    a, b = [xp.moveaxis(xp.broadcast_to(x, shape), axis, 0).astype(dtype) for x in (x1, x2)]
    parts = (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )
    return xp.stack(parts, axis=axis)


def fft_sizes(shape: tuple[int, ...], s: Any, axes: tuple[int, ...], halved: bool) -> list[int]:
    """Return how many elements are transformed along each axis; -1 in ``s`` is all.

    Where ``halved`` (the input is half of a spectrum), the last is the extent of the result.
    """
    sizes = [shape[k] for k in axes]
    if halved:
        sizes[-1] = 2 * (sizes[-1] - 1)
    if s is None:
        return sizes
    return [n if given == -1 else given for n, given in zip(sizes, s, strict=True)]


# -- linear algebra --------------------------------------------------------------------------------


@_quiet
def _det(x: Any) -> Any:
    return np.linalg.det(x)


@_quiet
def _slogdet(x: Any) -> Any:
    return np.linalg.slogdet(x)


@_quiet
def _vector_norm(x: Any, **params: Any) -> Any:
    return vector_norm(np, x, **params)


@_quiet
def _cross(x1: Any, x2: Any, axis: int, dtype: Any) -> Any:
    return cross(np, x1, x2, axis, dtype)


def _tensordot(x1: Any, x2: Any, axes: Any) -> Any:
    return np.tensordot(x1, x2, axes)


def _trace(x: Any, offset: int, dtype: Any) -> Any:
    return np.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


# -- Fourier transforms ----------------------------------------------------------------------------


def _fftn(transform: Callable[..., Any], halved: bool = False) -> Callable[..., Any]:
    def kernel(x: Any, s: Any, axes: tuple[int, ...], norm: str) -> Any:
        if not axes:
            return x
        return transform(x, s=fft_sizes(x.shape, s, axes, halved), axes=axes, norm=norm)

    return kernel


def shifted(shift: Callable[..., Any], x: Any, axes: tuple[int, ...]) -> Any:
    """Return ``x`` shifted along the axes, of which there may be none."""
    return shift(x, axes) if axes else x


def _fftfreq(spec: Spec, device: Device, n: int, d: float) -> Any:
    return np.fft.fftfreq(n, d)


def _rfftfreq(spec: Spec, device: Device, n: int, d: float) -> Any:
    return np.fft.rfftfreq(n, d)


KERNELS: dict[str, Callable[..., Any]] = {
    # linear algebra
    "cholesky": np.linalg.cholesky,
    "cross": _cross,
    "det": _det,
    "eig": np.linalg.eig,
    "eigh": np.linalg.eigh,
    "eigvals": np.linalg.eigvals,
    "eigvalsh": np.linalg.eigvalsh,
    "inv": np.linalg.inv,
    "matmul": np.matmul,
    "matrix_norm": partial(matrix_norm, np),
    "matrix_power": np.linalg.matrix_power,
    "matrix_rank": partial(matrix_rank, np),
    "pinv": partial(pinv, np),
    "qr": np.linalg.qr,
    "slogdet": _slogdet,
    "solve": np.linalg.solve,
    "svd": np.linalg.svd,
    "svdvals": np.linalg.svdvals,
    "tensordot": _tensordot,
    "trace": _trace,
    "vecdot": np.vecdot,
    "vector_norm": _vector_norm,
    # Fourier transforms
    "fft": np.fft.fft,
    "fftfreq": _fftfreq,
    "fftn": _fftn(np.fft.fftn),
    "fftshift": partial(shifted, np.fft.fftshift),
    "hfft": np.fft.hfft,
    "ifft": np.fft.ifft,
    "ifftn": _fftn(np.fft.ifftn),
    "ifftshift": partial(shifted, np.fft.ifftshift),
    "ihfft": np.fft.ihfft,
    "irfft": np.fft.irfft,
    "irfftn": _fftn(np.fft.irfftn, halved=True),
    "rfft": np.fft.rfft,
    "rfftfreq": _rfftfreq,
    "rfftn": _fftn(np.fft.rfftn),
}
