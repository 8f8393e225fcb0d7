"""The abstract backend: arrays with a dtype and extents, and no data.

Its buffer is the `Spec` that a family worked out, so running a program on it is shape inference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strata_api._dimension import Extent, extent
from strata_api._dtypes import DType, Scalar
from strata_api._shape import Shape
from strata_api._storage import Storage
from strata_api._view import row_major
from strata_api.backends.protocol import Buffer, Device, Element, Operand, Params, Spec, Start

_NOWHERE = Device("abstract", "spec")


class AbstractBackend:
    """Shapes and dtypes alone."""

    name = "abstract"
    aliases = False

    def __init__(self) -> None:
        self._elements: dict[DType, Element] = {}

    # -- which arrays there are, and where --

    def element(self, dtype: DType) -> Element:
        element = self._elements.get(dtype)
        return element or self._elements.setdefault(dtype, Element(self, dtype))

    def storage(self, buffer: Buffer, element: Element, owned: bool = True) -> Storage:
        return Storage(buffer, element, owned)

    def devices(self) -> tuple[Device, ...]:
        return (_NOWHERE,)

    def default_device(self) -> Device:
        return _NOWHERE

    def find_device(self, device: object) -> Device:
        if device in ("spec", "abstract:spec"):
            return _NOWHERE
        raise ValueError(
            f"unknown device {device!r}: the abstract backend has 'abstract:spec' only"
        )

    def device_of(self, x: Operand) -> Device:
        return _NOWHERE

    def adopt(self, array_type: type) -> None:
        pass

    def compiler(self) -> None:
        return None

    # -- data in and out --

    def is_native(self, obj: object) -> bool:
        return isinstance(obj, Spec)

    def spec(self, buffer: Buffer) -> Spec:
        return buffer  # type: ignore[no-any-return]  # the buffer is its Spec

    def strides(self, storage: Storage) -> tuple[int, ...]:
        return row_major(storage.buffer.shape)

    def is_readonly(self, buffer: Buffer) -> bool:
        return False

    def protected(self, buffer: Buffer) -> Buffer:
        return buffer

    def take_in(self, obj: Any, device: Device, copy: bool | None) -> Buffer:
        return Spec(tuple(obj.shape), obj.dtype)

    def constant(self, value: Scalar, dtype: DType) -> Buffer:
        return Spec((), dtype)

    def is_concrete(self, x: Operand) -> bool:
        return False

    def to_numpy(self, x: Operand, copy: bool | None) -> Any:
        raise TypeError(
            f"an abstract array of shape {x._view.shape(x._storage.buffer.shape)} has no values: "
            "use where in place of a branch, or give the number to the function as a Python one"
        )

    def native(self, x: Operand) -> Buffer:
        return self.read(x)

    def to_dlpack(self, x: Operand, **options: Any) -> Any:
        return self.to_numpy(x, None)

    def dlpack_device(self, x: Operand) -> tuple[int, int]:
        raise TypeError("an abstract array has no data, so it is on no DLPack device")

    def wait(self, x: Operand) -> None:
        pass

    def move(self, x: Operand, device: Device) -> Buffer:
        return self.read(x)

    # -- computing --

    def direct(self, name: str, ordered: bool) -> None:
        return None

    def program(self, name: str, dtype: DType, params: Params = ()) -> None:
        return None

    def run(self, program: Any, operands: Sequence[Operand]) -> Buffer:
        raise NotImplementedError

    def call(
        self, name: str, spec: Any, operands: Sequence[Operand], params: dict[str, Any]
    ) -> Any:
        return spec

    # -- views --

    def read(self, x: Operand) -> Buffer:
        return Spec(x._view.shape(x._storage.buffer.shape), x._element.dtype)

    def assign(self, x: Operand, value: Operand) -> None:
        pass

    def update(self, name: str, spec: Spec, x: Operand, operands: Sequence[Operand]) -> None:
        pass

    def gather(self, x: Operand, picks: Sequence[Operand], spec: Spec) -> Buffer:
        return spec

    def scatter(self, x: Operand, picks: Sequence[Operand], value: Operand) -> None:
        pass

    def compress(self, x: Operand, mask: Operand, spec: Spec) -> Buffer:
        return spec

    def put_where(self, x: Operand, mask: Operand, value: Operand) -> None:
        pass

    def position(self, x: Operand, n: Extent, size: Extent = 1) -> Start:
        return extent(n)

    def may_share_memory(self, a: Operand, b: Operand) -> bool:
        return a._storage is b._storage

    # -- what the view steps are made of: nothing is read, so none is called --

    def window(
        self, base: Buffer, starts: Sequence[Start], shape: Shape, steps: Sequence[int]
    ) -> Buffer:
        raise NotImplementedError

    def set_window(
        self, base: Buffer, starts: Sequence[Start], steps: Sequence[int], value: Buffer
    ) -> Buffer:
        raise NotImplementedError

    def transpose(self, buffer: Buffer, axes: Sequence[int]) -> Buffer:
        raise NotImplementedError

    def reshape(self, buffer: Buffer, shape: Shape) -> Buffer:
        raise NotImplementedError

    def broadcast(self, buffer: Buffer, shape: Shape) -> Buffer:
        raise NotImplementedError

    def diagonal(self, buffer: Buffer, axis: int, count: int) -> Buffer:
        raise NotImplementedError

    def set_diagonal(self, buffer: Buffer, axis: int, count: int, value: Buffer) -> Buffer:
        raise NotImplementedError


BACKEND = AbstractBackend()
