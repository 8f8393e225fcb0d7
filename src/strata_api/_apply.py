"""The families: what functions of one kind have in common.

A family finds which backend, dtype and shape a result has, before any data moves, and then asks the
backend. It builds arrays of the one class that `_array.py` names with `adopt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from strata_api import _dtypes as d
from strata_api._context import is_strict, running_now
from strata_api._dimension import extent
from strata_api._dtypes import SCALARS, DType, NDArray, Scalar
from strata_api._rules import (
    ABS,
    ACCUMULATED,
    ADD,
    ASTYPE,
    CONCAT,
    COPY,
    DIVIDE,
    EQUAL,
    FLOOR_DIVIDE,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MATMUL,
    MULTIPLY,
    NEGATIVE,
    NOT_EQUAL,
    POSITIVE,
    POW,
    REMAINDER,
    SUBTRACT,
    Rule,
)
from strata_api._shape import Shape, broadcast, may_be, merge, normalize_axes, reduced, shown
from strata_api._view import WHOLE, Affine, Step, View
from strata_api.backends import backend_of, get_backend
from strata_api.backends.protocol import Backend, Buffer, Device, Element, Spec

if TYPE_CHECKING:
    from strata_api._array import Array

Operand: TypeAlias = "Array | Scalar"

_new: Any = None  # the array class, told once by `adopt`


def adopt(array_type: type) -> None:
    """Take the class that results have."""
    global _new  # told once, when the class exists
    _new = array_type


# -- building arrays ------------------------------------------------------------------------------


def fresh(buffer: Buffer, element: Element, view: View = WHOLE, owned: bool = True) -> Array:
    """Return an array over a buffer of its own."""
    array: Array = _new()
    array._element = element
    array._lazy_view = view
    if element.backend.aliases:
        array._buffer = buffer
        array._lazy_storage = None
    else:
        array._buffer = None
        array._lazy_storage = element.backend.storage(buffer, element, owned)
    return array


def viewed(x: Array, step: Step, readonly: bool = False) -> Array:
    """Return the view of ``x`` through one step more. Moves no data."""
    array: Array = _new()
    element = x._element
    backend = element.backend
    array._element = element.loose
    if x._buffer is not None and type(step) is Affine and not readonly:
        array._buffer = step.read(x._buffer, backend)
        array._lazy_storage = None
        array._lazy_view = x, step
        return array
    view = x._view.then(step)
    array._lazy_view = view.protected() if readonly else view
    array._lazy_storage = x._storage
    array._buffer = None
    if x._buffer is not None and view.layout(backend.strides(x._storage)) is not None:
        array._buffer = step.read(x._buffer, backend)
        if readonly:
            array._buffer = backend.protected(array._buffer)
    return array


# -- operands -------------------------------------------------------------------------------------


def is_array(x: object) -> bool:
    """Tell whether ``x`` is an Array."""
    return x.__class__ is _new


def as_array(x: object, what: str, like: Backend | None = None) -> Array:
    """Return ``x`` as an Array: itself, or a foreign array taken in by ``like`` or its own backend.

    Raises: ``TypeError`` for what is no array.
    """
    if x.__class__ is _new:
        return x  # type: ignore[return-value]  # the test says so
    backend = backend_of(x)
    if backend is None:
        raise TypeError(f"{what}: expected an array, got {_described(x)}")
    backend = like or backend
    buffer = backend.take_in(x, backend.default_device(), None)
    return taken_in(buffer, backend)


def taken_in(buffer: Buffer, backend: Backend) -> Array:
    """Return an array over a buffer that somebody else may hold too."""
    dtype = d.as_dtype(backend.spec(buffer).dtype)
    element = backend.element(dtype).loose
    if backend.is_readonly(buffer):
        return fresh(backend.protected(buffer), element, View(readonly=True), owned=False)
    return fresh(buffer, element, owned=False)


def from_data(data: object, backend: Backend, device: Device | None = None) -> Array:
    """Return nested sequences of scalars as an array of the default dtype of their kind.

    Raises: ``TypeError`` for leaves that are no numbers, ``ValueError`` for ragged sequences.
    """
    host = d.host_array(data)
    buffer = backend.take_in(host, device or backend.default_device(), True)
    array = fresh(buffer, backend.element(host.dtype))
    return cast(array, d.default_like(host.dtype))


def _described(x: object) -> str:
    text = repr(x)
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"{type(x).__name__} {shown}"


def operands(what: str, *xs: object) -> list[Operand]:
    """Return Arrays of one backend, and Python scalars as they are.

    Raises: ``TypeError`` for two backends, for what is no array, and if there is no array at all.
    """
    backends = {x._element.backend.name for x in xs if x.__class__ is _new}  # type: ignore[attr-defined]
    if not backends:
        foreign = [backend_of(x) for x in xs if not isinstance(x, SCALARS)]
        backends = {backend.name for backend in foreign if backend is not None}
    if len(backends) > 1:
        running = running_now()
        if running not in backends:
            raise _mixed(what, *sorted(backends)[:2])
        backends = {running}
        xs = tuple([lifted(x, get_backend(running), what) if is_array(x) else x for x in xs])  # type: ignore[arg-type]
    like = get_backend(backends.pop()) if backends else None
    result: list[Operand] = []
    for x in xs:
        scalar = isinstance(x, SCALARS) and x.__class__ is not _new
        result.append(_plain(x) if scalar else as_array(x, what, like))  # type: ignore[arg-type]
    if like is None:
        raise TypeError(
            f"{what}: expected at least one array, got {', '.join(map(_described, xs))}"
        )
    return result


def lifted(x: Array, backend: Backend, what: str) -> Array:
    """Return ``x`` on a backend, if that one runs a program: the value that ``x`` has now.

    Raises: ``TypeError`` for another backend that runs none, and for an array without a value.
    """
    mine = x._element.backend
    if mine is backend:
        return x
    if running_now() != backend.name or not mine.is_concrete(x):
        raise _mixed(what, *sorted((mine.name, backend.name)))
    buffer = backend.take_in(mine.read(x), backend.default_device(), None)
    return fresh(buffer, backend.element(x._element.dtype))


def _mixed(what: str, first: str, second: str) -> TypeError:
    return TypeError(
        f"{what}: expected arrays of one backend, got {first} and {second}; "
        f"move one of them with to_device"
    )


def _plain(x: Scalar) -> Scalar:
    """Return a Python scalar for what may be a NumPy one."""
    for kind in SCALARS:
        if isinstance(x, kind):
            return kind(x)  # type: ignore[arg-type]  # the test says that it takes it
    raise TypeError(f"expected a scalar, got {_described(x)}")


def promoted(xs: Iterable[Operand]) -> DType:
    """Return the dtype that arrays and scalars promote to."""
    xs = list(xs)
    elements = [x._element for x in xs if x.__class__ is _new]  # type: ignore[union-attr]
    strong = [element for element in elements if element.weak is None] or elements
    dtype = strong[0].dtype
    for other in strong[1:]:
        dtype = d.promote(dtype, other.dtype)
    for x in xs:
        if x.__class__ is not _new:
            dtype = d.promote_scalar(dtype, x.__class__)
    if strong is not elements:
        for element in elements:
            if element.weak is not None:
                dtype = d.promote_scalar(dtype, element.weak)
    return dtype


def _like_scalars(rule: Rule, *xs: object) -> bool:
    """Tell whether a result stands for a Python scalar, since all operands do."""
    return rule in _ARITHMETIC and all(
        x.__class__ is not _new or x._element.weak is not None  # type: ignore[attr-defined]
        for x in xs
    )


_ARITHMETIC = frozenset(
    {ABS, ADD, DIVIDE, FLOOR_DIVIDE, MULTIPLY, NEGATIVE, POSITIVE, POW, REMAINDER, SUBTRACT}
)


def cast(x: Array, dtype: DType) -> Array:
    """Return ``x`` with this dtype: itself if it has it."""
    if x._element.dtype == dtype:
        return x
    return apply(ASTYPE, (x,), x.dims, dtype, to=dtype)


def converted(x: Array, dtype: DType, what: str) -> Array:
    """Return ``x`` with the dtype that a user asked for: itself if it has it.

    Raises: ``TypeError`` for complex numbers that would lose their imaginary part.
    """
    source = x._element.dtype
    if source in d.COMPLEX and dtype not in d.COMPLEX and dtype != d.bool_:
        raise TypeError(f"{what}: {source} does not go into {dtype}: take real(x) or abs(x) first")
    return cast(x, dtype)


def check_fits(value: Scalar, dtype: DType, what: str) -> None:
    """Raise ``OverflowError`` for an integer out of the dtype's range."""
    if type(value) is not int:
        return
    if dtype not in d.INTEGER:
        float(value)  # raises for what no floating-point number holds
        return
    low, high = d.bounds(dtype)
    if not low <= value <= high:
        raise OverflowError(
            f"{what}: expected an integer in {low}..{high} for {dtype}, got {value}"
        )


