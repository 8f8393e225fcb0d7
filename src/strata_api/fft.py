"""Fourier transforms: the extension.

Single precision stays single. Where the standard asks for complex input, real numbers and integers
are accepted too (integers in the default real dtype), unless ``strict`` is on.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Literal, TypeAlias

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._apply import apply, as_array, cast, create
from strata_api._array import Array
from strata_api._context import is_strict
from strata_api._dimension import Dimension, Extent, extent
from strata_api._dtypes import DType
from strata_api._rules import Rule
from strata_api._shape import as_extent, merge, normalize_axes, normalize_axis, replaced, shown
from strata_api.backends import resolve
from strata_api.backends.protocol import Spec

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm: TypeAlias = Literal["backward", "ortho", "forward"]


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the Fourier transform along an axis, cut or padded with zeros to ``n`` elements.

    Shape: that of ``x`` with extent ``n`` along the axis.
    Dtype: complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one element or another
    ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.fft``.
    """
    return _transformed(rules.FFT, x, n, axis, norm)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of ``fft``.

    Shape: that of ``x`` with extent ``n`` along the axis.
    Dtype: complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one element or another
    ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.ifft``.
    """
    return _transformed(rules.IFFT, x, n, axis, norm)


def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Return the Fourier transform along several axes, by default all of them.

    Shape: that of ``x`` with the extents ``s`` along the axes; -1 in ``s`` keeps one.
    Dtype: complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for ``s`` without as many axes, fewer
    than one element or another ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.fftn``.
    """
    return _transformed_along(rules.FFTN, x, s, axes, norm)


