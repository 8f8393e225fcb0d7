"""The JAX backend: buffers are jax.Arrays, which never change, so a write replaces one.

An eager read or write of a view is one compiled program, cached on the structure of the view, with
the places where it begins as operands. Every call runs with 64-bit types on, whatever the user's
flag says, in a context that is entered for the call alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, lru_cache, partial, reduce
from importlib import import_module
from operator import and_
from threading import RLock, local
from types import ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters.ad import JVPTracer

from strata_api import _explain
from strata_api._dimension import Extent
from strata_api._dtypes import DType, Scalar
from strata_api._shape import Shape
from strata_api._storage import Storage
from strata_api._view import Affine, Axis, Reshape, Step, View, are_disjoint, plan_of, row_major
from strata_api.backends import numpy
from strata_api.backends.jax_kernels import HOST, KERNELS
from strata_api.backends.jax_linalg import CHECKED, check
from strata_api.backends.protocol import Buffer, Device, Element, Operand, Params, Spec, Start

try:
    from jax.extend.core import get_opaque_trace_state
except ImportError:  # before JAX 0.10
    from jax.core import get_opaque_trace_state

Tracer = jax.core.Tracer
_Concrete = type(jnp.zeros(()))  # the class of arrays that hold data
_ENTER = partial(jax.enable_x64, True)  # a context of about a microsecond, local to the thread
_ALREADY = nullcontext()
_config: Any = jax.config  # its flags are attributes that no type tells of


def wide() -> Any:
    """Return the context in which 64-bit types are on: an empty one where the user has them on."""
    return _ALREADY if _config.jax_enable_x64 else _ENTER()


class Guard:
    """What the JAX backend keeps beside a storage's buffer.

    A lock; the trace and the `Context` that the storage was made in; under a trace, the last store,
    held back so that reading it again costs nothing; what the storage means as an index; and how
    often it was written.
    """

    # Defaults of the class, since a guard is made for every array and most never need their own.
    trace: object
    context: Context | None = None
    pending: tuple[View, Buffer] | None = None
    within: range | None = None  # where the value of the storage lies, if it is known
    index: tuple[tuple[Extent, int], TracedIndex] | None = None  # as an index of others
    writes = 0

    def __init__(self) -> None:
        self.lock = RLock()


def guarded(buffer: Buffer, element: Element, owned: bool) -> Storage:
    """Return a storage with its guard."""
    guard = Guard()
    guard.trace = trace_state()
    if here.context is not None:
        guard.context = here.context
    return Storage(buffer, element, owned, guard)


class Frozen:
    """An array of host memory that a program was compiled with, and its elements at that time."""

    __slots__ = ("elements", "host")

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self.host = host
        self.elements = host.tobytes()

    def has_changed(self) -> bool:
        return self.host.tobytes() != self.elements


class Context:
    """A function that `strata_api.jit` or a loop traces: the storages of the outside it touches.

    Each is lifted: inside, a storage of its own stands for it, whose buffer is an operand of the
    program, and which is written back afterwards. ``touched`` holds those that were looked at as
    what they are outside, and not by way of an argument. ``frozen`` holds the arrays of other
    libraries that are compiled in.
    """

    __slots__ = ("frozen", "lifted", "parent", "touched", "trace")

    def __init__(self) -> None:
        self.parent = here.context
        self.frozen: list[Frozen] = [] if self.parent is None else self.parent.frozen
        self.lifted: dict[Storage, Storage] = {}
        self.touched: dict[Storage, None] = {}

    def __enter__(self) -> Context:
        self.trace = trace_state()
        here.context = self
        return self

    def __exit__(self, *_: object) -> None:
        here.context = self.parent

    def adopt(self, outer: Storage | None, buffer: Buffer, element: Element) -> Storage:
        """Return a new storage with this buffer, which stands for one of the outside, if any."""
        guard = Guard()
        guard.trace, guard.context = self.trace, self
        local = Storage(buffer, element, False, guard)
        if outer is not None:
            self.lifted[outer] = local
        return local

    def local(self, storage: Storage) -> Storage:
        """Return what stands for a storage here: itself if it was made here."""
        if storage.guard.context is self:  # type: ignore[attr-defined]  # the guard is ours
            return storage
        self.touched[storage] = None
        found = self.lifted.get(storage)
        if found is None:
            outer = storage if self.parent is None else self.parent.local(storage)
            found = self.adopt(storage, flushed(outer), storage.element)
            found.guard.within = outer.guard.within  # type: ignore[attr-defined]  # it is ours
        return found

    def written(self) -> list[Storage]:
        """Return the storages of the outside that were written."""
        return [outer for outer, local in self.lifted.items() if local.guard.writes]  # type: ignore[attr-defined]


class _Here(local):
    """The context that this thread is tracing in."""

    context: Context | None = None


here = _Here()


def local_storage(storage: Storage) -> Storage:
    """Return what stands for a storage where the program is now."""
    context = here.context
    return storage if context is None else context.local(storage)


def flushed(storage: Storage) -> Buffer:
    """Return the buffer of a storage, after the store that was held back."""
    guard: Guard = storage.guard  # type: ignore[assignment]  # the guard is ours
    if guard.pending is None:
        return storage.buffer
    view, value = guard.pending
    with wide():
        buffer = view.write(storage.buffer, value, BACKEND)
    if guard.trace == trace_state():  # a deeper trace must leave nothing of its own behind
        guard.pending = None
        storage.buffer = buffer
    return buffer


class TracedIndex:
    """A traced integer brought to a position inside its axis, and whether it was inside.

    ``inside`` is ``None`` where it is known to be.
    """

    __slots__ = ("inside", "value")

    def __init__(self, value: Any, inside: Any) -> None:
        self.value = value
        self.inside = inside


class TracedStart(NamedTuple):
    """Where a view begins that was reached through traced indices: an offset, and multiples."""

    offset: int
    terms: tuple[tuple[TracedIndex, int], ...]

    def __add__(self, other: Any) -> TracedStart:  # a sum, not a tuple
        if isinstance(other, TracedStart):
            return TracedStart(self.offset + other.offset, self.terms + other.terms)
        return TracedStart(self.offset + other, self.terms)

    def __radd__(self, other: Any) -> TracedStart:
        return self.__add__(other)

    def __mul__(self, factor: int) -> TracedStart:  # type: ignore[override]  # a multiple
        return TracedStart(self.offset * factor, tuple([(i, k * factor) for i, k in self.terms]))

    @property
    def value(self) -> Any:
        """The position, as JAX knows it."""
        return sum((index.value * k for index, k in self.terms), self.offset)

    @property
    def inside(self) -> Any:
        """Whether every index was inside its axis; ``None`` if that is known."""
        unsure = [index.inside for index, _ in self.terms if index.inside is not None]
        return reduce(and_, unsure) if unsure else None


class JAXBackend:
    """jax.numpy's kernels as compiled programs."""

    name = "jax"
    aliases = False

    def __init__(self) -> None:
        self._elements: dict[DType, Element] = {}
        self._constants: dict[tuple[Scalar, DType], Buffer] = {}
        self.array_type: type = object

    # -- which arrays there are, and where --

    def element(self, dtype: DType) -> Element:
        element = self._elements.get(dtype)
        return element or self._elements.setdefault(dtype, Element(self, dtype))

    def storage(self, buffer: Buffer, element: Element, owned: bool = True) -> Storage:
        return guarded(buffer, element, owned)

    def devices(self) -> tuple[Device, ...]:
        return tuple([_device(device) for device in jax.devices()])

    def default_device(self) -> Device:
        device = _config.jax_default_device
        if device is None:
            return _device(jax.devices()[0])
        return self.find_device(device)

    def find_device(self, device: object) -> Device:
        if isinstance(device, jax.Device):
            return _device(device)
        if isinstance(device, jax.sharding.Sharding):
            return Device("jax", "sharding", None, device)
        kind, _, number = str(device).removeprefix("jax:").partition(":")
        try:
            return _device(jax.devices(kind)[int(number or 0)])
        except (RuntimeError, IndexError, ValueError):
            known = ", ".join(str(_device(one)) for one in jax.devices())
            raise ValueError(f"unknown device {device!r}: the JAX backend has {known}") from None

    def device_of(self, x: Operand) -> Device:
        buffer = x._storage.buffer
        if not isinstance(buffer, _Concrete):
            return self.default_device()
        devices = buffer.devices()
        if len(devices) > 1:
            return Device("jax", "sharding", None, buffer.sharding)
        return _device(next(iter(devices)))

    def adopt(self, array_type: type) -> None:
        """Make the array class a pytree: an array flattens to the value of its view."""
        self.array_type = array_type
        over = array_type._over  # type: ignore[attr-defined]  # the array class has it
        jax.tree_util.register_pytree_node(array_type, _flatten, partial(_unflatten, over))

    def compiler(self) -> ModuleType:
        return _compiler()

    # -- data in and out --

    def is_native(self, obj: object) -> bool:
        return isinstance(obj, jax.Array)

    def spec(self, buffer: Buffer) -> Spec:
        return Spec(buffer.shape, buffer.dtype)

    def strides(self, storage: Storage) -> tuple[int, ...]:
        return row_major(storage.buffer.shape)

    def is_readonly(self, buffer: Buffer) -> bool:
        return False

    def protected(self, buffer: Buffer) -> Buffer:
        return buffer

    def take_in(self, obj: Any, device: Device, copy: bool | None) -> Buffer:
        with wide():
            if not isinstance(obj, jax.Array):
                if copy is False:
                    raise ValueError("copy=False: host memory must be copied to a JAX device")
                if here.context is not None and copy is None and isinstance(obj, np.ndarray):
                    here.context.frozen.append(Frozen(obj))
                # JAX may share host memory, or read it later, after its owner has written to it.
                obj = np.array(obj, order="C")
                if is_traced():  # a constant: it stays known, for what must be
                    return obj
                if _explain.active:
                    _explain.note("copy", f"{obj.nbytes} bytes of host memory go to JAX")
                obj = jnp.asarray(obj)
            elif copy:
                obj = jnp.array(obj, copy=True)
            return self._on(obj, device)

    def constant(self, value: Scalar, dtype: DType) -> Buffer:
        if value.__class__ is not float and value.__class__ is not int:
            return np.asarray(value, dtype=dtype)
        zero = not value and value.__class__ is float  # 0.0 equals -0.0
        known = None if zero else self._constants.get((value, dtype))
        return self._constant(value, dtype) if known is None else known

    def _constant(self, value: Scalar, dtype: DType) -> Buffer:
        """Return a number as a buffer, and keep it for the next time unless it is of this trace."""
        buffer = np.asarray(value, dtype=dtype)
        if is_traced() or (not value and value.__class__ is float):
            return buffer
        if len(self._constants) >= _MOST_CONSTANTS:
            self._constants.clear()
        with wide():
            known = self._constants[value, dtype] = jnp.asarray(buffer)
        return known

    def is_concrete(self, x: Operand) -> bool:
        return not isinstance(local_storage(x._storage).buffer, Tracer)

    def to_numpy(self, x: Operand, copy: bool | None) -> Any:
        buffer = self.read(x)
        if isinstance(buffer, Tracer):
            raise TypeError(
                f"a traced array of shape {buffer.shape} has no concrete value: use where, branch "
                "on something that is known before tracing, or name it in jit's static_argnames"
            )
        return np.array(buffer) if copy else np.asarray(buffer)

    def native(self, x: Operand) -> Buffer:
        """Return the elements for others to hold. The storage's own buffer is then theirs too: of
        it they can make handles that no count of references shows, by ``jax.device_put`` for one.
        """
        storage = local_storage(x._storage)
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            buffer = self.read(x)
            if buffer is storage.buffer:
                storage.owned = False
        return buffer

    def to_dlpack(self, x: Operand, **options: Any) -> Any:
        del options["max_version"]  # JAX writes one version; the consumer must look which
        buffer = self.native(x)
        if isinstance(buffer, Tracer):
            raise TypeError(f"__dlpack__: a traced array of shape {buffer.shape} has no data yet")
        there = options["dl_device"]
        if options["copy"] is False and there and there != buffer.__dlpack_device__():
            raise BufferError(f"copy=False: DLPack device {there} cannot be had without a copy")
        return buffer.__dlpack__(**options)

    def dlpack_device(self, x: Operand) -> tuple[int, int]:
        return self.read(x).__dlpack_device__()  # type: ignore[no-any-return]  # JAX's own pair

    def wait(self, x: Operand) -> None:
        jax.block_until_ready(self.read(x))  # type: ignore[no-untyped-call]  # JAX's own

    def move(self, x: Operand, device: Device) -> Buffer:
        with wide():
            return jax.device_put(self.read(x), device.native, may_alias=False)

    def _on(self, buffer: Buffer, device: Device) -> Buffer:
        if isinstance(buffer, Tracer) or device == self.default_device():
            return buffer
        return jax.device_put(buffer, device.native)

    # -- computing --

    def direct(self, name: str, ordered: bool) -> None:
        return None

    def program(self, name: str, dtype: DType, params: Params = ()) -> Any:
        if name in HOST or name in CHECKED:
            return None
        kernel = partial(KERNELS[name], **dict(params)) if params else KERNELS[name]
        return kernel, dtype, _program(name, dtype, params)

    def run(self, program: Any, operands: Sequence[Operand]) -> Buffer:
        kernel, dtype, compiled = program
        buffers = [self.read(x) for x in operands]
        for buffer in buffers:
            if isinstance(buffer, Tracer):
                with wide():
                    return _cast(kernel(*buffers), dtype)
        with wide():
            return compiled(*buffers)

    def call(
        self, name: str, spec: Any, operands: Sequence[Operand], params: dict[str, Any]
    ) -> Any:
        buffers = [self.read(x) for x in operands]
        return self._run(name, spec, buffers, params)

    def _run(self, name: str, spec: Any, buffers: Sequence[Buffer], params: dict[str, Any]) -> Any:
        if name in HOST:
            return self._run_on_host(name, spec, buffers, params)
        dtypes = spec.dtype if type(spec) is Spec else tuple([one.dtype for one in spec])
        with wide():
            for buffer in buffers:
                if isinstance(buffer, Tracer):
                    return _cast(KERNELS[name](*buffers, **params), dtypes)
            result = _program(name, dtypes, tuple(params.items()))(*buffers)
            if name in CHECKED:
                check(name, buffers, params, result)
            device = params.get("device")
            return result if device is None else self._on(result, device)

    def _run_on_host(
        self, name: str, spec: Any, buffers: Sequence[Buffer], params: dict[str, Any]
    ) -> Any:
        if any(isinstance(buffer, Tracer) for buffer in buffers):
            raise TypeError(
                f"{name}: the shape of the result depends on the data, which is not concrete under "
                f"a JAX transformation; {_INSTEAD.get(name, 'compute it before')}"
            )
        dtypes: Any = spec.dtype if type(spec) is Spec else tuple([one.dtype for one in spec])
        results = HOST[name](*[np.asarray(buffer) for buffer in buffers], **params)
        if is_traced():
            return results
        committed = bool(buffers) and getattr(buffers[0], "committed", False)
        place = buffers[0].sharding if committed else None
        with wide():
            if type(spec) is Spec:
                return jax.device_put(jnp.array(results, dtype=dtypes), place)
            return tuple(
                [
                    jax.device_put(jnp.array(part, dtype=dtype), place)
                    for part, dtype in zip(results, dtypes, strict=True)
                ]
            )

    # -- views --

    def read(self, x: Operand) -> Buffer:
        storage: Storage = x._lazy_storage  # type: ignore[assignment]  # nothing of ours is lazy
        view: View = x._lazy_view  # type: ignore[assignment]
        if here.context is not None:
            storage = here.context.local(storage)
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            buffer = storage.buffer
        if buffer.__class__ is _Concrete and not view.steps:
            return buffer
        if isinstance(buffer, Tracer):
            return self._read_traced(storage, view)
        if not view.steps:
            return buffer
        steps, starts = _keyed(view)
        if buffer.__class__ is np.ndarray and starts is not None:
            return view.read(buffer, numpy.BACKEND)  # what is known in a trace stays known
        with wide():
            if starts is None:
                return view.read(buffer, self)
            return _reader(steps)(buffer, starts)

    def _read_traced(self, storage: Storage, view: View) -> Buffer:
        """Read under a trace; what was stored last through the same view is at hand."""
        pending = storage.guard.pending  # type: ignore[attr-defined]  # the guard is ours
        if pending is not None:
            if pending[0].steps == view.steps:
                return pending[1]
            if are_disjoint(pending[0], view):
                with wide():
                    return view.read(storage.buffer, self)
        with wide():
            return view.read(flushed(storage), self)

    def assign(self, x: Operand, value: Operand) -> None:
        if value._storage is x._storage and value._view.steps == x._view.steps:
            return  # x[key] += v stores the view that it has just updated
        source = self.read(value)
        storage = local_storage(x._storage)
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            self._replace(storage, x._view, source)

    def update(self, name: str, spec: Spec, x: Operand, operands: Sequence[Operand]) -> None:
        storage = local_storage(x._storage)
        first, second = operands
        if first is x and second._storage is not x._storage and name not in CHECKED:
            source = local_storage(second._storage)
            with source.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
                buffer = source.buffer
            if self._updated(name, spec, storage, x._view, buffer, second._view):
                return
        # Of others first: who holds one lock must not wait for another.
        others = {
            k: self.read(operand)
            for k, operand in enumerate(operands)
            if operand._storage is not x._storage
        }
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            buffers = [
                others[k] if k in others else self.read(operand)
                for k, operand in enumerate(operands)
            ]
            if 0 in others:  # x in another dtype: as it is now, not as it was before the lock
                with wide():
                    buffers[0] = lax.convert_element_type(self.read(x), buffers[0].dtype)
            self._replace(storage, x._view, self._run(name, spec, buffers, {}))

    def _updated(
        self, name: str, spec: Spec, storage: Storage, view: View, source: Buffer, at: View
    ) -> bool:
        """Update a view by a view of another buffer, with one program, if nothing is traced."""
        steps, starts = _keyed(view)
        others, places = _keyed(at)
        if starts is None or places is None or isinstance(source, Tracer):
            return False
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            if isinstance(storage.buffer, Tracer):
                return False
            check_place(storage)
            donate = storage.owned and is_unshared(storage)
            before = storage.buffer if _explain.active else None
            with wide():
                run = _updater(name, spec.dtype, steps, others, donate)
                result = run(storage.buffer, starts, source, places)
            if before is not None:
                tell_of_write(before, storage.owned, donate)
            storage.buffer = result
            storage.owned = True
            storage.guard.writes += 1  # type: ignore[attr-defined]  # the guard is ours
        return True

    def _replace(self, storage: Storage, view: View, source: Buffer) -> None:
        """Write ``source``, broadcast, through a view. The storage is locked."""
        check_place(storage, source)
        steps, starts = _keyed(view)
        if starts is None or isinstance(source, Tracer) or isinstance(storage.buffer, Tracer):
            self._replace_traced(storage, view, source)
            return
        donate = bool(steps) and storage.owned and is_unshared(storage)
        before = storage.buffer if _explain.active else None
        with wide():
            result = _writer(steps, donate)(storage.buffer, starts, source)
        if before is not None and steps:
            tell_of_write(before, storage.owned, donate)
        storage.buffer = result
        storage.owned = True
        storage.guard.writes += 1  # type: ignore[attr-defined]  # the guard is ours

    def _replace_traced(self, storage: Storage, view: View, source: Buffer) -> None:
        guard: Guard = storage.guard  # type: ignore[assignment]  # the guard is ours
        guard.index = guard.within = None
        shape = view.shape(storage.buffer.shape)
        with wide():
            value = lax.convert_element_type(source, storage.buffer.dtype)
            if value.shape != shape:
                value = jnp.broadcast_to(value, shape)
            if not isinstance(storage.buffer, Tracer):
                storage.buffer = view.write(storage.buffer, value, self)
            elif (
                view.steps
                and not isinstance(value, JVPTracer)  # what jax.jvp returns, it flattens too late
                and not isinstance(storage.buffer, JVPTracer)
                and not _has_traced_start(view)
            ):
                if guard.pending is not None and guard.pending[0].steps != view.steps:
                    flushed(storage)
                guard.pending = view, value
            else:
                base = flushed(storage) if view.steps else storage.buffer
                guard.pending = None
                storage.buffer = view.write(base, value, self)
        guard.writes += 1

    def gather(self, x: Operand, picks: Sequence[Operand], spec: Spec) -> Buffer:
        buffer = self.read(x)
        indices = [self.read(pick) for pick in picks]
        _check_indices(indices, buffer.shape)
        with wide():
            return _gather(buffer, tuple(indices))

    def scatter(self, x: Operand, picks: Sequence[Operand], value: Operand) -> None:
        indices = tuple([self.read(pick) for pick in picks])
        source = self.read(value)
        storage = local_storage(x._storage)
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            buffer = self.read(x)
            _check_indices(indices, buffer.shape)
            with wide():
                result = _scatter(buffer, indices, source)
            self._replace(storage, x._view, result)

    def compress(self, x: Operand, mask: Operand, spec: Spec) -> Buffer:
        chosen = self.read(mask)
        if isinstance(chosen, Tracer):
            raise TypeError(
                "x[mask]: the shape of the result depends on the data, which is not concrete under "
                "a JAX transformation; use where(mask, x, 0), or write x[mask] = value"
            )
        indices = np.nonzero(np.asarray(chosen))
        with wide():
            return _gather(self.read(x), tuple([jnp.asarray(index) for index in indices]))

    def put_where(self, x: Operand, mask: Operand, value: Operand) -> None:
        chosen, source = self.read(mask), self.read(value)
        storage = local_storage(x._storage)
        with storage.guard.lock:  # type: ignore[attr-defined]  # the guard is ours
            buffer = self.read(x)
            _check_count(chosen, source, buffer.ndim)
            with wide():
                result = _where(buffer, chosen, source)
            self._replace(storage, x._view, result)

    def position(self, x: Operand, n: Any, size: Any = 1) -> Start:
        buffer = self.read(x)
        if not isinstance(buffer, Tracer):
            return int(buffer)
        guard: Guard = local_storage(x._storage).guard  # type: ignore[assignment]  # it is ours
        if guard.index is not None and guard.index[0] == (n, size) and not x._view.steps:
            return TracedStart(0, ((guard.index[1], 1),))
        within = None if x._view.steps else guard.within
        with wide():
            place = buffer.astype(jnp.int64)
            if within is not None and within.start >= 0 and within.stop - 1 <= n - size:
                index = TracedIndex(place, None)
            else:
                place = jnp.where(place < 0, place + n, place)
                inside = (place >= 0) & (place <= n - size)
                index = TracedIndex(jnp.clip(place, 0, n - size), inside)
        if x._view.steps == () and guard.trace == trace_state():
            guard.index = (n, size), index  # x[i] += v asks twice, and must get one answer
        return TracedStart(0, ((index, 1),))

    def may_share_memory(self, a: Operand, b: Operand) -> bool:
        return a._storage is b._storage or a._storage.buffer is b._storage.buffer

    # -- what the view steps are made of --

    def window(
        self, base: Buffer, starts: Sequence[Start], shape: Shape, steps: Sequence[int]
    ) -> Buffer:
        box = _box_of([_value(start) for start in starts], shape, steps)
        if box.is_static:
            if box.low == (0,) * base.ndim and box.span == base.shape and box.is_dense:
                window = base
            else:
                high = [low + n for low, n in zip(box.low, box.span, strict=True)]
                window = lax.slice(base, box.low, high, None if box.is_dense else box.strides)
        else:
            window = lax.dynamic_slice(base, _places(box.low, base.shape), box.span)
            if not box.is_dense:
                window = lax.slice(window, (0,) * base.ndim, box.span, box.strides)
        return lax.rev(window, box.reversed) if box.reversed else window

    def set_window(
        self, base: Buffer, starts: Sequence[Start], steps: Sequence[int], value: Buffer
    ) -> Buffer:
        for start in starts:
            if isinstance(start, TracedStart) and start.inside is not None:
                old = self.window(base, starts, value.shape, steps)
                value = lax.select(jnp.broadcast_to(start.inside, value.shape), value, old)
        box = _box_of([_value(start) for start in starts], value.shape, steps)
        if box.reversed:
            value = lax.rev(value, box.reversed)
        if box.is_dense:
            if value.shape == base.shape:
                return value
            return lax.dynamic_update_slice(base, value, _places(box.low, base.shape))
        return _set_strided(base, box, value)

    def transpose(self, buffer: Buffer, axes: Sequence[int]) -> Buffer:
        return buffer if tuple(axes) == tuple(range(len(axes))) else lax.transpose(buffer, axes)

    def reshape(self, buffer: Buffer, shape: Shape) -> Buffer:
        return buffer if buffer.shape == shape else lax.reshape(buffer, shape)

    def broadcast(self, buffer: Buffer, shape: Shape) -> Buffer:
        return jnp.broadcast_to(buffer, shape)

    def diagonal(self, buffer: Buffer, axis: int, count: int) -> Buffer:
        n = buffer.shape[axis]
        shape = buffer.shape
        flat = lax.reshape(buffer, (*shape[:axis], n**count, *shape[axis + count :]))
        if n == 0:
            return flat
        stride = sum(n**k for k in range(count))
        return lax.slice_in_dim(flat, 0, n**count, stride, axis)

    def set_diagonal(self, buffer: Buffer, axis: int, count: int, value: Buffer) -> Buffer:
        along = jnp.arange(buffer.shape[axis])
        key = (slice(None),) * axis + (along,) * count
        return buffer.at[key].set(value, unique_indices=True, mode="promise_in_bounds")


