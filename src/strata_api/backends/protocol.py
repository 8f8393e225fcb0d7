"""The seam between arrays and the libraries that hold their data: what a backend must have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from strata_api._dimension import Extent
from strata_api._dtypes import DType, Scalar
from strata_api._shape import Shape

if TYPE_CHECKING:
    from strata_api._storage import Storage
    from strata_api._view import View

Buffer: TypeAlias = Any  # what a backend holds: an ndarray, a jax.Array, a Spec
Params: TypeAlias = tuple[tuple[str, Any], ...]  # of a kernel, by name
Start: TypeAlias = Any  # where a view begins: an int, or a traced integer


class Spec(NamedTuple):
    """Shape and dtype of an array that may have no data."""

    shape: Shape
    dtype: DType


class Device(NamedTuple):
    """Where an array's data is. Prints as ``numpy:cpu`` or ``jax:gpu:1``; equal to that string.

    ``native`` is the backend's own device or sharding, where it has one.
    """

    backend: str
    kind: str
    number: int | None = None
    native: Any = None

    def __str__(self) -> str:
        parts = (self.backend, self.kind)
        return ":".join(parts if self.number is None else (*parts, str(self.number)))

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str(self) == other
        if not isinstance(other, Device):
            return NotImplemented
        return str(self) == str(other) and self.native == other.native

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


_SCALARS = {"i": (int,), "u": (int,), "f": (float, int), "c": (complex, float, int), "b": (bool,)}


class Element:
    """What one element of an array is: a backend and a dtype, one object for each pair.

    ``ordered`` says whether the arrays that carry it are known to be row-major: the NumPy backend
    has two elements for a dtype, so that one look-up tells whether a kernel must be asked for C
    order. ``loose`` is the one of the two for arrays of any order. ``takes`` holds the classes of
    Python scalars that a backend may assign as they are. ``weak`` is the class of the Python scalar
    that an array stands for, in a traced program, and as which it counts where dtypes are promoted.
    """

    __slots__ = ("_weakened", "backend", "dtype", "loose", "ordered", "takes", "weak")

    def __init__(self, backend: Backend, dtype: DType, loose: Element | None = None) -> None:
        self.backend = backend
        self.dtype = dtype
        self.loose = self if loose is None else loose
        self.ordered = loose is not None
        self.takes = _SCALARS.get(getattr(dtype, "kind", ""), ())
        self.weak: type[Scalar] | None = None
        self._weakened: Element | None = None

    def weakened(self) -> Element:
        """Return the element of an array that stands for a Python scalar of the dtype's kind."""
        if self._weakened is None:
            self._weakened = Element(self.backend, self.dtype)
            self._weakened.weak = _SCALARS[self.dtype.kind][0]
        return self._weakened

    def __repr__(self) -> str:
        return f"Element({self.backend.name}, {self.dtype})"


class Operand(Protocol):
    """What a backend sees of an array: a storage, a view of it, and the backend's own cache."""

    _element: Element
    _buffer: Buffer  # the view's own buffer, where the backend's views alias; else None
    _lazy_storage: Storage | None  # what `_storage` and `_view` return, where they are known
    _lazy_view: View | tuple[Any, Any]

    @property
    def _storage(self) -> Storage: ...
    @property
    def _view(self) -> View: ...