def filled(value: Scalar, dtype: DType, backend: Backend, what: str = "scalar") -> Array:
    """Return a 0-d array to compute with.

    Raises: ``OverflowError`` for an integer out of the dtype's range.
    """
    check_fits(value, dtype, what)
    return fresh(backend.constant(value, dtype), backend.element(dtype))


def arrays_of(what: str, xs: Sequence[object]) -> tuple[list[Array], DType]:
    """Return the operands as arrays of one backend, and their promoted dtype. Casts nothing."""
    return _all_arrays(what, operands(what, *xs))


def _all_arrays(what: str, xs: Sequence[Operand]) -> tuple[list[Array], DType]:
    dtype = promoted(xs)
    backend = next(x for x in xs if x.__class__ is _new)._element.backend  # type: ignore[union-attr]
    return [
        x if x.__class__ is _new else filled(x, dtype, backend, what=what)  # type: ignore[arg-type, misc]
        for x in xs
    ], dtype


# -- the families ---------------------------------------------------------------------------------


def apply(
    rule: Rule, xs: Sequence[Array], shape: Shape, dtype: DType | None = None, /, **params: Any
) -> Array:
    """Run a kernel on arrays of one backend; the result is a fresh array.

    Keywords are the kernel's own; a ``dtype`` among them is what it computes in.
    """
    backend = xs[0]._element.backend
    if dtype is None:
        dtype = rule.result.dtype(xs[0]._element.dtype)
    buffer = backend.call(rule.name, Spec(shape, dtype), xs, params)
    return fresh(buffer, backend.element(dtype))