@cache
def _compiler() -> ModuleType:
    return import_module("strata_api.backends.jax_jit")


# -- programs -------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _program(name: str, dtypes: Any, params: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    kernel = partial(KERNELS[name], **dict(params))

    def run(*buffers: Buffer) -> Any:
        return _cast(kernel(*buffers), dtypes)

    return jax.jit(named(run, name))


def _cast(result: Any, dtypes: Any) -> Any:
    if type(dtypes) is tuple:
        return tuple([_cast(part, dtype) for part, dtype in zip(result, dtypes, strict=True)])
    return lax.convert_element_type(jnp.asarray(result), dtypes)


@lru_cache(maxsize=4096)
def _reader(steps: tuple[Step, ...]) -> Callable[..., Any]:
    def read(base: Buffer, starts: Any) -> Buffer:
        return _filled(steps, starts).read(base, BACKEND)

    return jax.jit(named(read, "read_view"))


@lru_cache(maxsize=4096)
def _writer(steps: tuple[Step, ...], donate: bool) -> Callable[..., Any]:
    def write(base: Buffer, starts: Any, value: Buffer) -> Buffer:
        view = _filled(steps, starts)
        value = jnp.broadcast_to(
            lax.convert_element_type(value, base.dtype), view.shape(base.shape)
        )
        return view.write(base, value, BACKEND)

    return jax.jit(named(write, "write_view"), donate_argnums=(0,) if donate else ())


