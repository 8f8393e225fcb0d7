"""Set functions. Every NaN is an element of its own; 0.0 and -0.0 are one."""

from __future__ import annotations

from typing import NamedTuple

from strata_api import _rules as rules
from strata_api._apply import apply, apply_many, arrays_of, as_array, cast
from strata_api._array import Array
from strata_api._dimension import Dimension, Extent, extent
from strata_api._shape import size
from strata_api.backends.protocol import Spec


class UniqueAllResult(NamedTuple):
    """What ``unique_all`` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What ``unique_counts`` returns."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What ``unique_inverse`` returns."""

    values: Array
    inverse_indices: Array


def isin(x1: Array | int, x2: Array | int, /, *, invert: bool = False) -> Array:
    """Tell for each element of ``x1`` whether ``x2`` has it. NaN is in nothing.

    Shape: that of ``x1``.
    Dtype: boolean or numeric; boolean.
    Raises: ``TypeError`` for another dtype and without an array.
    Source: the standard, ``isin``.
    """
    (a, b), dtype = arrays_of("isin", (x1, x2))
    rules.ISIN.check(dtype)
    shape = a.dims
    return apply(
        rules.ISIN,
        (cast(a, dtype), cast(b, dtype)),
        shape,
        rules.ISIN.result.dtype(dtype),
        invert=bool(invert),
    )


def unique_all(x: Array, /) -> UniqueAllResult:
    """Return the elements of ``x`` in rising order, each once, with where and how often they are.

    ``indices`` has the first position of each in the flattened ``x``, and
    ``take(values, inverse_indices)`` has the elements of ``x`` again.

    Shape: one axis of as many as there are; ``inverse_indices`` has that of ``x``.
    Dtype: boolean or numeric, that of ``x``; indices and counts the default index dtype.
    Raises: ``TypeError`` for another dtype, and under a JAX transformation.
    Source: the standard, ``unique_all``.
    """
    return UniqueAllResult(*_unique(x, ("values", "indices", "inverse_indices", "counts")))


def unique_counts(x: Array, /) -> UniqueCountsResult:
    """Return the elements of ``x`` in rising order, each once, with how often they are there.

    Shape: one axis of as many as there are.
    Dtype: boolean or numeric, that of ``x``; counts the default index dtype.
    Raises: ``TypeError`` for another dtype, and under a JAX transformation.
    Source: the standard, ``unique_counts``.
    """
    return UniqueCountsResult(*_unique(x, ("values", "counts")))


def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """Return the elements of ``x`` in rising order, each once, and where each of ``x`` went.

    Shape: one axis of as many as there are; ``inverse_indices`` has that of ``x``.
    Dtype: boolean or numeric, that of ``x``; indices the default index dtype.
    Raises: ``TypeError`` for another dtype, and under a JAX transformation.
    Source: the standard, ``unique_inverse``.
    """
    return UniqueInverseResult(*_unique(x, ("values", "inverse_indices")))


def unique_values(x: Array, /) -> Array:
    """Return the elements of ``x`` in rising order, each once.

    Shape: one axis of as many as there are.
    Dtype: boolean or numeric, that of ``x``.
    Raises: ``TypeError`` for another dtype, and under a JAX transformation.
    Source: the standard, ``unique_values``.
    """
    return _unique(x, ("values",))[0]


def _unique(x: object, parts: tuple[str, ...]) -> tuple[Array, ...]:
    array = as_array(x, "unique")
    dtype = array._element.dtype
    rules.UNIQUE.check(dtype)
    count = (_count_in(size(array.dims)),)
    index = rules.INDEX.dtype(dtype)
    specs = [
        Spec(
            array.dims if part == "inverse_indices" else count, dtype if part == "values" else index
        )
        for part in parts
    ]
    return apply_many(rules.UNIQUE, (array,), specs, parts=parts)


def _count_in(most: Extent) -> Extent:
    """Return how many distinct elements so many can have."""
    fewest, largest = Dimension(most).get_interval()
    return extent(Dimension(fewest and 1, largest))