def apply_many(
    rule: Rule, xs: Sequence[Array], specs: Sequence[Spec], **params: Any
) -> tuple[Array, ...]:
    """Run a kernel that returns several arrays."""
    backend = xs[0]._element.backend
    buffers = backend.call(rule.name, tuple(specs), xs, params)
    return tuple(
        [
            fresh(buffer, backend.element(spec.dtype))
            for buffer, spec in zip(buffers, specs, strict=True)
        ]
    )


def create(rule: Rule, spec: Spec, device: Device, *numbers: Array, **params: Any) -> Array:
    """Run a kernel that needs no array but 0-d ones, on a device."""
    backend = get_backend(device.backend)
    buffer = backend.call(rule.name, spec, numbers, {"spec": spec, "device": device, **params})
    return fresh(buffer, backend.element(spec.dtype))


def joined(xs: Sequence[Array], axis: int, what: str) -> Array:
    """Return arrays of one backend end to end along an axis, in the dtype they promote to.

    Raises: ``ValueError`` for arrays whose other extents differ.
    """
    dtype = promoted(xs)
    shape = xs[0].dims
    for x in xs[1:]:
        shape = _end_to_end(shape, x.dims, axis, what)
    return apply(CONCAT, [cast(x, dtype) for x in xs], shape, dtype, axis=axis)


