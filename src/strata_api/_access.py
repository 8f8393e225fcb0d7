"""Reading and writing an array through a key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from strata_api import _dtypes as d
from strata_api._apply import (
    apply_many,
    as_array,
    binary,
    cast,
    check_exponent,
    copied,
    filled,
    fresh,
    from_data,
    is_array,
    lifted,
    operands,
    paired,
    promoted,
    viewed,
)
from strata_api._dimension import Dimension, extent
from strata_api._dtypes import SCALARS, DType, Scalar
from strata_api._index import (
    Index,
    Item,
    Lookup,
    Position,
    checked_position,
    mask_shape,
    parse,
    simple_step,
)
from strata_api._rules import NONZERO, POW, Rule
from strata_api._shape import Shape, broadcast, may_be, shown, size
from strata_api._view import Affine, Reshape, View, permuted, whole, without_axes
from strata_api.backends import backend_of
from strata_api.backends.protocol import Backend, Spec

if TYPE_CHECKING:
    from strata_api._array import Array


class NoAlias(NamedTuple):
    """A source of a write that its writer promised does not overlap the target."""

    source: Any


def getitem(x: Array, key: object) -> Array:
    """Return ``x[key]``: a view for a basic key, a fresh array for index arrays and masks.

    Raises: ``IndexError`` for a bad key.
    """
    step = _simple_step(x, key)
    if step is not None and step.axes:
        return viewed(x, step)
    mask = _lone_mask(x, key)
    if mask is not None:
        return _compressed(x, mask)
    found = _index(x, key)
    basic = viewed(x, found.step)
    if not found.picks:
        return copied(basic) if found.is_element else basic
    return _gathered(basic, found)


def basic_view(x: Array, key: object) -> View:
    """Return the view that ``x[key]`` has."""
    return x._view.then(_index(x, key).step)


def setitem(x: Array, key: object, value: object) -> None:
    """Do ``x[key] = value``.

    Raises: ``ValueError`` for a read-only array or a value that does not broadcast, ``IndexError``
    for a bad key, ``TypeError`` for a value whose kind would be lost; each before anything is
    written.
    """
    check_writable(x)
    step = _simple_step(x, key)
    if step is not None:
        target = viewed(x, step)
        if is_array(value) and value._element is x._element:  # type: ignore[attr-defined]  # it is
            dims = value.dims  # type: ignore[attr-defined]  # an Array
            if not dims or dims == step.shape:  # as it is
                x._element.backend.assign(target, value)
                return
        assign(target, value)
        return
    mask = _lone_mask(x, key)
    if mask is not None:
        fitted = mask_shape(mask.dims, x.dims)
        source = _source(x, value, (_unknown_count(size(fitted)), *x.dims[mask.ndim :]))
        if 0 not in fitted:
            x._element.backend.put_where(x, mask, source)
        return
    if type(key) is tuple and _put_at_traced_mask(x, key, value):
        return
    found = _index(x, key)
    basic = viewed(x, found.step)
    if not found.picks:
        assign(basic, value)
        return
    picked, arrays, shape = _leading(basic, found)
    source = _source(x, value, _result_shape(found, shape, basic.dims))
    source = _leading_source(source, found, len(shape), len(basic.dims) - len(found.picks))
    try:
        x._element.backend.scatter(picked, arrays, source)
    except IndexError as error:
        raise _out_of_range(found, error) from None


def _put_at_traced_mask(x: Array, key: tuple[Any, ...], value: object) -> bool:
    """Write at a mask whose elements are not known, if the key is one among slices."""
    masks = [k for k, item in enumerate(key) if is_array(item) and item._element.dtype == d.bool_]
    if len(masks) != 1:
        return False
    (place,) = masks
    mask = key[place]
    backend = x._element.backend
    others = [item for k, item in enumerate(key) if k != place and item is not Ellipsis]
    if not mask.ndim or mask._element.backend is not backend or backend.is_concrete(mask):
        return False
    if not all(item is None or type(item) is slice for item in others):
        return False
    filled_in = (*key[:place], *(slice(None),) * mask.ndim, *key[place + 1 :])
    dots = Ellipsis in [item for item in key[:place] if item is None or item is Ellipsis]
    basic = viewed(x, _index(x, filled_in).step)
    behind = sum(item is not Ellipsis for item in key[place + 1 :])
    at = basic.ndim - behind - mask.ndim if dots else place
    fitted = mask_shape(mask.dims, basic.dims[at : at + mask.ndim])
    rest = [axis for axis in range(basic.ndim) if not at <= axis < at + mask.ndim]
    inside = list(range(at, at + mask.ndim))
    count = (_unknown_count(size(mask.dims)),)
    target = viewed(basic, permuted(basic.dims, inside + rest))
    shape = target.dims[mask.ndim :]
    source = _source(x, value, shape[:at] + count + shape[at:])
    source = _leading_source(source, Index(whole(()), (), at, False), 1, len(rest))
    if 0 not in fitted:
        backend.put_where(target, mask, source)
    return True


def assign(x: Array, value: object) -> None:
    """Write ``value``, broadcast, into every element of ``x``. Raises: as ``setitem``."""
    check_writable(x)
    x._element.backend.assign(x, _source(x, value, x.dims))


def update(rule: Rule, x: Array, other: object) -> Array:
    """Do ``x = rule(x, other)`` in place and return ``x``.

    Raises: as ``setitem``; ``ValueError`` if the result has another shape than ``x``.
    """
    if _updated(rule, x, other):
        return x
    if x._element.weak is not None:  # it stands for a Python scalar, which never changes
        return binary(rule, x, other)
    check_writable(x)
    if is_array(other):
        other = lifted(other, x._element.backend, rule.name)  # type: ignore[arg-type]
    found = operands(rule.name, x, other)
    dtype = promoted(found)
    rule.check(dtype)
    result = rule.result.dtype(dtype)
    check_kind(result, x._element.dtype, f"in-place {rule.name}")
    if rule is POW:
        check_exponent(*found)
    second = (paired(rule, x, found[1]) or found)[1]
    if not is_array(second):
        second = filled(second, dtype, x._element.backend, rule.name)  # type: ignore[arg-type]  # a scalar
    shape = broadcast(x.dims, second.dims, what=f"in-place {rule.name}")  # type: ignore[union-attr]
    if len(shape) != x.ndim or not all(map(may_be, shape, x.dims)):
        raise ValueError(
            f"in-place {rule.name}: the result of shape {shown(shape)} does not fit into "
            f"shape {shown(x.dims)}"
        )
    pair = cast(x, dtype), cast(second, dtype)  # type: ignore[arg-type]  # an array by now
    x._element.backend.update(rule.name, Spec(shape, result), x, pair)
    return x


def _updated(rule: Rule, x: Array, other: Any) -> bool:
    """Update in place by a kernel that is known; what fails has written nothing."""
    second = other._buffer if is_array(other) else other
    known = rule.direct.get((x._element, other._element if is_array(other) else other.__class__))
    if known is None or x._buffer is None or second is None:
        return False
    kernel, element = known
    if element.dtype is not x._element.dtype:
        return False
    try:
        kernel(x._buffer, second, out=x._buffer)
    except (TypeError, ValueError, OverflowError):
        return False  # the slow path says what is wrong
    return True


# -- what is written ------------------------------------------------------------------------------


def check_writable(x: Array) -> None:
    """Raise ``ValueError`` for a read-only array."""
    if x._view.readonly:
        raise ValueError("assignment to a read-only array: take a copy with asarray(x, copy=True)")


_RANK = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def check_kind(source: DType, target: DType, what: str) -> None:
    """Raise ``TypeError`` if a value of ``source`` would lose its kind in ``target``."""
    if source == target:
        return
    source_kind, target_kind = d.kind(source), d.kind(target)
    if "narrow" in (source_kind, target_kind) or _RANK[source_kind] > _RANK[target_kind]:
        raise TypeError(f"{what}: {source} does not go into {target}; convert it with astype")


def _source(x: Array, value: object, shape: Shape) -> Array:
    """Return what is written as an array of x's backend and dtype that broadcasts to ``shape``."""
    dtype = x._element.dtype
    backend = x._element.backend
    if isinstance(value, NoAlias):
        value = value.source
    if isinstance(value, SCALARS) and not is_array(value):
        _check_scalar(value, dtype)
        return filled(_as_kind(value, dtype), dtype, backend)
    if isinstance(value, list | tuple):
        value = from_data(value, backend)
    array = lifted(as_array(value, "assignment", backend), backend, "assignment")
    check_kind(array.dtype, dtype, "assignment")
    return cast(_without_leading_ones(array, shape), dtype)


