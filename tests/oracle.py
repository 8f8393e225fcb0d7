"""NumPy as the oracle: what our arrays must agree with, and how that is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from strata_api import Array

T = TypeVar("T")

_KINDS = (
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    BufferError,
    RuntimeError,
    ImportError,
)


def is_numpy(xp: ModuleType) -> bool:
    """Tell whether the namespace is bound to NumPy, where much can be tried in little time."""
    return xp.__name__.endswith(".numpy")


def some(xp: ModuleType, cases: Sequence[T], most: int) -> list[T]:
    """Return all cases on NumPy, and ``most`` of them, spread evenly, where each one compiles."""
    if is_numpy(xp) or len(cases) <= most:
        return list(cases)
    return [cases[k * len(cases) // most] for k in range(most)]


def array(xp: ModuleType, data: Any) -> Array:
    """Return a fresh array with the elements and the dtype of an ndarray."""
    result: Array = xp.asarray(np.array(data), copy=True)
    return result


def host(x: Any) -> Any:
    """Return the elements of an array as an ndarray of their own."""
    return np.array(np.asarray(x))


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the exception that it raises."""
    try:
        return call()
    except _KINDS as error:
        return error


def answer(call: Callable[[], Any]) -> Any:
    """Return the outcome of a call of NumPy's, which before 2.4 only warned of some bad indices."""
    try:
        return outcome(call)
    except DeprecationWarning as warning:
        if not str(warning).startswith("Out of bound index"):
            raise
        return IndexError(str(warning))


def kinds(error: object) -> frozenset[str]:
    """Return the names of the exception types of Python that an error is one of."""
    return frozenset(kind.__name__ for kind in _KINDS if isinstance(error, kind))


def check_same(
    ours: Callable[[], Any], numpys: Callable[[], Any], *, ulps: float = 0, what: object = ""
) -> None:
    """Check that both calls give the same value, dtype and shape, or the same exception type."""
    have, want = outcome(ours), answer(numpys)
    if isinstance(want, Exception):
        assert isinstance(have, Exception), f"{what}: expected {want!r}, got {have!r}"
        assert kinds(have) == kinds(want), f"{what}: expected {want!r}, got {have!r}"
        return
    if isinstance(have, Exception):
        raise AssertionError(f"{what}: expected {want!r}, got {have!r}") from have
    check_equal(have, want, ulps=ulps, what=what)


def check_equal(have: Any, want: Any, *, ulps: float = 0, what: object = "") -> None:
    """Check that an array, or a tuple of them, has the values, dtypes and shapes of NumPy's."""
    if isinstance(want, tuple):
        assert isinstance(have, tuple), f"{what}: expected a tuple, got {have!r}"
        assert len(have) == len(want), f"{what}: expected {len(want)} arrays, got {len(have)}"
        for one, other in zip(have, want, strict=True):
            check_equal(one, other, ulps=ulps, what=what)
        return
    want = np.asarray(want)
    assert type(have) is Array, f"{what}: expected an Array, got {have!r}"
    assert have.shape == want.shape, f"{what}: expected shape {want.shape}, got {have.shape}"
    assert have.dtype == want.dtype, f"{what}: expected dtype {want.dtype}, got {have.dtype}"
    check_close(host(have), want, ulps, what)


def check_close(
    have: Any, want: Any, ulps: float = 0, what: object = "", *, by_largest: bool = False
) -> None:
    """Check that two ndarrays agree within some units in the last place of the larger of each pair.

    With ``by_largest``, in units of the largest number of all. NaN agrees with NaN. Of complex
    numbers, the distance counts.
    """
    if ulps == 0 or want.dtype.kind in "biu":
        np.testing.assert_array_equal(have, want, err_msg=str(what))
        return
    same = (have == want) | (np.isnan(have) & np.isnan(want))
    largest = np.max(abs(want), initial=0) if by_largest else 0
    have, want = have[~same], want[~same]
    if have.size == 0:
        return
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.spacing(np.maximum(np.maximum(abs(have), abs(want)), largest))
        distance = abs(have - want) / unit
    worst = np.argmax(np.where(np.isnan(distance), np.inf, distance))
    assert distance[worst] <= ulps, (
        f"{what}: {distance[worst]} ulps apart, at most {ulps} expected: "
        f"got {have[worst]!r}, expected {want[worst]!r}"
    )
