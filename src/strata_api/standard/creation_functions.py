"""Creation functions: arrays from numbers, from Python objects and from other libraries' arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import index
from typing import Literal

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._apply import (
    apply,
    arrays_of,
    as_array,
    converted,
    copied,
    create,
    filled,
    fresh,
    joined,
    operands,
    taken_in,
    viewed,
)
from strata_api._array import Array
from strata_api._context import is_strict, running_now
from strata_api._dimension import Dimension, Extent, ceildiv, extent
from strata_api._dtypes import SCALARS, DType, Scalar
from strata_api._shape import Shape, ShapeLike, as_extent, as_shape
from strata_api._view import expanded, with_new_axes
from strata_api.backends import backend_of, get_backend, resolve
from strata_api.backends.protocol import Backend, Device, Spec


def arange(
    start: float | Dimension,
    /,
    stop: float | Dimension | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: object = None,
) -> Array:
    """Return numbers at equal distances, from ``start`` up to but without ``stop``.

    Shape: one axis of ``ceil((stop - start) / step)``, or 0; an interval where a bound is one.
    Dtype: given, or the default integer dtype if all three are integers, else the default real one.
    Raises: ``ValueError`` for a step of 0 or bounds that are not finite, ``TypeError`` for no real
    number, ``OverflowError`` for integers out of the dtype's range.
    Source: the standard, ``arange``.
    """
    if stop is None:
        start, stop = 0, start
    first, last = _bound(start, "start"), _bound(stop, "stop")
    by = _real(step, "arange: step")
    if by == 0:
        raise ValueError("arange: expected a step other than 0, got 0")
    whole = isinstance(by, int) and not isinstance(first, float) and not isinstance(last, float)
    default = d.default_integral if whole else d.default_real
    result = default() if dtype is None else d.as_dtype(dtype)
    rules.ARANGE.check(result)
    count = _count(first, last, by)
    begin = first.min_length if isinstance(first, Dimension) else first
    where = _resolved(device)
    numbers = _progression(begin, by, count, result, get_backend(where.backend))
    return create(rules.ARANGE, Spec((count,), result), where, *numbers)


def asarray(
    obj: object,
    /,
    *,
    dtype: DType | None = None,
    device: object = None,
    copy: bool | None = None,
) -> Array:
    """Return an array of what ``obj`` holds.

    An Array comes back as it is if nothing changes. A NumPy or JAX array keeps its backend unless
    ``device`` or a bound namespace says otherwise; a NumPy array's memory is shared and written
    through, a JAX array is copied at the first write.

    Shape: that of ``obj``; of nested sequences, their lengths.
    Dtype: given, or that of ``obj``; of Python numbers, the default one of the widest kind.
    Raises: ``TypeError`` for what holds no numbers and for complex numbers in a real dtype,
    ``OverflowError`` for an integer out of the dtype's range, ``ValueError`` for a ragged sequence
    and where ``copy=False`` cannot be kept.
    Source: the standard, ``asarray``.
    """
    wanted = None if dtype is None else d.as_dtype(dtype)
    if obj.__class__ is Array:
        return _from_array(obj, wanted, device, copy)
    native = backend_of(obj)
    if native is not None:
        return _from_native(obj, native, wanted, device, copy)
    if isinstance(obj, _PYTHON):
        if copy is False:
            raise ValueError(f"asarray: copy=False cannot be kept for a {type(obj).__name__}")
        return _from_python(obj, wanted, device)
    host = d.exported_array(obj, None if copy else copy)
    if host is None and isinstance(obj, Sequence) and not isinstance(obj, str):
        return _from_python(list(obj), wanted, device)
    if host is None:
        raise TypeError(f"asarray: expected numbers or an array, got {type(obj).__name__}")
    return _from_native(host, get_backend("numpy"), wanted, _resolved(device), copy)


def empty(shape: ShapeLike, *, dtype: DType | None = None, device: object = None) -> Array:
    """Return an array whose elements are not set.

    Shape: given.
    Dtype: given, or the default real one.
    Raises: ``ValueError`` for a negative extent.
    Source: the standard, ``empty``.
    """
    return create(rules.EMPTY, _spec(shape, dtype), _resolved(device))


def empty_like(x: Array, /, *, dtype: DType | None = None, device: object = None) -> Array:
    """Return an array like ``x`` whose elements are not set.

    Shape: that of ``x``.
    Dtype: given, or that of ``x``.
    Source: the standard, ``empty_like``.
    """
    spec, where = _like(x, dtype, device, "empty_like")
    return create(rules.EMPTY, spec, where)


def eye(
    n_rows: Extent,
    n_cols: Extent | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: object = None,
) -> Array:
    """Return a matrix of zeros with ones on a diagonal.

    Shape: ``(n_rows, n_cols)``; square if ``n_cols`` is not given.
    Dtype: given, or the default real one.
    Raises: ``ValueError`` for a negative extent.
    Source: the standard, ``eye``.
    """
    spec = _spec((n_rows, n_rows if n_cols is None else n_cols), dtype)
    rules.EYE.check(spec.dtype)
    return create(rules.EYE, spec, _resolved(device), k=_diagonal(k, spec.shape))


def from_dlpack(x: object, /, *, device: object = None, copy: bool | None = None) -> Array:
    """Return the data of an object with a ``__dlpack__`` method.

    The memory is shared where it can be: on NumPy with what lies in host memory. An array of a
    library that is no backend goes to the default backend.

    Shape: that of ``x``.
    Dtype: that of ``x``.
    Raises: ``AttributeError`` for an object without DLPack, ``BufferError`` (the object's own)
    where the data cannot be exported, ``ValueError`` where ``copy=False`` cannot be kept.
    Source: the standard, ``from_dlpack``.
    """
    if x.__class__ is Array or backend_of(x) is not None:
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise AttributeError(
            f"from_dlpack: expected an object with __dlpack__ and __dlpack_device__, "
            f"got {type(x).__name__}"
        )
    where = _resolved(device)
    backend = get_backend(where.backend)
    return taken_in(backend.take_in(d.dlpack_array(x, copy), where, copy), backend)


def full(
    shape: ShapeLike,
    fill_value: Scalar | Array,
    *,
    dtype: DType | None = None,
    device: object = None,
) -> Array:
    """Return an array that holds one value everywhere. The value may be a 0-d array.

    Shape: given.
    Dtype: given, or the default one of the value's kind.
    Raises: ``TypeError`` for a complex value in a real dtype, ``OverflowError`` for an integer out
    of the dtype's range, ``ValueError`` for a negative extent.
    Source: the standard, ``full``.
    """
    value = _fill_value(fill_value, "full")
    if dtype is not None:
        dtype = d.as_dtype(dtype)
    else:
        dtype = value._element.dtype if isinstance(value, Array) else d.default_for(value)
    if device is None and isinstance(value, Array):
        device = value.device
    return _filled(Spec(as_shape(shape), dtype), value, _resolved(device), "full")


def full_like(
    x: Array,
    /,
    fill_value: Scalar | Array,
    *,
    dtype: DType | None = None,
    device: object = None,
) -> Array:
    """Return an array like ``x`` that holds one value everywhere. The value may be a 0-d array.

    Shape: that of ``x``.
    Dtype: given, or that of ``x``.
    Raises: ``TypeError`` for a complex value in a real dtype, ``OverflowError`` for an integer out
    of the dtype's range.
    Source: the standard, ``full_like``.
    """
    spec, where = _like(x, dtype, device, "full_like")
    return _filled(spec, _fill_value(fill_value, "full_like"), where, "full_like")


def linspace(
    start: complex | Array,
    stop: complex | Array,
    /,
    num: Extent,
    *,
    dtype: DType | None = None,
    device: object = None,
    endpoint: bool = True,
) -> Array:
    """Return ``num`` numbers at equal distances from ``start`` to ``stop``.

    Shape: one axis of ``num``.
    Dtype: given, or the default complex one if a bound is complex, else the default real one; an
    integer dtype takes what is computed in floating point, rounded down.
    Raises: ``ValueError`` for a negative ``num``, ``TypeError`` for complex bounds in a real dtype.
    Source: the standard, ``linspace``.
    """
    bounds = [_fill_value(bound, "linspace") for bound in (start, stop)]
    is_complex = any(_is_complex(bound) for bound in bounds)
    default = d.default_complex if is_complex else d.default_real
    result = default() if dtype is None else d.as_dtype(dtype)
    rules.LINSPACE.check(result)
    if is_complex and result not in d.COMPLEX:
        raise TypeError(f"linspace: complex bounds do not go into {result}")
    where = _resolved(device)
    backend = get_backend(where.backend)
    wide = d.complex128 if result in d.COMPLEX else d.float64
    numbers = [_as_operand(bound, wide, backend, "linspace") for bound in bounds]
    spec = Spec((as_extent(num),), result)
    return create(rules.LINSPACE, spec, where, *numbers, endpoint=bool(endpoint))


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Return the coordinates of a grid, one array for each of its axes.

    Shape: of each, the lengths of all; the first two swapped if ``indexing`` is ``"xy"``.
    Dtype: of each, its own.
    Raises: ``ValueError`` for an array of two axes or more, or another ``indexing``.
    Source: the standard, ``meshgrid``.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing 'xy' or 'ij', got {indexing!r}")
    if not arrays:
        return ()
    xs = [as_array(x, "meshgrid") for x in operands("meshgrid", *arrays)]
    for x in xs:
        if x.ndim > 1:
            raise ValueError(f"meshgrid: expected arrays of one axis, got shape {x.shape}")
    places = list(range(len(xs)))
    if indexing == "xy":
        places[:2] = reversed(places[:2])
    lengths = [x.dims[0] if x.ndim else 1 for x in xs]
    shape = tuple([lengths[place] for place in places])
    return tuple([_along(x, place, shape) for x, place in zip(xs, places, strict=True)])


def ones(shape: ShapeLike, *, dtype: DType | None = None, device: object = None) -> Array:
    """Return an array of ones.

    Shape: given.
    Dtype: given, or the default real one.
    Raises: ``ValueError`` for a negative extent.
    Source: the standard, ``ones``.
    """
    return _filled(_spec(shape, dtype), 1, _resolved(device), "ones")


def ones_like(x: Array, /, *, dtype: DType | None = None, device: object = None) -> Array:
    """Return an array of ones like ``x``.

    Shape: that of ``x``.
    Dtype: given, or that of ``x``.
    Source: the standard, ``ones_like``.
    """
    spec, where = _like(x, dtype, device, "ones_like")
    return _filled(spec, 1, where, "ones_like")


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Return the matrices of a stack with zeros above diagonal ``k``.

    Shape: that of ``x``.
    Dtype: that of ``x``.
    Raises: ``ValueError`` for fewer than two axes.
    Source: the standard, ``tril``.
    """
    return _triangle(rules.TRIL, x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Return the matrices of a stack with zeros below diagonal ``k``.

    Shape: that of ``x``.
    Dtype: that of ``x``.
    Raises: ``ValueError`` for fewer than two axes.
    Source: the standard, ``triu``.
    """
    return _triangle(rules.TRIU, x, k)


def zeros(shape: ShapeLike, *, dtype: DType | None = None, device: object = None) -> Array:
    """Return an array of zeros.

    Shape: given.
    Dtype: given, or the default real one.
    Raises: ``ValueError`` for a negative extent.
    Source: the standard, ``zeros``.
    """
    return create(rules.ZEROS, _spec(shape, dtype), _resolved(device))


def zeros_like(x: Array, /, *, dtype: DType | None = None, device: object = None) -> Array:
    """Return an array of zeros like ``x``.

    Shape: that of ``x``.
    Dtype: given, or that of ``x``.
    Source: the standard, ``zeros_like``.
    """
    spec, where = _like(x, dtype, device, "zeros_like")
    return create(rules.ZEROS, spec, where)


# -- shapes, dtypes and devices that are asked for ------------------------------------------------


def _spec(shape: object, dtype: object) -> Spec:
    return Spec(as_shape(shape), d.default_real() if dtype is None else d.as_dtype(dtype))


def _resolved(device: object) -> Device:
    return resolve(device)[1]


def _like(x: object, dtype: object, device: object, what: str) -> tuple[Spec, Device]:
    array = as_array(x, what)
    wanted = array._element.dtype if dtype is None else d.as_dtype(dtype)
    return Spec(array.dims, wanted), array.device if device is None else _resolved(device)


# -- numbers --------------------------------------------------------------------------------------


def _real(value: object, what: str) -> int | float:
    """Return a real number that a user gave as a Python int or float."""
    if hasattr(value, "__index__") and not isinstance(value, Array):
        return index(value)
    if not hasattr(value, "__float__") or isinstance(value, complex):
        raise TypeError(f"{what}: expected a real number, got {value!r}")
    if isinstance(value, Array) and value._element.dtype in d.INTEGER_OR_BOOLEAN:
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{what}: expected a finite number, got {number}")
    return number


def _bound(value: object, what: str) -> int | float | Dimension:
    if isinstance(value, Dimension):
        return extent(value)
    return _real(value, f"arange: {what}")


def _count(
    start: int | float | Dimension, stop: int | float | Dimension, step: int | float
) -> Extent:
    """Return how many numbers lie from ``start`` to ``stop``."""
    if isinstance(start, Dimension) or isinstance(stop, Dimension):
        return _unknown_count(start, stop, step)
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return len(range(start, stop, step))
    return max(math.ceil((stop - start) / step), 0)


def _unknown_count(
    start: int | float | Dimension, stop: int | float | Dimension, step: int | float
) -> Extent:
    """Return the count where a bound is an unknown length: both must be lengths then."""
    if isinstance(start, float) or isinstance(stop, float) or not isinstance(step, int):
        raise TypeError("arange: beside an unknown length all bounds must be integers")
    if step < 0:
        start, stop, step = stop, start, -step
    if isinstance(start, int) and start < 0:
        start, stop = 0, stop + -start
    if isinstance(stop, int) and stop <= 0:
        return 0
    return ceildiv(extent(Dimension(stop) - Dimension(start)), step)


def _progression(
    start: int | float, step: int | float, count: Extent, dtype: DType, backend: Backend
) -> list[Array]:
    """Return start and step as operands of the dtype to count in: the widest of their kind.

    Raises: ``OverflowError`` for an integer dtype that does not hold the first or the last number.
    """
    most = count if isinstance(count, int) else count.min_length
    last = start + max(most - 1, 0) * step
    if most and dtype in d.INTEGER:
        low, high = d.bounds(dtype)
        if not (low <= start <= high and low <= int(last) <= high):
            raise OverflowError(
                f"arange: {dtype} holds {low}..{high}, got numbers from {start} to {last}"
            )
    wide = d.float64
    if isinstance(start, int) and isinstance(step, int):
        low, high = d.bounds(d.int64)
        if low <= min(start, last, step) and max(start, last, step) <= high:
            wide = d.int64
        elif dtype == d.uint64:
            wide = d.uint64
            step %= 2**64  # adding it wraps, which is what a negative step has to do
    return [filled(number if most else 0, wide, backend, "arange") for number in (start, step)]


def _fill_value(value: object, what: str) -> Scalar | Array:
    """Return a number that a user gave: a Python one, or a 0-d array."""
    if isinstance(value, SCALARS) and backend_of(value) is None:
        return value
    array = as_array(value, what)
    if array.ndim:
        raise TypeError(f"{what}: expected a number or a 0-d array, got shape {array.shape}")
    return array


def _is_complex(value: Scalar | Array) -> bool:
    if isinstance(value, Array):
        return value._element.dtype in d.COMPLEX
    return isinstance(value, complex)


def _as_element(value: Scalar, dtype: DType, what: str) -> Scalar:
    """Return a Python number as an element of ``dtype``: of its kind, and rounded."""
    if dtype == d.bool_:
        return bool(value)
    if isinstance(value, complex) and dtype not in d.COMPLEX:
        raise TypeError(f"{what}: a complex number does not go into {dtype}")
    if dtype in d.INTEGER:
        return int(value)  # type: ignore[arg-type]  # not complex, as was checked
    number = complex(value) if dtype in d.COMPLEX else float(value)  # type: ignore[arg-type]
    if dtype in (d.float64, d.complex128):
        return number
    rounded = d.host_array(number, dtype)
    return complex(rounded) if dtype in d.COMPLEX else float(rounded)


def _as_operand(value: Scalar | Array, dtype: DType, backend: Backend, what: str) -> Array:
    """Return a number as a 0-d array of a backend and dtype."""
    if isinstance(value, Array):
        if value._element.backend is not backend:
            value = value.to_device(backend.default_device())
        return converted(value, dtype, what)
    return filled(_as_element(value, dtype, what), dtype, backend, what)


def _filled(spec: Spec, value: Scalar | Array, where: Device, what: str) -> Array:
    operand = _as_operand(value, spec.dtype, get_backend(where.backend), what)
    return create(rules.FULL, spec, where, operand)


def _diagonal(k: object, shape: Shape) -> int:
    """Return the number of a diagonal, brought near the matrix if it lies far outside."""
    try:
        number = index(k)  # type: ignore[arg-type]  # the call is the check
    except TypeError:
        raise TypeError(f"expected an integer as the diagonal, got {k!r}") from None
    rows, columns = shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        number = min(max(number, -rows - 1), columns + 1)
    return number


def _triangle(rule: rules.Rule, x: object, k: object) -> Array:
    array = as_array(x, rule.name)
    if array.ndim < 2:
        raise ValueError(f"{rule.name}: expected two axes or more, got shape {array.shape}")
    rule.check(array._element.dtype)
    dims = array.dims
    return apply(rule, (array,), dims, array._element.dtype, k=_diagonal(k, dims))


def _along(x: Array, place: int, shape: Shape) -> Array:
    """Return ``x`` along one axis of a shape, repeated along the others."""
    if x.ndim == 0:
        x = viewed(x, with_new_axes((), (0,)))
    others = [axis for axis in range(len(shape)) if axis != place]
    column = viewed(x, with_new_axes(x.dims, others))
    return copied(viewed(column, expanded(column.dims, shape)))


# -- asarray --------------------------------------------------------------------------------------


def _refuse_copy(copy: bool | None, why: str) -> None:
    if copy is False:
        raise ValueError(f"asarray: copy=False cannot be kept: {why}")


def _from_array(x: Array, wanted: DType | None, device: object, copy: bool | None) -> Array:
    if x._element.weak is not None:  # it stands for a Python scalar
        x, wanted = copied(x), wanted or d.default_like(x._element.dtype)
    result = x
    if not _is_there(x, device):
        _refuse_copy(copy, f"{x.device} is another device")
        result = x.to_device(device)
    if wanted is not None and wanted != x._element.dtype:
        _refuse_copy(copy, f"{x.dtype} must become {wanted}")
        _check_strictly(x._element.dtype, wanted)
        result = converted(result, wanted, "asarray")
    return copied(x) if copy and result is x else result


def _is_there(x: Array, device: object) -> bool:
    """Tell whether an array is on a device; a backend's name stands for all of its devices."""
    return device is None or device == x._element.backend.name or _resolved(device) == x.device


def _check_strictly(source: DType, target: DType) -> None:
    if is_strict() and not d.can_cast(source, target):
        raise TypeError(f"asarray: {source} does not promote to {target} (strict): use astype")


def _from_native(
    obj: object, native: Backend, wanted: DType | None, device: object, copy: bool | None
) -> Array:
    """Return a backend's own array as an Array, of that backend if no device is named and no
    program of another runs."""
    if device is None and running_now() in (None, native.name):
        backend, where = native, native.default_device()
    else:
        backend, where = resolve(device)
    dtype = d.as_dtype(obj.dtype.newbyteorder("="))  # type: ignore[attr-defined]  # an array
    if wanted is None or wanted == dtype:
        buffer = backend.take_in(obj, where, copy)
        return fresh(buffer, backend.element(dtype)) if copy else taken_in(buffer, backend)
    _refuse_copy(copy, f"{dtype} must become {wanted}")
    _check_strictly(dtype, wanted)
    return converted(taken_in(backend.take_in(obj, where, None), backend), wanted, "asarray")


def _from_python(obj: object, wanted: DType | None, device: object) -> Array:
    if isinstance(obj, SCALARS):
        return _from_number(obj, wanted, device)
    kinds = _leaves(obj)  # type: ignore[arg-type]  # a sequence
    if Array in kinds or any(_may_be_traced(kind) for kind in kinds):
        return _from_array(_stacked(obj), wanted, device, None)
    if kinds <= _PLAIN:
        return _from_host(_plain_host(obj, kinds, wanted), device)
    array = _from_host(d.host_array(obj), device)
    target = d.default_like(array._element.dtype) if wanted is None else wanted
    return converted(array, target, "asarray")


def _from_host(host: d.HostArray, device: object) -> Array:
    where = _resolved(device)
    backend = get_backend(where.backend)
    return fresh(backend.take_in(host, where, True), backend.element(d.as_dtype(host.dtype)))


def _plain_host(obj: object, kinds: set[type], wanted: DType | None) -> d.HostArray:
    """Return nested sequences of Python's own numbers in host memory, in the right dtype at once.

    That way an integer too large for it raises, where NumPy's own choice would be a float.
    """
    if wanted is None:
        widest = max(kinds, key=SCALARS.index, default=float)
        return d.host_array(obj, d.default_for(widest()))
    if complex in kinds and wanted not in d.COMPLEX and wanted != d.bool_:
        raise TypeError(f"asarray: complex numbers do not go into {wanted}")
    return d.host_array(obj, wanted)


def _from_number(value: Scalar, wanted: DType | None, device: object) -> Array:
    dtype = d.default_for(value) if wanted is None else wanted
    return _filled(Spec((), dtype), value, _resolved(device), "asarray")


def _leaves(data: Sequence[object]) -> set[type]:
    """Return the types of what nested lists and tuples hold."""
    types = set(map(type, data))
    nested = types & _NESTING
    if nested:
        types -= nested
        for item in data:
            if type(item) in nested:
                types |= _leaves(item)  # type: ignore[arg-type]  # a list or a tuple
    return types


_NESTING = {list, tuple, range}
_PLAIN = set(SCALARS)
_PYTHON = (*SCALARS, list, tuple, range)


def _may_be_traced(kind: type) -> bool:
    """Tell whether a type is a backend's own array that host memory may not hold."""
    return kind.__module__.partition(".")[0] in ("jax", "jaxlib")


def _stacked(items: object) -> Array:
    """Return nested lists of arrays and numbers as one array, the numbers of the arrays' dtype."""
    arrays, dtype = arrays_of("asarray", list(_flat(items)))
    return _nested(items, iter([converted(x, dtype, "asarray") for x in arrays]))


def _flat(item: object) -> Iterator[object]:
    if not isinstance(item, list | tuple | range):
        yield item
        return
    for part in item:
        yield from _flat(part)


def _nested(item: object, leaves: Iterator[Array]) -> Array:
    if not isinstance(item, list | tuple | range):
        return next(leaves)
    rows = [_nested(part, leaves) for part in item]
    if not rows:
        raise ValueError("asarray: expected sequences of equal lengths, got an empty one")
    return joined([viewed(row, with_new_axes(row.dims, (0,))) for row in rows], 0, "asarray")