def _check_scalar(value: Scalar, dtype: DType) -> None:
    rank = next(rank for rank, kind in enumerate(SCALARS) if isinstance(value, kind))
    kind = d.kind(dtype)
    if kind != "narrow" and rank > _RANK[kind]:
        raise TypeError(
            f"assignment: a Python {SCALARS[rank].__name__} does not go into an array of {dtype}"
        )


def _as_kind(value: Scalar, dtype: DType) -> Scalar:
    return bool(value) if dtype == d.bool_ else value


def _without_leading_ones(value: Array, shape: Shape) -> Array:
    """Return a value that broadcasts to ``shape``; extra axes of extent 1 in front are dropped."""
    extra = value.ndim - len(shape)
    if extra > 0 and all(n == 1 for n in value.dims[:extra]):
        value = viewed(value, without_axes(value.dims, range(extra)))
    try:
        result = broadcast(value.dims, shape)
    except ValueError:
        result = ()
    if len(result) != len(shape) or not all(map(may_be, result, shape)):
        raise ValueError(
            f"assignment: a value of shape {shown(value.dims)} does not broadcast to {shown(shape)}"
        )
    return value


# -- keys -----------------------------------------------------------------------------------------


def _simple_step(x: Array, key: object) -> Affine | None:
    try:
        return simple_step(key if type(key) is tuple else (key,), x.dims)
    except (TypeError, ValueError):
        return None  # a slice of what is no integer, or of step 0: the slow path says so


