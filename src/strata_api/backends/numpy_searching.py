"""NumPy's kernels that index, search, sort and accumulate.

A plain reduction of a ufunc is called without further ado and follows ``numpy.errstate``; the
other kernels are silent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_quiet = np.errstate(all="ignore")


def comparable(x: Any) -> Any:
    """Return ``x`` in a dtype that NumPy compares fast: float32 for bfloat16, without loss."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


AT_ONCE: dict[str, Callable[..., Any]] = {  # what may be called without further ado
    "all": np.logical_and.reduce,
    "any": np.logical_or.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "prod": np.multiply.reduce,
    "sum": np.add.reduce,
    "where": np.where,
}

_sum = AT_ONCE["sum"]


# -- indexing -------------------------------------------------------------------------------------


def _take(x: Any, indices: Any, axis: int) -> Any:
    return np.take(x, indices.astype(np.intp, copy=False), axis=axis)


def _take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    n, m = x.shape[axis], indices.shape[axis]
    joint = np.broadcast_shapes(_with(x.shape, axis, 1), _with(indices.shape, axis, 1))
    x = np.broadcast_to(x, _with(joint, axis, n))
    indices = np.broadcast_to(indices, _with(joint, axis, m))
    return np.take_along_axis(x, indices.astype(np.intp, copy=False), axis=axis)


def _with(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


# -- searching and sorting ------------------------------------------------------------------------


def _argmax(x: Any, axis: int | None, keepdims: bool) -> Any:
    return np.argmax(comparable(x), axis=axis, keepdims=keepdims)


def _argmin(x: Any, axis: int | None, keepdims: bool) -> Any:
    return np.argmin(comparable(x), axis=axis, keepdims=keepdims)


def _count_nonzero(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    if len(axis) == x.ndim and not keepdims:
        return np.count_nonzero(x)
    return _sum(x.astype(np.bool_), axis=axis, dtype=np.int64, keepdims=keepdims)


def _searchsorted(x1: Any, x2: Any, side: Any) -> Any:
    return np.searchsorted(comparable(x1), comparable(x2), side=side)


def _sort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    """Sort; the order of equal elements shows only in signed zeros, so integers need no care."""
    kind: Any = "stable" if stable and x.dtype.kind not in "biu" else None
    key = comparable(x)
    if not descending:
        return np.sort(key, axis=axis, kind=kind)
    return np.flip(np.sort(np.flip(key, axis), axis=axis, kind=kind), axis)


def _argsort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    key = comparable(x)
    if not descending:
        return np.argsort(key, axis=axis, kind="stable")
    order = np.argsort(np.flip(key, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(order, axis)


# -- sets -----------------------------------------------------------------------------------------


def _isin(x1: Any, x2: Any, invert: bool) -> Any:
    return np.isin(comparable(x1), comparable(x2), invert=invert)


def _unique(x: Any, parts: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the distinct elements in rising order, and what else is asked for about them."""
    flat = x.reshape(-1)
    if parts == ("values",):
        ordered = np.sort(comparable(flat), kind="stable")
        return (ordered[_is_first(ordered)],)
    order = np.argsort(comparable(flat), kind="stable")
    ordered = flat[order]
    first = _is_first(ordered)
    found = {"values": ordered[first], "indices": order[first]}
    if "inverse_indices" in parts:
        inverse = np.empty(flat.shape, np.intp)
        inverse[order] = np.cumsum(first) - 1
        found["inverse_indices"] = inverse.reshape(x.shape)
    if "counts" in parts:
        found["counts"] = np.diff(np.append(np.flatnonzero(first), flat.size))
    return tuple([found[part] for part in parts])


def _is_first(ordered: Any) -> Any:
    first = np.ones(ordered.shape, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


# -- statistics -----------------------------------------------------------------------------------


def _max(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return AT_ONCE["max"](comparable(x), axis=axis, keepdims=keepdims)


def _min(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return AT_ONCE["min"](comparable(x), axis=axis, keepdims=keepdims)


def count(x: Any, axis: tuple[int, ...]) -> int:
    """Return how many elements are reduced to one."""
    n = 1
    for k in axis:
        n *= x.shape[k]
    return n


def divided(total: Any, n: float) -> Any:
    """Return ``total / n``, the parts of complex numbers each on its own; NaN for 0."""
    if total.dtype.kind != "c":
        return total / n if n > 0 else total * np.nan
    result = np.empty_like(total)
    result.real, result.imag = divided(total.real, n), divided(total.imag, n)
    return result


def _widened(x: Any) -> Any:
    if x.dtype.kind in "biu":
        return x.astype(np.float64)
    return x if x.dtype.itemsize > 2 else x.astype(np.float32)


@_quiet
def _mean(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    x = _widened(x)
    total = np.asarray(_sum(x, axis=axis, keepdims=keepdims))
    return divided(total, count(x, axis))


@_quiet
def _var(x: Any, axis: tuple[int, ...], keepdims: bool, correction: float) -> Any:
    x = _widened(x)
    n = count(x, axis)
    distance = x - divided(np.asarray(_sum(x, axis=axis, keepdims=True)), n)
    distance *= distance
    total = np.asarray(_sum(distance, axis=axis, keepdims=keepdims))
    return divided(total, n - correction)


def _std(x: Any, axis: tuple[int, ...], keepdims: bool, correction: float) -> Any:
    return np.sqrt(_var(x, axis, keepdims, correction))


def _cumulated(ufunc: Any) -> Callable[..., Any]:
    @_quiet
    def accumulate(x: Any, axis: int, dtype: Any, include_initial: bool) -> Any:
        result = ufunc.accumulate(x, axis=axis, dtype=dtype)
        if not include_initial:
            return result
        first = np.full(_with(x.shape, axis, 1), ufunc.identity, dtype)
        return np.concatenate((first, result), axis=axis)

    return accumulate


KERNELS: dict[str, Callable[..., Any]] = {
    # indexing functions
    "take": _take,
    "take_along_axis": _take_along_axis,
    # searching functions
    "argmax": _argmax,
    "argmin": _argmin,
    "count_nonzero": _count_nonzero,
    "nonzero": np.nonzero,
    "searchsorted": _searchsorted,
    "where": np.where,
    # set functions
    "isin": _isin,
    "unique": _unique,
    # sorting functions
    "argsort": _argsort,
    "sort": _sort,
    # statistical functions
    "cumulative_prod": _cumulated(np.multiply),
    "cumulative_sum": _cumulated(np.add),
    "max": _max,
    "mean": _mean,
    "min": _min,
    "prod": AT_ONCE["prod"],
    "std": _std,
    "sum": _sum,
    "var": _var,
    # reductions of the utility functions
    "all": AT_ONCE["all"],
    "any": AT_ONCE["any"],
}