def _end_to_end(a: Shape, b: Shape, axis: int, what: str) -> Shape:
    fits = len(a) == len(b) and all(
        k == axis or may_be(m, n) for k, (m, n) in enumerate(zip(a, b, strict=True))
    )
    if not fits:
        raise ValueError(f"{what}: shapes {shown(a)} and {shown(b)} do not join along axis {axis}")
    return tuple(
        [
            extent(m + n) if k == axis else merge(m, n)
            for k, (m, n) in enumerate(zip(a, b, strict=True))
        ]
    )


def copied(x: Array) -> Array:
    """Return a fresh array with the elements of ``x``."""
    return apply(COPY, (x,), x.dims, x._element.dtype)


def unary(rule: Rule, x: Any) -> Array:
    """Apply a kernel to each element."""
    try:
        kernel, element = rule.direct[x._element]
        buffer = x._buffer
    except (AttributeError, KeyError):
        return _unary(rule, x)
    return _unary(rule, x) if buffer is None else _finished(kernel(buffer), element)


def _unary(rule: Rule, x: object) -> Array:
    array = as_array(x, rule.name)
    given = array._element
    known = rule.programs.get(given)
    if known is not None:
        return fresh(given.backend.run(known[0], (array,)), known[1])
    rule.check(given.dtype)
    dtype = rule.result.dtype(given.dtype)
    result = given.backend.element(dtype)
    if _like_scalars(rule, array):
        answer = apply(rule, (array,), array.dims, dtype)
        answer._element = result.weakened()
        return answer
    kernel = given.backend.direct(rule.name, given.ordered)
    if kernel is not None:
        rule.direct[given] = kernel, result
    else:
        program = given.backend.program(rule.name, dtype)
        if program is not None:
            rule.programs[given] = program, result
    return apply(rule, (array,), array.dims, dtype)


def binary(rule: Rule, x1: Any, x2: Any, slow: Callable[..., Any] | None = None) -> Array:
    """Apply a kernel to each pair of elements, after broadcasting and promotion.

    ``slow`` is what to do where no kernel is known at once.
    """
    try:
        kernel, element = rule.direct[x1._element, x2._element]
    except KeyError:
        known = rule.programs.get((x1._element, x2._element))
        if known is not None:
            return _run(rule, x1, x2, *known)
        return (slow or promoting)(rule, x1, x2)
    except AttributeError:
        result = _with_scalar(rule, x1, x2)
        return (slow or promoting)(rule, x1, x2) if result is None else result
    left, right = x1._buffer, x2._buffer
    if left is None or right is None:  # a view with no strided layout
        return (slow or promoting)(rule, x1, x2)
    try:
        buffer = kernel(left, right)
    except ValueError:
        broadcast(x1.dims, x2.dims, what=rule.name)
        raise
    if buffer.__class__ is not NDArray:
        buffer = element.backend.zero_dimensional(buffer)
    array = _new()
    array._lazy_storage = None
    array._lazy_view = WHOLE
    array._buffer = buffer
    array._element = element
    return array  # type: ignore[no-any-return]  # _new is the array class


def _with_scalar(rule: Rule, x1: Any, x2: Any) -> Array | None:
    """Return the result for an array and a Python scalar whose kernel is known, or ``None``."""
    array, key = (x1, (x1._element, x2.__class__)) if x1.__class__ is _new else (x2, None)
    if array.__class__ is not _new:
        return None
    known = rule.direct.get(key or (x1.__class__, x2._element))
    buffer = array._buffer
    if known is None or buffer is None:
        return None
    kernel, element = known
    try:
        result = kernel(buffer, x2) if array is x1 else kernel(x1, buffer)
    except OverflowError:
        return None  # the slow path says what is wrong
    return _finished(result, element)


def promoting(rule: Rule, x1: Any, x2: Any) -> Array:
    """Do what `binary` does for operands of any kind."""
    pair = paired(rule, x1, x2)
    if pair is not None:
        return binary(rule, *pair)
    found = operands(rule.name, x1, x2)
    weak = _like_scalars(rule, *found)
    if rule in _HOLDS:
        answer = _foregone(rule, *found)
        if answer is not None:
            return answer
    elif rule is DIVIDE:
        found = _as_real(found)
    elif rule is POW:
        check_exponent(*found)
    (a, b), dtype = _all_arrays(rule.name, found)
    rule.check(dtype)
    shape = broadcast(a.dims, b.dims, what=rule.name)
    if not weak:
        _remember(rule, a._element, b._element)
    result = apply(rule, (cast(a, dtype), cast(b, dtype)), shape, rule.result.dtype(dtype))
    if weak:
        result._element = result._element.weakened()
    return result


