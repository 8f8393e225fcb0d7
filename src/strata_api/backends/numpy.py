"""The NumPy backend: buffers are ndarrays, and views of a buffer are NumPy's own views of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from strata_api._dimension import Extent
from strata_api._dtypes import DType, Scalar
from strata_api._shape import Shape
from strata_api._storage import Storage
from strata_api.backends.numpy_kernels import KERNELS
from strata_api.backends.numpy_searching import AT_ONCE
from strata_api.backends.protocol import Buffer, Device, Element, Operand, Params, Spec

_CPU = Device("numpy", "cpu")


class NumPyBackend:
    """NumPy's kernels, each given C order where an operand is not row-major."""

    name = "numpy"
    aliases = True

    def __init__(self) -> None:
        self._elements: dict[DType, Element] = {}

    # -- which arrays there are, and where --

    def element(self, dtype: DType) -> Element:
        element = self._elements.get(dtype)
        if element is None:
            made = Element(self, dtype, loose=Element(self, dtype))
            element = self._elements.setdefault(dtype, made)
        return element

    def storage(self, buffer: Buffer, element: Element, owned: bool = True) -> Storage:
        return Storage(buffer, element, owned)

    def devices(self) -> tuple[Device, ...]:
        return (_CPU,)

    def default_device(self) -> Device:
        return _CPU

    def find_device(self, device: object) -> Device:
        if device in ("cpu", "numpy:cpu", _CPU):
            return _CPU
        raise ValueError(f"unknown device {device!r}: the NumPy backend has 'numpy:cpu' only")

    def device_of(self, x: Operand) -> Device:
        return _CPU

    def adopt(self, array_type: type) -> None:
        pass

    def compiler(self) -> None:
        return None

    # -- data in and out --

    def is_native(self, obj: object) -> bool:
        return isinstance(obj, np.ndarray | np.generic)

    def spec(self, buffer: Buffer) -> Spec:
        return Spec(buffer.shape, buffer.dtype)

    def strides(self, storage: Storage) -> tuple[int, ...]:
        itemsize = storage.buffer.itemsize
        return tuple([stride // itemsize for stride in storage.buffer.strides])

    def is_readonly(self, buffer: Buffer) -> bool:
        return not buffer.flags.writeable or _overlaps_itself(buffer)

    def protected(self, buffer: Buffer) -> Buffer:
        view = buffer[...]
        view.flags.writeable = False
        return view

    def take_in(self, obj: Any, device: Device, copy: bool | None) -> Buffer:
        array = np.asarray(obj)  # a jax.Array's own memory, read-only
        native = array.dtype.newbyteorder("=")
        usable = native == array.dtype and (not array.strides or _whole_elements(array))
        if copy is False and not usable:
            raise ValueError(
                "copy=False: a buffer of another byte order, or with strides of parts of an "
                "element, must be copied"
            )
        if copy or not usable:
            return np.array(array, dtype=native, order="C", copy=True)
        return array

    def constant(self, value: Scalar, dtype: DType) -> Buffer:
        return np.asarray(value, dtype=dtype)

    def is_concrete(self, x: Operand) -> bool:
        return True

    def to_numpy(self, x: Operand, copy: bool | None) -> Any:
        buffer = self.read(x)
        if copy is False and x._buffer is None:
            raise ValueError("copy=False: a view with no strided layout must be copied")
        return np.array(buffer, order="C") if copy else buffer

    def native(self, x: Operand) -> Buffer:
        return self.read(x)

    def to_dlpack(self, x: Operand, **options: Any) -> Any:
        if options.get("copy") is False and x._buffer is None:
            raise BufferError("copy=False: a view with no strided layout must be copied")
        return self.read(x).__dlpack__(**options)

    def dlpack_device(self, x: Operand) -> tuple[int, int]:
        return self.read(x).__dlpack_device__()  # type: ignore[no-any-return]  # NumPy's own pair

    def wait(self, x: Operand) -> None:
        pass

    def move(self, x: Operand, device: Device) -> Buffer:
        return self.read(x)

    def zero_dimensional(self, value: Any) -> Buffer:
        """Return the 0-d array for the scalar that a NumPy function returned."""
        return np.asarray(value)

    # -- computing --

    def direct(self, name: str, ordered: bool) -> Callable[..., Any] | None:
        kernel = KERNELS[name]
        if isinstance(kernel, np.ufunc):
            return kernel if ordered else partial(kernel, order="C")
        return AT_ONCE.get(name)

    def program(self, name: str, dtype: DType, params: Params = ()) -> Any:
        return partial(KERNELS[name], **dict(params)) if params else KERNELS[name], dtype

    def run(self, program: Any, operands: Sequence[Operand]) -> Buffer:
        kernel, dtype = program
        buffers = [self.read(x) for x in operands]
        return _row_major(kernel(*buffers), dtype, buffers)

    def call(
        self, name: str, spec: Any, operands: Sequence[Operand], params: dict[str, Any]
    ) -> Any:
        buffers = [self.read(x) for x in operands]
        result = KERNELS[name](*buffers, **params)
        if type(spec) is Spec:
            return _row_major(result, spec.dtype, buffers)
        return tuple(
            [_row_major(part, one.dtype, buffers) for part, one in zip(result, spec, strict=True)]
        )

    # -- views --

    def read(self, x: Operand) -> Buffer:
        buffer = x._buffer
        return x._view.read(x._storage.buffer, self) if buffer is None else buffer

    def assign(self, x: Operand, value: Operand) -> None:
        if x._buffer is not None:
            x._buffer[...] = self.read(value)
            return
        source, base = self.read(value), x._storage.buffer
        if np.may_share_memory(source, base):
            source = source.copy()
        self._write(x, self.broadcast(source, x._view.shape(base.shape)))

    def update(self, name: str, spec: Spec, x: Operand, operands: Sequence[Operand]) -> None:
        kernel = KERNELS[name]
        if (
            x._buffer is not None
            and isinstance(kernel, np.ufunc)
            and spec.dtype == x._element.dtype
        ):
            kernel(*[self.read(operand) for operand in operands], out=x._buffer)
            return
        result = self.call(name, spec, operands, {})
        if x._buffer is not None:
            x._buffer[...] = result
        else:
            self._write(x, result.astype(x._element.dtype))

    def gather(self, x: Operand, picks: Sequence[Operand], spec: Spec) -> Buffer:
        dense, key = self.read(x), tuple([self.read(pick) for pick in picks])
        _check_positions(dense, key)
        return np.ascontiguousarray(dense[key])

    def scatter(self, x: Operand, picks: Sequence[Operand], value: Operand) -> None:
        key = tuple([self.read(pick) for pick in picks])
        _check_positions(self.read(x), key)
        self._put(x, key, value)

    def compress(self, x: Operand, mask: Operand, spec: Spec) -> Buffer:
        return np.ascontiguousarray(self.read(x)[self.read(mask)])

    def put_where(self, x: Operand, mask: Operand, value: Operand) -> None:
        chosen = self.read(mask)
        try:
            self._put(x, chosen, value)
        except ValueError:
            raise ValueError(
                f"assignment: a value of shape {self.read(value).shape} does not broadcast to the "
                f"{np.count_nonzero(chosen)} elements of the mask"
            ) from None

    def position(self, x: Operand, n: Extent, size: Extent = 1) -> int:
        return int(self.read(x))

    def _put(self, x: Operand, key: Any, value: Operand) -> None:
        dense, source = self.read(x), self.read(value)
        if np.may_share_memory(dense, source):  # at a mask NumPy reads what it has just written
            source = source.copy()
        dense[key] = source
        if x._buffer is None:
            self._write(x, dense)

    def _write(self, x: Operand, value: Buffer) -> None:
        """Write every element of a view that NumPy has no view for."""
        base = x._storage.buffer
        result = x._view.write(base, value, self)
        if not np.may_share_memory(result, base):  # a reshape of the base was a copy
            base[...] = result

    def may_share_memory(self, a: Operand, b: Operand) -> bool:
        return np.may_share_memory(self.read(a), self.read(b))

    # -- what the view steps are made of --

    def window(
        self, base: Buffer, starts: Sequence[Any], shape: Shape, steps: Sequence[int]
    ) -> Buffer:
        return base[(*_box(starts, shape, steps), ...)]  # the "..." keeps a 0-d array an array

    def set_window(
        self, base: Buffer, starts: Sequence[Any], steps: Sequence[int], value: Buffer
    ) -> Buffer:
        base[_box(starts, value.shape, steps)] = value
        return base

    def transpose(self, buffer: Buffer, axes: Sequence[int]) -> Buffer:
        return buffer.transpose(axes)

    def reshape(self, buffer: Buffer, shape: Shape) -> Buffer:
        return buffer.reshape(shape)

    def broadcast(self, buffer: Buffer, shape: Shape) -> Buffer:
        return np.broadcast_to(buffer, shape)  # type: ignore[arg-type]  # where data is, all are known

    def diagonal(self, buffer: Buffer, axis: int, count: int) -> Buffer:
        strides = list(buffer.strides)
        strides[axis : axis + count] = [sum(strides[axis : axis + count])]
        shape = buffer.shape[: axis + 1] + buffer.shape[axis + count :]
        return np.lib.stride_tricks.as_strided(buffer, shape, strides)

    def set_diagonal(self, buffer: Buffer, axis: int, count: int, value: Buffer) -> Buffer:
        self.diagonal(buffer, axis, count)[...] = value
        return buffer


def _box(starts: Sequence[Any], shape: Sequence[Any], steps: Sequence[int]) -> tuple[slice, ...]:
    """Return the slices of a box; a negative stop below 0 must be spelled ``None``."""
    slices = []
    for start, n, step in zip(starts, shape, steps, strict=True):
        stop = start + n * step
        slices.append(slice(start, None if stop < 0 else stop, step) if n else slice(0, 0))
    return tuple(slices)


def _check_positions(dense: Any, key: tuple[Any, ...]) -> None:
    """Raise ``IndexError`` for an index out of range where there are no elements.

    NumPy itself looks at such an index from 2.4 on.
    """
    if dense.size or 0 in np.broadcast_shapes(*[index.shape for index in key]):
        return
    for axis, (index, n) in enumerate(zip(key, dense.shape, strict=False)):
        if index.min() < -n or index.max() >= n:
            raise IndexError(f"an index is out of range for axis {axis} with extent {n}")


def _row_major(result: Any, dtype: DType, buffers: Sequence[Buffer]) -> Buffer:
    """Return a result as a row-major array of its own."""
    array = np.asarray(result, dtype=dtype, order="C")
    if array.base is not None or not array.flags.writeable or any(array is b for b in buffers):
        return array.copy()
    return array


def _whole_elements(array: Any) -> bool:
    return all(stride % array.itemsize == 0 for stride in array.strides) and array.flags.aligned


def _overlaps_itself(array: Any) -> bool:
    """Tell whether two indices share an element."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    spans = sorted(
        (abs(stride), n) for stride, n in zip(array.strides, array.shape, strict=True) if n > 1
    )
    reach = array.itemsize
    for stride, n in spans:
        if stride < reach:
            return _slow_overlap(array)
        reach += stride * (n - 1)
    return False


def _slow_overlap(array: Any) -> bool:
    if array.size == 0:
        return False
    offsets = np.zeros((), dtype=np.int64)
    for stride, n in zip(array.strides, array.shape, strict=True):
        offsets = np.add.outer(offsets, np.arange(n, dtype=np.int64) * stride)
    return bool(np.unique(offsets).size != array.size)


BACKEND = NumPyBackend()
