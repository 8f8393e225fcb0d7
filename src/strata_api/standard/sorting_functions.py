"""Sorting functions. NaN counts as larger than every number, as NumPy has it."""

from __future__ import annotations

from strata_api import _rules as rules
from strata_api._apply import apply, as_array
from strata_api._array import Array
from strata_api._rules import Rule
from strata_api._shape import normalize_axis


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort along an axis. The order of equal elements is always kept.

    Shape: that of ``x``.
    Dtype: real-valued; the default index dtype. Beyond the standard, boolean.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``argsort``.
    """
    return _ordered(rules.ARGSORT, x, axis, descending, True)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements sorted along an axis.

    ``stable=False`` is faster on NumPy; all it leaves open is the order of 0.0 and -0.0.

    Shape: that of ``x``.
    Dtype: real-valued, that of ``x``. Beyond the standard, boolean.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``sort``.
    """
    return _ordered(rules.SORT, x, axis, descending, stable)


def _ordered(rule: Rule, x: object, axis: int, descending: bool, stable: bool) -> Array:
    array = as_array(x, rule.name)
    rule.check(array._element.dtype)
    along = normalize_axis(axis, array.ndim, rule.name)
    dtype = rule.result.dtype(array._element.dtype)
    return apply(
        rule,
        (array,),
        array.dims,
        dtype,
        axis=along,
        descending=bool(descending),
        stable=bool(stable),
    )