def paired(rule: Rule, x1: Any, x2: Any) -> tuple[Array, Array] | None:
    """Return an array and a Python scalar that takes its dtype as two arrays, if they are that."""
    array, scalar = (x1, x2) if x1.__class__ is _new else (x2, x1)
    if array.__class__ is not _new or scalar.__class__ not in SCALARS:
        return None
    element = array._element
    if element.weak is not None or not d.context_free(element.dtype, scalar.__class__):  # type: ignore[arg-type]  # a type is
        return None
    if scalar.__class__ is int and element.dtype in d.INTEGER:
        low, high = d.bounds(element.dtype)
        if not low <= scalar <= high or rule is DIVIDE or (rule is POW and scalar < 0):
            return None
    _remember_scalar(rule, element, scalar.__class__, array is x1)
    constant = filled(scalar, element.dtype, element.backend, rule.name)
    return (array, constant) if array is x1 else (constant, array)


def _remember_scalar(rule: Rule, element: Element, kind: type, first: bool) -> None:
    """Note the kernel for an array and a scalar, where the backend's own scalars are as weak.

    The dtypes that NumPy itself does not know are not, and exponents are looked at.
    """
    if rule is POW or rule is DIVIDE or element.dtype.kind == "V":
        return
    kernel = element.backend.direct(rule.name, element.ordered)
    if kernel is not None:
        result = element.backend.element(rule.result.dtype(element.dtype))
        rule.direct[(element, kind) if first else (kind, element)] = kernel, result


def _run(rule: Rule, x1: Array, x2: Array, program: Any, element: Element) -> Array:
    try:
        buffer = element.backend.run(program, (x1, x2))
    except (TypeError, ValueError):
        broadcast(x1.dims, x2.dims, what=rule.name)
        raise
    return fresh(buffer, element)


_HOLDS = {  # comparison -> the orders of its operands for which it holds
    EQUAL: (),
    NOT_EQUAL: (-1, 1),
    LESS: (-1,),
    LESS_EQUAL: (-1,),
    GREATER: (1,),
    GREATER_EQUAL: (1,),
}


def _foregone(rule: Rule, x1: Any, x2: Any) -> Array | None:
    """Return the result of comparing integers with a Python integer out of their range.

    Every element is on one side of it. Any other comparison: ``None``.
    """
    if x1.__class__ is _new and x2.__class__ is _new:
        return None
    array, scalar = (x1, x2) if x1.__class__ is _new else (x2, x1)
    if type(scalar) is not int or array._element.dtype not in d.INTEGER:
        return None
    low, high = d.bounds(array._element.dtype)
    if low <= scalar <= high:
        return None
    order = -1 if (scalar > high) == (array is x1) else 1
    constant = EQUAL if order in _HOLDS[rule] else NOT_EQUAL  # of each element and itself
    return apply(constant, (array, array), array.dims, d.bool_)


def _as_real(xs: list[Operand]) -> list[Operand]:
    """Return what to divide: integers, which the standard leaves open, as real numbers."""
    if promoted(xs) not in d.INTEGER or is_strict():
        return xs
    real = d.default_real()
    return [cast(x, real) if x.__class__ is _new else x for x in xs]  # type: ignore[arg-type]


def check_exponent(x1: Any, x2: Any) -> None:
    """Raise ``ValueError`` for integers to a negative power, as far as it is known."""
    if promoted((x1, x2)) not in d.SIGNED:
        return
    lowest = x2
    if x2.__class__ is _new:
        if x2.size == 0 or not x2._element.backend.is_concrete(x2):
            return
        lowest = x2._element.backend.to_numpy(x2, None).min()
    if lowest < 0:
        raise ValueError(f"pow: expected exponents of 0 or more for integers, got {lowest}")