@lru_cache(maxsize=4096)
def _updater(
    name: str, dtype: DType, steps: tuple[Step, ...], others: tuple[Step, ...], donate: bool
) -> Callable[..., Any]:
    """Return the program that updates a view by a view of another buffer.

    Of the same buffer it would be open to a fault of XLA's in-place updates (openxla/xla#49176).
    """
    kernel = KERNELS[name]

    def update(base: Buffer, starts: Any, source: Buffer, places: Any) -> Buffer:
        view = _filled(steps, starts)
        other = _filled(others, places).read(source, BACKEND)
        value = _cast(kernel(view.read(base, BACKEND), other), dtype)
        return view.write(base, lax.convert_element_type(value, base.dtype), BACKEND)

    return jax.jit(named(update, f"{name}_in_place"), donate_argnums=(0,) if donate else ())


def named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Give a function the name under which JAX shows the program made of it."""
    function.__name__ = function.__qualname__ = name
    return function


def _keyed(view: View) -> tuple[tuple[Step, ...], Any]:
    """Return the structure of a view, and the starts that it leaves open as an operand.

    A start is left open where the window may move. It stays in the structure where the window
    covers its axis, and where its steps do not divide the extent, which asks for another program.
    The operand is ``None`` if a start is traced: then there is no program to look up.
    """
    step = view.steps[0] if len(view.steps) == 1 else None
    if isinstance(step, Affine):
        known = _opened(step.base, step.axes)
        if known is not None:
            for start in step.starts:
                if start.__class__ is not int:
                    return (), None
            opened, structure = known
            if not opened:
                return structure, ()
            return structure, np.array([step.starts[k] for k in opened], dtype=np.int64)
    return _keyed_slowly(view)


@lru_cache(maxsize=4096)
def _opened(base: Shape, axes: tuple[Axis, ...]) -> tuple[tuple[int, ...], tuple[Step, ...]] | None:
    """Return which starts a view of one step leaves open, and its structure, one object for all of
    them; ``None`` if other starts are part of it."""
    plan = plan_of(base, axes)
    opened: list[int] = []
    starts: list[int | None] = []
    for k, (n, size, by) in enumerate(zip(base, plan.sizes, plan.steps, strict=True)):
        if size == n and by in (1, -1):  # it can begin at one place alone
            starts.append(0 if by > 0 or not n else int(n) - 1)
        elif by not in (1, -1) and n % by:
            return None
        else:
            starts.append(None)
            opened.append(k)
    return tuple(opened), (Affine(base, tuple(starts), axes),)


def _keyed_slowly(view: View) -> tuple[tuple[Step, ...], Any]:
    """Do what `_keyed` does for any view."""
    structure: list[Step] = []
    operand: list[int] = []
    for step in view.steps:
        if type(step) is Reshape:
            structure.append(step)
            continue
        plan = plan_of(step.base, step.axes)  # type: ignore[union-attr]  # the other kind of step
        kept: list[int | None] = []
        for start, n, size, by in zip(
            step.starts,  # type: ignore[union-attr]
            step.base,
            plan.sizes,
            plan.steps,
            strict=True,
        ):
            if start.__class__ is not int:
                return (), None
            if size == n or (by != 1 and by != -1 and n % by):
                kept.append(start)
            else:
                kept.append(None)
                operand.append(start)
        structure.append(Affine(step.base, tuple(kept), step.axes))  # type: ignore[union-attr]
    return tuple(structure), np.array(operand, dtype=np.int64) if operand else ()


def _filled(steps: tuple[Step, ...], starts: Any) -> View:
    """Return the view with this structure that begins at ``starts``."""
    opened = iter(range(10**6))
    filled = []
    for step in steps:
        if isinstance(step, Affine):
            known = [starts[next(opened)] if start is None else start for start in step.starts]
            step = step._replace(starts=tuple(known))
        filled.append(step)
    return View(tuple(filled))


@jax.jit
def _gather(buffer: Buffer, indices: tuple[Buffer, ...]) -> Buffer:
    return buffer.at[indices].get(mode="clip", wrap_negative_indices=True)


@jax.jit
def _scatter(buffer: Buffer, indices: tuple[Buffer, ...], value: Buffer) -> Buffer:
    """Write at index arrays; where a position is repeated, the last one wins, on every device."""
    k = len(indices)
    indices = tuple(jnp.broadcast_arrays(*indices))
    shape, rest = indices[0].shape, buffer.shape[k:]
    value = jnp.broadcast_to(lax.convert_element_type(value, buffer.dtype), shape + rest)
    count = int(np.prod(shape))
    places = jnp.zeros(shape, jnp.int64)
    inside = jnp.ones(shape, bool)
    for index, n in zip(indices, buffer.shape[:k], strict=True):
        place = jnp.where(index < 0, index + n, index).astype(jnp.int64)
        inside &= (place >= 0) & (place < n)
        places = places * n + place
    total = int(np.prod(buffer.shape[:k]))
    places = jnp.where(inside, places, total).reshape(count)
    last = jnp.full(total + 1, -1, jnp.int64).at[places].max(jnp.arange(count, dtype=jnp.int64))
    wins = last[places] == jnp.arange(count)
    places = jnp.where(wins, places, total)  # out of range: dropped
    flat = buffer.reshape((total, *rest))
    flat = flat.at[places].set(value.reshape((count, *rest)), mode="drop")
    return flat.reshape(buffer.shape)


@jax.jit
def _where(buffer: Buffer, mask: Buffer, value: Buffer) -> Buffer:
    """Write at a mask over the leading axes: one value for all, or one for each in order."""
    value = lax.convert_element_type(value, buffer.dtype)
    rest = buffer.shape[mask.ndim :]
    spread = mask.reshape(mask.shape + (1,) * len(rest))
    if value.ndim <= len(rest) or value.shape[0] == 1:
        value = value.reshape(value.shape[value.ndim - min(value.ndim, len(rest)) :])
        return jnp.where(spread, value, buffer)
    order = jnp.cumsum(mask.reshape(-1)) - 1
    chosen = jnp.broadcast_to(value, (value.shape[0], *rest))
    chosen = chosen.at[jnp.clip(order, 0, max(value.shape[0] - 1, 0))].get(mode="clip")
    return jnp.where(spread, chosen.reshape(buffer.shape), buffer) if value.shape[0] else buffer


def _check_count(mask: Buffer, value: Buffer, ndim: int) -> None:
    """Raise ``ValueError`` unless there is a value for each element of the mask."""
    if value.ndim <= ndim - mask.ndim or value.shape[0] == 1 or isinstance(mask, Tracer):
        return
    count = int(np.count_nonzero(np.asarray(mask)))
    if value.shape[0] != count:
        raise ValueError(
            f"assignment: a value of shape {value.shape} does not broadcast to the {count} "
            "elements of the mask"
        )


def _check_indices(indices: Sequence[Buffer], shape: Sequence[int]) -> None:
    """Raise ``IndexError`` for a concrete index out of range, where any element is looked up."""
    if 0 in np.broadcast_shapes(*[index.shape for index in indices]):
        return
    for axis, (index, n) in enumerate(zip(indices, shape, strict=False)):
        if isinstance(index, Tracer) or index.size == 0:
            continue
        host = np.asarray(index)
        worst = host.min() if host.min() < -n else host.max()
        if not -n <= worst < n:
            raise IndexError(f"index {worst} is out of range for axis {axis} with extent {n}")


class _Box(NamedTuple):
    low: tuple[Any, ...]
    span: tuple[int, ...]
    strides: tuple[int, ...]
    reversed: tuple[int, ...]
    is_static: bool
    is_dense: bool


def _box_of(starts: Sequence[Any], shape: Sequence[Any], steps: Sequence[int]) -> _Box:
    """Return the box of the base that a window covers, low end first."""
    low = tuple(
        [
            start + (n - 1) * step if step < 0 and n else start
            for start, n, step in zip(starts, shape, steps, strict=True)
        ]
    )
    strides = tuple([abs(step) if n > 1 else 1 for n, step in zip(shape, steps, strict=True)])
    return _Box(
        low,
        tuple([(n - 1) * by + 1 if n else 0 for n, by in zip(shape, strides, strict=True)]),
        strides,
        tuple([axis for axis, step in enumerate(steps) if step < 0 and shape[axis] > 1]),
        all(type(start) is int for start in low),
        all(by == 1 for by in strides),
    )


def _set_strided(base: Buffer, box: _Box, value: Buffer) -> Buffer:
    """Write a strided window. A scatter is slow: an axis whose step divides its extent is split in
    two, so that the window is dense; of another axis the part that the step divides is."""
    if all(n % by == 0 for n, by in zip(base.shape, box.strides, strict=True)):
        split, low, sizes = [], [], []
        for n, by, start, size in zip(base.shape, box.strides, box.low, value.shape, strict=True):
            split += [n // by, by]
            low += [start // by, start % by]
            sizes += [size, 1]
        parts, value = lax.reshape(base, split), lax.reshape(value, sizes)
        parts = lax.dynamic_update_slice(parts, value, _places(low, base.shape))
        return lax.reshape(parts, base.shape)
    if box.is_static:
        key = tuple(
            [
                slice(low, low + span, by)
                for low, span, by in zip(box.low, box.span, box.strides, strict=True)
            ]
        )
        return base.at[key].set(value, unique_indices=True, mode="promise_in_bounds")
    low = _places(box.low, base.shape)
    window = lax.dynamic_slice(base, low, box.span)
    key = tuple([slice(None, None, by) for by in box.strides])
    return lax.dynamic_update_slice(base, window.at[key].set(value), low)


def _places(starts: Sequence[Any], shape: Shape) -> list[Any]:
    """Return starts as 32-bit integers, if the extents allow it.

    Batched in a user's program they become a scatter, which JAX compiles under the user's flag.
    """
    if all(type(n) is int and n < 2**31 for n in shape):
        return [lax.convert_element_type(start, np.int32) for start in starts]
    return list(starts)


def _has_traced_start(view: View) -> bool:
    return _keyed(view)[1] is None


def _value(start: Start) -> Any:
    return start.value if isinstance(start, TracedStart) else start


# -- arrays as pytrees ----------------------------------------------------------------------------


class Wide:
    """Marks the tree of a 64-bit host array, which JAX would narrow in silence."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wide) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