class Backend(Protocol):
    """The methods of a backend. Shapes and dtypes are checked before any of them is called."""

    name: str
    aliases: bool  # its own views alias, so that an array keeps the buffer of its view

    # which arrays there are, and where
    def element(self, dtype: DType) -> Element: ...
    def storage(self, buffer: Buffer, element: Element, owned: bool = True) -> Storage: ...
    def devices(self) -> tuple[Device, ...]: ...
    def default_device(self) -> Device: ...
    def find_device(self, device: object) -> Device:
        """Return the device that a user named, or raise ``ValueError``."""
        ...

    def device_of(self, x: Operand) -> Device: ...
    def adopt(self, array_type: type) -> None: ...

    def compiler(self) -> Any:
        """Return what has ``Jit`` and the loops, or ``None``: then programs are plain Python."""
        ...

    # data in and out
    def is_native(self, obj: object) -> bool: ...
    def spec(self, buffer: Buffer) -> Spec: ...
    def strides(self, storage: Storage) -> tuple[int, ...]: ...
    def is_readonly(self, buffer: Buffer) -> bool: ...
    def protected(self, buffer: Buffer) -> Buffer:
        """Return the buffer so that the backend's own writes to it fail, if it has any."""
        ...

    def take_in(self, obj: Any, device: Device, copy: bool | None) -> Buffer:
        """Return a buffer for an ndarray or a native array; ``copy=None`` shares if it can."""
        ...

    def constant(self, value: Scalar, dtype: DType) -> Buffer:
        """Return a 0-d buffer to compute with."""
        ...

    def is_concrete(self, x: Operand) -> bool: ...
    def to_numpy(self, x: Operand, copy: bool | None) -> Any: ...
    def native(self, x: Operand) -> Buffer:
        """Return the elements as the backend's own array, for others to hold."""
        ...

    def to_dlpack(self, x: Operand, **options: Any) -> Any: ...
    def dlpack_device(self, x: Operand) -> tuple[int, int]: ...
    def wait(self, x: Operand) -> None: ...
    def move(self, x: Operand, device: Device) -> Buffer: ...

    # computing
    def direct(self, name: str, ordered: bool) -> Any:
        """Return what a family may call on two arrays' own buffers at once, or ``None``."""
        ...

    def program(self, name: str, dtype: DType, params: Params = ()) -> Any:
        """Return what `run` takes for a kernel with these parameters, or ``None``."""
        ...

    def run(self, program: Any, operands: Sequence[Operand]) -> Buffer: ...

    def call(
        self, name: str, spec: Any, operands: Sequence[Operand], params: dict[str, Any]
    ) -> Any:
        """Run a kernel. ``spec`` is what comes out: a ``Spec``, or a tuple of them."""
        ...

    # views
    def read(self, x: Operand) -> Buffer: ...
    def assign(self, x: Operand, value: Operand) -> None: ...
    def update(self, name: str, spec: Spec, x: Operand, operands: Sequence[Operand]) -> None:
        """Write a kernel's result into its first operand."""
        ...

    def gather(self, x: Operand, picks: Sequence[Operand], spec: Spec) -> Buffer:
        """Return ``x[picks]``, index arrays along the leading axes."""
        ...

    def scatter(self, x: Operand, picks: Sequence[Operand], value: Operand) -> None:
        """Do ``x[picks] = value``; of repeated positions the last one wins."""
        ...

    def compress(self, x: Operand, mask: Operand, spec: Spec) -> Buffer: ...
    def put_where(self, x: Operand, mask: Operand, value: Operand) -> None: ...
    def position(self, x: Operand, n: Extent, size: Extent = 1) -> Start:
        """Return where a 0-d integer array points: an int, or a traced start of ``size`` elements
        that lie on an axis of extent ``n``."""
        ...

    def may_share_memory(self, a: Operand, b: Operand) -> bool: ...

    # what the view steps are made of
    def window(
        self, base: Buffer, starts: Sequence[Start], shape: Shape, steps: Sequence[int]
    ) -> Buffer: ...
    def set_window(
        self, base: Buffer, starts: Sequence[Start], steps: Sequence[int], value: Buffer
    ) -> Buffer: ...
    def transpose(self, buffer: Buffer, axes: Sequence[int]) -> Buffer: ...
    def reshape(self, buffer: Buffer, shape: Shape) -> Buffer: ...
    def broadcast(self, buffer: Buffer, shape: Shape) -> Buffer: ...
    def diagonal(self, buffer: Buffer, axis: int, count: int) -> Buffer: ...
    def set_diagonal(self, buffer: Buffer, axis: int, count: int, value: Buffer) -> Buffer: ...