def deferred(rule: Rule, x1: object, x2: object) -> Any:
    """Do what an operator does: as the function, but leave operands of other kinds to them."""
    return NotImplemented if _is_foreign(x1) or _is_foreign(x2) else promoting(rule, x1, x2)


def deferred_matmul(x1: object, x2: object) -> Any:
    """Do what `deferred` does for the matrix product."""
    return NotImplemented if _is_foreign(x1) or _is_foreign(x2) else _multiplied(x1, x2)


def _is_foreign(x: object) -> bool:
    return x.__class__ is not _new and not isinstance(x, SCALARS) and backend_of(x) is None


def matmul(x1: Any, x2: Any, slow: Callable[..., Any] | None = None) -> Array:
    """Return the matrix product. Source: the standard, ``matmul``.

    Raises: ``TypeError`` for booleans, ``ValueError`` for a 0-d operand or extents that differ.
    """
    try:
        kernel, element = MATMUL.direct[x1._element, x2._element]
        return _finished(kernel(x1._buffer, x2._buffer), element)
    except (AttributeError, KeyError, ValueError):
        return (slow or _multiplied)(x1, x2)


def _multiplied(x1: Any, x2: Any) -> Array:
    if x1.__class__ is _new and x2.__class__ is _new:
        known = MATMUL.programs.get((x1._element, x2._element))
        if known is not None:
            _product_shape(x1.dims, x2.dims)  # raises where they do not match
            return fresh(known[1].backend.run(known[0], (x1, x2)), known[1])
    (a, b), dtype = arrays_of("matmul", (x1, x2))
    MATMUL.check(dtype)
    shape = _product_shape(a.dims, b.dims)
    working = d.working(dtype)
    if working == dtype:
        _remember(MATMUL, a._element, b._element)
    product = apply(MATMUL, (cast(a, working), cast(b, working)), shape, working)
    return cast(product, dtype)


def _product_shape(a: Shape, b: Shape) -> Shape:
    if not a or not b:
        raise ValueError(f"matmul: expected one axis or more, got {shown(a)} and {shown(b)}")
    inner = b[-2] if len(b) > 1 else b[0]
    if not may_be(a[-1], inner):
        raise ValueError(
            f"matmul: shapes {shown(a)} and {shown(b)} do not match: "
            f"the inner extents {a[-1]} and {inner} differ"
        )
    stack = broadcast(a[:-2], b[:-2], what="matmul")
    return stack + a[-2:-1] + (b[-1:] if len(b) > 1 else ())


def _finished(buffer: Buffer, element: Any) -> Array:
    """Return the array over what a kernel that was called at once has returned."""
    if buffer.__class__ is not NDArray:
        buffer = element.backend.zero_dimensional(buffer)
    return fresh(buffer, element)


def _remember(rule: Rule, a: Element, b: Element) -> None:
    """Note the kernel for two elements of one dtype, whose promotion no context can change."""
    if a.dtype != b.dtype or (rule is POW and a.dtype in d.SIGNED):  # its exponents are looked at
        return
    backend = a.backend
    dtype = rule.result.dtype(a.dtype)
    kernel = backend.direct(rule.name, a.ordered and b.ordered)
    if kernel is not None:
        rule.direct[a, b] = kernel, backend.element(dtype)
        return
    program = backend.program(rule.name, dtype)
    if program is not None:
        rule.programs[a, b] = program, backend.element(dtype)


def elementwise(rule: Rule, *xs: object, **params: Any) -> Array:
    """Apply a kernel to each tuple of elements, after broadcasting and promotion."""
    found, dtype = arrays_of(rule.name, xs)
    rule.check(dtype)
    shape = broadcast(*[x.dims for x in found], what=rule.name)
    return apply(rule, [cast(x, dtype) for x in found], shape, rule.result.dtype(dtype), **params)