def _index(x: Array, key: object) -> Index:
    return parse(key, x.dims, partial(_classify, x._element.backend), _nonzero)


def _classify(backend: Backend, item: object) -> Item:
    if item is None:
        return None
    if type(item) is slice:
        return _integer_slice(item)
    if is_array(item):
        array: Array = item  # type: ignore[assignment]  # the test says so
    elif isinstance(item, bool):
        return Lookup(filled(item, d.bool_, backend), True)
    elif hasattr(item, "__index__") and backend_of(item) is None:
        return index(item)
    else:
        array = _index_array(backend, item)
    if array._element.backend is not backend:
        array = fresh(
            backend.take_in(array.__array__(), backend.default_device(), None),
            backend.element(array._element.dtype),
        )
    if array._element.dtype == d.bool_:
        return Lookup(array, True)
    if array._element.dtype not in d.INTEGER:
        raise IndexError(f"expected an integer or boolean array as an index, got {array.dtype}")
    if array.ndim == 0:
        return _position(backend, array)
    return Lookup(array, False)


def _position(backend: Backend, array: Array) -> int | Position:
    return Position(partial(backend.position, array))


def _integer_slice(item: slice) -> slice:
    bounds = []
    for bound in (item.start, item.stop, item.step):
        if bound is not None and not hasattr(bound, "__index__"):
            raise TypeError(f"slice bounds: expected integers or None, got {bound!r}")
        if is_array(bound) or backend_of(bound) is not None:
            array = as_array(bound, "slice bounds")
            if not array._element.backend.is_concrete(array):
                raise TypeError(
                    "slice bounds: expected integers that are known, got one that is not, so the "
                    "slice has no length: use views.block(x, sizes, corner)"
                )
        bounds.append(None if bound is None else index(bound))
    if bounds[2] == 0:
        raise ValueError("slice step cannot be zero")
    return slice(*bounds)