def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Return the inverse of ``fftn``.

    Shape: that of ``x`` with the extents ``s`` along the axes; -1 in ``s`` keeps one.
    Dtype: complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for ``s`` without as many axes, fewer
    than one element or another ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.ifftn``.
    """
    return _transformed_along(rules.IFFTN, x, s, axes, norm)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the first half of the Fourier transform of real numbers; the second mirrors it.

    Shape: that of ``x`` with extent ``n // 2 + 1`` along the axis.
    Dtype: float32 or float64; the complex dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one element or another
    ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.rfft``.
    """
    return _transformed(rules.RFFT, x, n, axis, norm)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of ``rfft``: ``n`` real numbers, by default an even number of them.

    Shape: that of ``x`` with extent ``n``, or ``2 * (m - 1)`` for ``m``, along the axis.
    Dtype: complex; the real dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one element or another
    ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.irfft``.
    """
    return _transformed(rules.IRFFT, x, n, axis, norm)


def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Return the Fourier transform of real numbers along several axes, half along the last.

    Shape: that of ``x`` with the extents ``s``, the last ``s[-1] // 2 + 1``, along the axes.
    Dtype: float32 or float64; the complex dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for ``s`` without as many axes, fewer
    than one element or another ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.rfftn``.
    """
    return _transformed_along(rules.RFFTN, x, s, axes, norm)


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Return the inverse of ``rfftn``.

    Shape: that of ``x`` with the extents ``s`` along the axes; the last is by default
    ``2 * (m - 1)`` for ``m``.
    Dtype: complex; the real dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for ``s`` without as many axes, fewer
    than one element or another ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.irfftn``.
    """
    return _transformed_along(rules.IRFFTN, x, s, axes, norm)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the Fourier transform, real, of a Hermitian signal of which ``x`` is the first half.

    Shape: that of ``x`` with extent ``n``, or ``2 * (m - 1)`` for ``m``, along the axis.
    Dtype: complex; the real dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one element or another
    ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.hfft``.
    """
    return _transformed(rules.HFFT, x, n, axis, norm)


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of ``hfft``.

    Shape: that of ``x`` with extent ``n // 2 + 1`` along the axis.
    Dtype: float32 or float64; the complex dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one element or another
    ``norm``, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.ihfft``.
    """
    return _transformed(rules.IHFFT, x, n, axis, norm)


def fftfreq(
    n: int | Dimension, /, *, d: float = 1.0, dtype: DType | None = None, device: object = None
) -> Array:
    """Return the frequencies of ``fft`` for ``n`` samples at distance ``d``.

    Shape: ``(n,)``.
    Dtype: real floating-point; given, or the default real one.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one sample.
    Source: the standard, ``fft.fftfreq``.
    """
    count = _at_least_one(as_extent(n), "fftfreq")
    return _frequencies(rules.FFTFREQ, count, count, d, dtype, device)


def rfftfreq(
    n: int | Dimension, /, *, d: float = 1.0, dtype: DType | None = None, device: object = None
) -> Array:
    """Return the frequencies of ``rfft`` for ``n`` samples at distance ``d``.

    Shape: ``(n // 2 + 1,)``.
    Dtype: real floating-point; given, or the default real one.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than one sample.
    Source: the standard, ``fft.rfftfreq``.
    """
    count = _at_least_one(as_extent(n), "rfftfreq")
    return _frequencies(rules.RFFTFREQ, count, _half(count), d, dtype, device)


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Return ``x`` rolled so that the frequency 0 is in the middle of each axis.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``. Beyond the standard, any.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.fftshift``.
    """
    return _shifted(rules.FFTSHIFT, x, axes)


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Return the inverse of ``fftshift``.

    Shape: that of ``x``.
    Dtype: floating-point, that of ``x``. Beyond the standard, any.
    Raises: ``TypeError`` for another dtype, ``AxisError`` for an axis out of range.
    Source: the standard, ``fft.ifftshift``.
    """
    return _shifted(rules.IFFTSHIFT, x, axes)


# -- transforms ------------------------------------------------------------------------------------

_FROM_HALF = (rules.HFFT, rules.IRFFT, rules.IRFFTN)  # the input is half of what it stands for
_TO_HALF = (rules.IHFFT, rules.RFFT, rules.RFFTN)


def _transformed(rule: Rule, x: object, n: object, axis: int, norm: object) -> Array:
    array = _source(rule, x)
    _check_norm(rule, norm)
    shape = array.dims
    along = normalize_axis(axis, len(shape), rule.name)
    count = _count(rule, shape[along], n)
    result = replaced(shape, along, _half(count) if rule in _TO_HALF else count)
    size = None if n is None else count
    return apply(rule, (array,), result, None, n=size, axis=along, norm=norm)


def _transformed_along(rule: Rule, x: object, s: Any, axes: Any, norm: object) -> Array:
    array = _source(rule, x)
    _check_norm(rule, norm)
    shape = array.dims
    if s is not None and axes is None:
        raise ValueError(f"{rule.name}: expected axes with s={s!r}, got none")
    chosen = normalize_axes(axes, len(shape), rule.name)
    sizes = [-1] * len(chosen) if s is None else [index(n) for n in s]
    if len(sizes) != len(chosen):
        raise ValueError(
            f"{rule.name}: expected an extent for each of the axes {chosen}, got {s!r}"
        )
    if not chosen and rule in (*_FROM_HALF, *_TO_HALF):
        raise ValueError(f"{rule.name}: expected one axis or more, got shape {shown(shape)}")
    result = shape
    for position, (along, n) in enumerate(zip(chosen, sizes, strict=True)):
        is_last = position == len(chosen) - 1
        count = _count(rule if is_last else rules.FFT, shape[along], None if n == -1 else n)
        halved = is_last and rule in _TO_HALF
        result = replaced(result, along, _half(count) if halved else count)
    return apply(
        rule,
        (array,),
        result,
        None,
        s=None if s is None else tuple(sizes),
        axes=chosen,
        norm=norm,
    )


def _source(rule: Rule, x: object) -> Array:
    """Return what to transform; of integers, as default real numbers."""
    array = as_array(x, rule.name)
    if array._element.dtype in d.INTEGER and not is_strict():
        array = cast(array, d.default_real())
    rule.check(array._element.dtype)
    return array


def _check_norm(rule: Rule, norm: object) -> None:
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(
            f"{rule.name}: expected norm 'backward', 'ortho' or 'forward', got {norm!r}"
        )


def _count(rule: Rule, have: Extent, n: object) -> Extent:
    """Return how many elements are transformed along an axis."""
    if n is not None:
        return _at_least_one(index(n), rule.name)  # type: ignore[arg-type]  # the call is the check
    if rule not in _FROM_HALF:
        return _at_least_one(have, rule.name)
    _at_least_one(_less_one(have), rule.name)  # what it stands for has elements
    return extent(2 * _less_one(_no_less(have, 2)))


def _less_one(n: Extent) -> Extent:
    return max(n - 1, 0) if type(n) is int else n - 1


def _at_least_one(n: Extent, what: str) -> Extent:
    largest = n.get_interval()[1] if isinstance(n, Dimension) else n
    if largest is not None and largest < 1:
        raise ValueError(f"{what}: expected one element or more, got {n}")
    return _no_less(n, 1)


def _no_less(n: Extent, least: int) -> Extent:
    """Return an unknown extent without the lengths below the least; a known one as it is."""
    return n if type(n) is int else merge(n, Dimension(least, None))


def _half(n: Extent) -> Extent:
    """Return how many frequencies a real signal of ``n`` elements has."""
    return extent(n // 2 + 1)


def _frequencies(
    rule: Rule, n: Extent, count: Extent, spacing: float, dtype: object, device: object
) -> Array:
    result = d.default_real() if dtype is None else d.as_dtype(dtype)
    rule.check(result)
    where = resolve(device)[1]
    if type(n) is not int and where.backend != "abstract":
        raise TypeError(f"{rule.name}: expected an integer, got the unknown length {n}")
    known = n if type(n) is int else None
    return create(rule, Spec((count,), result), where, n=known, d=float(spacing))


def _shifted(rule: Rule, x: object, axes: object) -> Array:
    array = as_array(x, rule.name)
    rule.check(array._element.dtype)
    chosen = normalize_axes(axes, array.ndim, rule.name)
    return apply(rule, (array,), array.dims, array._element.dtype, axes=chosen)