def reduction(
    rule: Rule,
    x: Any,
    axis: object,
    keepdims: bool,
    dtype: DType | None = None,
    needs_elements: bool = False,
    **params: Any,
) -> Array:
    """Reduce along axes. ``dtype`` is that of the result, where the caller chose it.

    The kernel of an accumulating rule is told which dtype to compute in.
    """
    if dtype is None and x.__class__ is _new:
        result = _reduced_at_once(rule, x, axis, keepdims)
        if result is not None:
            return result
    array = as_array(x, rule.name)
    given = array._element.dtype
    rule.check(given)
    dims = array.dims
    axes = normalize_axes(axis, len(dims), rule.name)
    if needs_elements and any(type(dims[k]) is int and dims[k] == 0 for k in axes):
        raise ValueError(f"{rule.name}: no elements along axes {axes} of shape {shown(dims)}")
    settled = dtype is None and not params and _is_settled(rule, given)
    if dtype is None:
        dtype = rule.result.dtype(given)
    if rule.result is ACCUMULATED:
        params["dtype"] = d.working(dtype)
    params = {"axis": axes, "keepdims": bool(keepdims), **params}
    if settled:
        _remember_reduction(rule, array, dtype, axis, params, needs_elements)
    shape = reduced(dims, axes, keepdims)
    return apply(rule, (array,), shape, dtype, **params)


def _reduced_at_once(rule: Rule, x: Array, axis: Any, keepdims: bool) -> Array | None:
    """Return what the remembered kernel makes of ``x``, if it is row-major and no error."""
    known = rule.direct.get(x._element)
    if known is None:
        if axis is not None and axis.__class__ is not int and axis.__class__ is not tuple:
            return None
        known = rule.programs.get((x._element, x.dims, axis, keepdims))
        return None if known is None else fresh(known[1].backend.run(known[0], (x,)), known[1])
    kernel, element = known
    if x._buffer is None:  # a view with no strided layout
        return None
    try:
        buffer = kernel(x._buffer, axis, None, None, keepdims)
    except (TypeError, ValueError):
        return None  # the rules say what is wrong
    return _in_order(buffer, element)


def at_once(rule: Rule, *xs: Any) -> Array | None:
    """Return what the kernel remembered for these operands makes of them, or ``None``."""
    try:
        kernel, element = rule.direct[tuple([x._element for x in xs])]
    except (AttributeError, KeyError):
        return None
    buffers = [x._buffer for x in xs]
    if any(buffer is None for buffer in buffers):
        return None
    try:
        return _in_order(kernel(*buffers), element)
    except ValueError:
        return None  # the rules say what is wrong


def remember(rule: Rule, dtype: DType, *xs: Array) -> None:
    """Note the kernel for operands whose result no context can change."""
    backend = xs[0]._element.backend
    kernel = backend.direct(rule.name, True)
    if kernel is not None:
        rule.direct[tuple([x._element for x in xs])] = kernel, backend.element(dtype)


def _in_order(buffer: Buffer, element: Any) -> Array | None:
    """Return the array over what a kernel has returned, if it is row-major."""
    if buffer.__class__ is NDArray and not buffer.flags.c_contiguous:
        return None
    return _finished(buffer, element)


def _is_settled(rule: Rule, given: DType) -> bool:
    """Tell whether no context can change what a reduction accepts and returns."""
    if given not in rule.accepts or given in d.NARROW_FLOATING:
        return False
    return not (rule.result is ACCUMULATED and given in d.INTEGER and given.itemsize < 8)


def _remember_reduction(
    rule: Rule, x: Array, dtype: DType, axis: Any, params: dict[str, Any], needs_elements: bool
) -> None:
    """Note the kernel for an element, or the program for a shape and an axis as they were given."""
    element = x._element
    kernel = element.backend.direct(rule.name, element.ordered)
    if kernel is not None:
        rule.direct[element] = kernel, element.backend.element(dtype)
    elif (axis is None or type(axis) in (int, tuple)) and len(rule.programs) < _MOST:
        program = element.backend.program(rule.name, dtype, tuple(params.items()))
        if program is not None:
            key = element, x.dims, axis, params["keepdims"]
            rule.programs[key] = program, element.backend.element(dtype)


_MOST = 4096  # programs that a rule remembers