def _index_array(backend: Backend, item: object) -> Array:
    if backend_of(item) is not None:
        return as_array(item, "index", backend)
    if not isinstance(item, Sequence) or isinstance(item, str | bytes):
        raise IndexError(
            f"expected integers, slices, '...', None, or integer or boolean arrays as an index, "
            f"got {item!r}"
        )
    array = from_data(item, backend)
    return cast(array, d.int64) if array.dims == (0,) else array


def _nonzero(mask: Array, shape: Shape) -> Sequence[Array]:
    if mask.ndim == 0:
        mask = viewed(mask, Reshape((), (1,)))
    spec = Spec((_unknown_count(size(shape)),), d.int64)
    return apply_many(NONZERO, (mask,), (spec,) * mask.ndim)


def _unknown_count(most: Any) -> Any:
    if isinstance(most, Dimension):
        return extent(Dimension(0, most.get_interval()[1]))
    return extent(Dimension(0, most))


def _lone_mask(x: Array, key: object) -> Array | None:
    """Return the mask if the key is one mask with axes, which has faster ways than a key."""
    if type(key) is tuple and len(key) == 1:
        (key,) = key
    if not is_array(key) or key._element.dtype != d.bool_ or key.ndim == 0:  # type: ignore[attr-defined]
        return None
    mask: Array = key  # type: ignore[assignment]  # the test says so
    if mask._element.backend is not x._element.backend:
        return None
    return mask


def _compressed(x: Array, mask: Array) -> Array:
    shape = (_unknown_count(size(mask_shape(mask.dims, x.dims))), *x.dims[mask.ndim :])
    dtype = x._element.dtype
    backend = x._element.backend
    return fresh(backend.compress(x, mask, Spec(shape, dtype)), backend.element(dtype))


# -- index arrays ---------------------------------------------------------------------------------


def _leading(basic: Array, found: Index) -> tuple[Array, list[Array], Shape]:
    """Return the view with the picked axes in front, the index arrays, and their joint shape."""
    axes = [pick.axis for pick in found.picks]
    rest = [axis for axis in range(basic.ndim) if axis not in axes]
    arrays = [pick.array for pick in found.picks]
    try:
        shape = broadcast(*[array.dims for array in arrays], what="index arrays")
    except ValueError as error:
        raise IndexError(str(error)) from None
    return viewed(basic, permuted(basic.dims, axes + rest)), arrays, shape


def _result_shape(found: Index, shape: Shape, basic: Shape) -> Shape:
    axes = [pick.axis for pick in found.picks]
    rest = tuple([n for axis, n in enumerate(basic) if axis not in axes])
    return rest[: found.at] + shape + rest[found.at :]


def _gathered(basic: Array, found: Index) -> Array:
    picked, arrays, shape = _leading(basic, found)
    rest = picked.dims[len(arrays) :]
    dtype = basic._element.dtype
    backend = basic._element.backend
    try:
        buffer = backend.gather(picked, arrays, Spec(shape + rest, dtype))
    except IndexError as error:
        raise _out_of_range(found, error) from None
    result = fresh(buffer, backend.element(dtype))
    if found.at == 0 or not shape:
        return result
    k, at = len(shape), found.at
    order = [*range(k, k + at), *range(k), *range(k + at, k + len(rest))]
    return copied(viewed(result, permuted(result.dims, order)))


def _out_of_range(found: Index, error: IndexError) -> IndexError:
    """Return the error of a backend in the caller's words: the axis is that of the array."""
    for pick in found.picks:
        for axis, _ in found.step.axes[pick.axis].moves:
            host = pick.array._element.backend.to_numpy(pick.array, None)
            for position in (host.min(), host.max()) if host.size else ():
                try:
                    checked_position(int(position), found.step.base[axis], axis)
                except IndexError as worded:
                    return worded
    return error


def _leading_source(source: Array, found: Index, k: int, rest: int) -> Array:
    """Return the value with the axes of the index arrays in front, as ``scatter`` takes it."""
    missing = k + rest - source.ndim
    if found.at == 0 or source.ndim == 0:
        return source
    if missing:
        source = viewed(source, Reshape(source.dims, (1,) * missing + source.dims))
    at = found.at
    order = [*range(at, at + k), *range(at), *range(at + k, k + rest)]
    return viewed(source, permuted(source.dims, order))