def _flatten(x: Any) -> tuple[tuple[Buffer], Wide | None]:
    value = x._element.backend.native(x)
    if not isinstance(value, np.ndarray):
        return (value,), None
    value = np.array(value, order="C")  # JAX may read it after its owner has written to it
    wide = value.dtype.name in ("float64", "int64", "uint64", "complex128")
    return (value,), Wide(value.dtype) if wide and not _config.jax_enable_x64 else None


def _unflatten(over: Callable[..., Any], wide: Wide | None, children: Sequence[Any]) -> Any:
    (value,) = children
    if wide is not None and isinstance(value, Tracer):
        raise TypeError(
            f"a NumPy-backed array of {wide.dtype} enters a JAX transformation with jax_enable_x64 "
            "off, which would narrow it: move it with to_device('jax'), or use strata_api.jit"
        )
    if isinstance(value, np.ndarray):
        return over(value)
    dtype = getattr(value, "dtype", None)
    return over(value, _PLACEHOLDER if dtype is None else BACKEND.element(np.dtype(dtype)))


# -- ownership and traces -------------------------------------------------------------------------


def _references(storage: Storage) -> int:
    return sys.getrefcount(storage.buffer)


@lru_cache(maxsize=1)
def _unshared_count() -> int:
    """Return what `_references` says of a buffer that nobody else holds; -1 if that is not sure."""
    counts = set()
    for _ in range(3):
        storage = Storage(jnp.zeros(2), None)  # type: ignore[arg-type]  # only its buffer is looked at
        counts.add(_references(storage))
        held = storage.buffer
        counts.add(_references(storage) - 1)
        del held
    return counts.pop() if len(counts) == 1 else -1


def is_unshared(storage: Storage) -> bool:
    """Tell whether the storage alone holds its buffer. The storage is locked."""
    return _references(storage) == _unshared_count()


trace_state = partial(get_opaque_trace_state, convention="flax")  # no trace is one of them


_TOP = ThreadPoolExecutor(1).submit(trace_state).result()  # no trace: what a new thread begins in


def is_traced() -> bool:
    """Tell whether the program is inside a JAX transformation."""
    return bool(trace_state() != _TOP)


def check_place(storage: Storage, source: Buffer = None) -> None:
    """Raise ``RuntimeError`` for a write from one trace into the storage of another."""
    now = trace_state()
    if now == _TOP:
        if not isinstance(source, Tracer) and not isinstance(storage.buffer, Tracer):
            return
    elif storage.guard.trace == now:  # type: ignore[attr-defined]  # the guard is ours
        return
    raise RuntimeError(
        "a JAX transformation cannot write to an array made outside of it: pass the array as an "
        "argument and return it, or use strata_api.jit, which writes it back"
    )


# -- what explain lists ---------------------------------------------------------------------------


def tell_of_write(before: Buffer, owned: bool, donated: bool) -> None:
    """Note why a write, which has been done, did not reuse the buffer, if it did not."""
    array = f"the array of {before.nbytes} bytes"
    if donated and before.is_deleted():
        return
    if donated:
        _explain.note(
            "refused donation", f"a write copies {array}: the host reads its memory, see np.asarray"
        )
    elif owned:
        _explain.note("refused donation", f"a write copies {array}: its buffer is held")
    else:
        _explain.note("copy", f"a write copies {array}, whose buffer was taken in or handed out")


@cache
def _listen() -> None:
    jax.monitoring.register_event_duration_secs_listener(_tell_of_compilation)


def _tell_of_compilation(event: str, duration_secs: float, **kwargs: str | int) -> None:
    if _explain.active and event.endswith("/backend_compile_duration"):
        name = kwargs.get("fun_name", "a program")
        _explain.note("compilation", f"{name} in {duration_secs * 1e3:.0f} ms")


def _device(device: jax.Device) -> Device:
    return Device("jax", device.platform, device.id, device)


_INSTEAD = {
    "nonzero": "use where(condition, x, y), or a mask",
    "unique": "use sort",
    "repeat": "give repeats as an integer",
}

_MOST_CONSTANTS = 4096
BACKEND = JAXBackend()
_explain.on_start(_listen)
_PLACEHOLDER = Element(BACKEND, None)  # type: ignore[arg-type]  # JAX unflattens marks that are no arrays
