"""The array: a view of a storage."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from types import ModuleType
from typing import Any

from strata_api import _apply, _repr, backends
from strata_api._access import assign, basic_view, getitem, setitem, update
from strata_api._apply import (
    binary,
    copied,
    deferred,
    deferred_matmul,
    fresh,
    matmul,
    reduction,
    taken_in,
    unary,
    viewed,
)
from strata_api._dimension import Extent
from strata_api._dtypes import DType, NDArray, Scalar
from strata_api._layout import MemoryDescriptor
from strata_api._packing import descriptor_of
from strata_api._reorder import laid_out
from strata_api._rules import (
    ABS,
    ADD,
    ANY,
    BITWISE_AND,
    BITWISE_INVERT,
    BITWISE_LEFT_SHIFT,
    BITWISE_OR,
    BITWISE_RIGHT_SHIFT,
    BITWISE_XOR,
    DIVIDE,
    EQUAL,
    FLOOR_DIVIDE,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MULTIPLY,
    NEGATIVE,
    NOT_EQUAL,
    POSITIVE,
    POW,
    REMAINDER,
    SUBTRACT,
)
from strata_api._shape import size, visible
from strata_api._storage import Storage
from strata_api._view import Affine, Reshape, View, permuted
from strata_api.backends.protocol import Buffer, Device, Element

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class Array:
    """An array of the array API standard, on any backend. Made by ``asarray`` and the like.

    An array is a view of a storage. Slices, transposes and the like are views of the same storage,
    and what is written through one is seen through all.
    """

    # An array is built by setting these, without a constructor call: see the families. A view of a
    # NumPy-backed array keeps its parent and what it did, and works out the chain when asked for.
    __slots__ = ("__weakref__", "_buffer", "_element", "_lazy_storage", "_lazy_view")

    _buffer: Buffer
    _element: Element
    _lazy_storage: Storage | None
    _lazy_view: View | tuple[Array, Any]

    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]  # the data can change, so an array is no key

    @property
    def _storage(self) -> Storage:
        if self._lazy_storage is None:
            self._lazy_storage = _storage_of(self)
        return self._lazy_storage

    @property
    def _view(self) -> View:
        if type(self._lazy_view) is tuple:
            _work_out(self)
        return self._lazy_view  # type: ignore[return-value]  # no tuple any more

    @staticmethod
    def _over(buffer: Buffer, element: Element | None = None) -> Array:
        """Return an array over a buffer that others may hold: how a backend makes arrays."""
        if element is not None:
            return fresh(buffer, element, owned=False)
        backend = backends.backend_of(buffer)
        if backend is None:
            raise TypeError(f"expected a buffer of a backend, got {type(buffer).__name__}")
        return taken_in(buffer, backend)

    @staticmethod
    def _looking(storage: Storage, view: View) -> Array:
        """Return an array that is a view of a storage: how a backend hands views out."""
        array = Array()
        array._element = storage.element
        array._buffer = None
        array._lazy_storage = storage
        array._lazy_view = view
        return array

    # -- attributes --

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._element.dtype

    @property
    def device(self) -> Device:
        """The device that the data is on."""
        return self._element.backend.device_of(self)

    @property
    def dims(self) -> tuple[Extent, ...]:
        """The extents, with a ``Dimension`` for each that is unknown."""
        if self._buffer is not None:
            return self._buffer.shape  # type: ignore[no-any-return]  # every buffer has a shape
        return self._view.shape(self._storage.buffer.shape)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The extents, with ``None`` for each that is unknown."""
        if self._buffer is not None:
            return self._buffer.shape  # type: ignore[no-any-return]  # every buffer has a shape
        return visible(self.dims)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.dims)

    @property
    def size(self) -> int | None:
        """The number of elements; ``None`` if it is unknown."""
        n = size(self.dims)
        return n if type(n) is int else None

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._element.dtype.itemsize

    @property
    def nbytes(self) -> int | None:
        """The size of the elements in bytes; ``None`` if it is unknown."""
        n = self.size
        return None if n is None else n * self.itemsize

    @property
    def T(self) -> Array:
        """The transpose of a matrix: a view.

        Raises: ``ValueError`` unless the array has two axes.
        """
        if self.ndim != 2:
            raise ValueError(f"x.T needs a matrix, got shape {self.shape}: use mT or permute_dims")
        return viewed(self, permuted(self.dims, (1, 0)))

    @property
    def mT(self) -> Array:
        """The transposes of a stack of matrices: a view.

        Raises: ``ValueError`` unless the array has two axes or more.
        """
        n = self.ndim
        if n < 2:
            raise ValueError(f"x.mT needs two axes or more, got shape {self.shape}")
        return viewed(self, permuted(self.dims, (*range(n - 2), n - 1, n - 2)))

    # -- the layout --

    @property
    def descriptor(self) -> MemoryDescriptor:
        """How the elements lie in the storage; the empty descriptor for an array without axes.

        Raises: ``ValueError`` for a view with negative strides, or one that strides and blocks do
        not describe.
        """
        storage = self._storage
        strides = self._element.backend.strides(storage)
        return descriptor_of(self._view, storage.buffer.shape, strides, self.dtype)

    def to_layout(self, tag: str) -> Array:
        """Return the array laid out anew by a format tag, over a fresh buffer: see ``reorder``.

        Raises: ``ValueError`` for a tag of another rank, ``TypeError`` for elements of bool.
        """
        return laid_out(self, MemoryDescriptor(self.dims, self.dtype, tag))

    # -- indexing --

    def __getitem__(self, key: Any, /) -> Array:
        buffer = self._buffer
        if buffer is not None and (
            key.__class__ in _BASIC
            or (key.__class__ is tuple and _BASIC.issuperset(map(type, key)))
        ):
            return _part(self, buffer, key)
        return getitem(self, key)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        buffer = self._buffer
        if buffer is not None and (
            key.__class__ in _BASIC
            or (key.__class__ is tuple and _BASIC.issuperset(map(type, key)))
        ):
            if value.__class__ is Array:
                fits = value._element.dtype is self._element.dtype
                value_buffer = value._buffer if fits else None
            else:
                value_buffer = value if value.__class__ in self._element.takes else None
            if value_buffer is not None:
                try:
                    buffer[key] = value_buffer
                    return
                except (ValueError, IndexError, TypeError, OverflowError):
                    pass  # the slow path says what is wrong
        setitem(self, key, value)

    def __len__(self) -> int:
        if not self.dims:
            raise TypeError("len() of a 0-d array")
        n = self.dims[0]
        if type(n) is not int:
            raise TypeError(f"len() of an array whose first extent is unknown ({n}): use x.dims")
        return n

    def __iter__(self) -> Iterator[Array]:
        if not self.dims:
            raise TypeError("iteration over a 0-d array")
        return iter([getitem(self, k) for k in range(len(self))])

    def __contains__(self, value: object, /) -> bool:
        return bool(reduction(ANY, binary(EQUAL, self, value), None, False))

    # -- conversion to Python --

    def __bool__(self) -> bool:
        return bool(self._item("bool"))

    def __int__(self) -> int:
        value = self._item("int")
        if isinstance(value, complex):
            raise TypeError("int() of a complex array: take real(x) or abs(x) first")
        return int(value)

    def __float__(self) -> float:
        value = self._item("float")
        if isinstance(value, complex):
            raise TypeError("float() of a complex array: take real(x) or abs(x) first")
        return float(value)

    def __complex__(self) -> complex:
        return complex(self._item("complex"))

    def __index__(self) -> int:
        if self.dims or self._element.dtype.kind not in "iu":
            raise TypeError(
                f"only an integer array without axes is an index, got shape {self.shape} "
                f"and dtype {self.dtype}"
            )
        value = self._item("index")
        assert isinstance(value, int)
        return value

    def _item(self, what: str) -> Scalar:
        """Return the one element as a Python scalar."""
        if self.size != 1 or self.dims:
            raise TypeError(f"{what}() needs an array without axes, got shape {self.shape}")
        return self._element.backend.to_numpy(self, None).item()  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python scalars; one scalar without axes."""
        return self._element.backend.to_numpy(self, None).tolist()

    def item(self) -> Scalar:
        """Return the element of an array of size 1 as a Python scalar."""
        if self.size != 1:
            raise ValueError(f"item() needs an array of size 1, got shape {self.shape}")
        return self._element.backend.to_numpy(self, None).item()  # type: ignore[no-any-return]

    # -- how it shows itself --

    def __repr__(self) -> str:
        return _repr.text(self)

    def __str__(self) -> str:
        return _repr.plain(self)

    def __format__(self, spec: str, /) -> str:
        return format(self._item("format") if spec and not self.dims else str(self), spec)

    def _repr_html_(self) -> str:
        return _repr.html(self)

    # -- arithmetic operators --

    def __abs__(self, /) -> Array:
        return unary(ABS, self)

    def __add__(self, other: Any, /) -> Array:
        return binary(ADD, self, other, deferred)

    def __radd__(self, other: Any, /) -> Array:
        return binary(ADD, other, self, deferred)

    def __iadd__(self, other: Any, /) -> Array:
        return update(ADD, self, other)

    def __sub__(self, other: Any, /) -> Array:
        return binary(SUBTRACT, self, other, deferred)

    def __rsub__(self, other: Any, /) -> Array:
        return binary(SUBTRACT, other, self, deferred)

    def __isub__(self, other: Any, /) -> Array:
        return update(SUBTRACT, self, other)

    def __mul__(self, other: Any, /) -> Array:
        return binary(MULTIPLY, self, other, deferred)

    def __rmul__(self, other: Any, /) -> Array:
        return binary(MULTIPLY, other, self, deferred)

    def __imul__(self, other: Any, /) -> Array:
        return update(MULTIPLY, self, other)

    def __truediv__(self, other: Any, /) -> Array:
        return binary(DIVIDE, self, other, deferred)

    def __rtruediv__(self, other: Any, /) -> Array:
        return binary(DIVIDE, other, self, deferred)

    def __itruediv__(self, other: Any, /) -> Array:
        return update(DIVIDE, self, other)

    def __floordiv__(self, other: Any, /) -> Array:
        return binary(FLOOR_DIVIDE, self, other, deferred)

    def __rfloordiv__(self, other: Any, /) -> Array:
        return binary(FLOOR_DIVIDE, other, self, deferred)

    def __ifloordiv__(self, other: Any, /) -> Array:
        return update(FLOOR_DIVIDE, self, other)

    def __mod__(self, other: Any, /) -> Array:
        return binary(REMAINDER, self, other, deferred)

    def __rmod__(self, other: Any, /) -> Array:
        return binary(REMAINDER, other, self, deferred)

    def __imod__(self, other: Any, /) -> Array:
        return update(REMAINDER, self, other)

    def __pow__(self, other: Any, /) -> Array:
        return binary(POW, self, other, deferred)

    def __rpow__(self, other: Any, /) -> Array:
        return binary(POW, other, self, deferred)

    def __ipow__(self, other: Any, /) -> Array:
        return update(POW, self, other)

    def __matmul__(self, other: Any, /) -> Array:
        return matmul(self, other, deferred_matmul)

    def __rmatmul__(self, other: Any, /) -> Array:
        return matmul(other, self, deferred_matmul)

    def __imatmul__(self, other: Any, /) -> Array:
        assign(self, matmul(self, other))
        return self

    def __neg__(self, /) -> Array:
        return unary(NEGATIVE, self)

    def __pos__(self, /) -> Array:
        return unary(POSITIVE, self)

    # -- bitwise operators --

    def __and__(self, other: Any, /) -> Array:
        return binary(BITWISE_AND, self, other, deferred)

    def __rand__(self, other: Any, /) -> Array:
        return binary(BITWISE_AND, other, self, deferred)

    def __iand__(self, other: Any, /) -> Array:
        return update(BITWISE_AND, self, other)

    def __or__(self, other: Any, /) -> Array:
        return binary(BITWISE_OR, self, other, deferred)

    def __ror__(self, other: Any, /) -> Array:
        return binary(BITWISE_OR, other, self, deferred)

    def __ior__(self, other: Any, /) -> Array:
        return update(BITWISE_OR, self, other)

    def __xor__(self, other: Any, /) -> Array:
        return binary(BITWISE_XOR, self, other, deferred)

    def __rxor__(self, other: Any, /) -> Array:
        return binary(BITWISE_XOR, other, self, deferred)

    def __ixor__(self, other: Any, /) -> Array:
        return update(BITWISE_XOR, self, other)

    def __lshift__(self, other: Any, /) -> Array:
        return binary(BITWISE_LEFT_SHIFT, self, other, deferred)

    def __rlshift__(self, other: Any, /) -> Array:
        return binary(BITWISE_LEFT_SHIFT, other, self, deferred)

    def __ilshift__(self, other: Any, /) -> Array:
        return update(BITWISE_LEFT_SHIFT, self, other)

    def __rshift__(self, other: Any, /) -> Array:
        return binary(BITWISE_RIGHT_SHIFT, self, other, deferred)

    def __rrshift__(self, other: Any, /) -> Array:
        return binary(BITWISE_RIGHT_SHIFT, other, self, deferred)

    def __irshift__(self, other: Any, /) -> Array:
        return update(BITWISE_RIGHT_SHIFT, self, other)

    def __invert__(self, /) -> Array:
        return unary(BITWISE_INVERT, self)

    # -- comparison operators --

    def __eq__(self, other: Any, /) -> Array:  # type: ignore[override]  # elementwise
        return binary(EQUAL, self, other, deferred)

    def __ne__(self, other: Any, /) -> Array:  # type: ignore[override]  # elementwise
        return binary(NOT_EQUAL, self, other, deferred)

    def __lt__(self, other: Any, /) -> Array:
        return binary(LESS, self, other, deferred)

    def __le__(self, other: Any, /) -> Array:
        return binary(LESS_EQUAL, self, other, deferred)

    def __gt__(self, other: Any, /) -> Array:
        return binary(GREATER, self, other, deferred)

    def __ge__(self, other: Any, /) -> Array:
        return binary(GREATER_EQUAL, self, other, deferred)

    # -- the namespace, devices, and other libraries --

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """Return the namespace bound to this array's backend.

        Raises: ``ValueError`` for a version of the standard that the namespace does not have.
        """
        if api_version is not None and api_version not in API_VERSIONS:
            raise ValueError(
                f"unknown array API version {api_version!r}: expected one of "
                f"{', '.join(API_VERSIONS)}"
            )
        return backends.namespace(self._element.backend.name)

    def to_device(self, device: Any, /, *, stream: object = None) -> Array:
        """Return the array on another device, of another backend too; itself if it is there.

        Raises: ``ValueError`` for an unknown device or a stream.
        """
        if stream is not None:
            raise ValueError(f"streams are not supported, got {stream!r}")
        backend, target = backends.resolve(device)
        if target == self.device:
            return self
        if backend is self._element.backend:
            return fresh(backend.move(self, target), backend.element(self.dtype))
        host = self._element.backend.to_numpy(self, None)
        return fresh(backend.take_in(host, target, True), backend.element(self.dtype))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the elements as an ndarray: the same memory, where the backend has host memory."""
        host = self._element.backend.to_numpy(self, copy)
        if dtype is None or dtype == host.dtype:
            return host
        if copy is False:
            raise ValueError(f"copy=False: another dtype ({dtype}) cannot be had without a copy")
        return host.astype(dtype)

    def __jax_array__(self) -> Any:
        """Return the elements as a jax.Array: what JAX's own functions take an array for.

        Raises: ``ImportError`` where JAX is not installed.
        """
        backend = backends.get_backend("jax")
        if self._element.backend is backend:
            return backend.native(self)
        host = self._element.backend.to_numpy(self, None)
        return backend.take_in(host, backend.default_device(), None)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule. Source: the standard, ``array.__dlpack__``.

        Raises: ``BufferError`` for what DLPack cannot carry without a copy.
        """
        return self._element.backend.to_dlpack(
            self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and number. Source: the standard."""
        return self._element.backend.dlpack_device(self)

    def block_until_ready(self) -> Array:
        """Wait for the computations that the array's data depends on, and return the array."""
        self._element.backend.wait(self)
        return self

    def __copy__(self) -> Array:
        return copied(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        memo[id(self)] = result = copied(self)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        host = self._element.backend.to_numpy(self, None)
        return _unpickled, (host, self._element.backend.name, self._view.readonly)


def _unpickled(host: Any, name: str, readonly: bool) -> Array:
    backend = backends.get_backend(name)
    buffer = backend.take_in(host, backend.default_device(), True)
    return fresh(buffer, backend.element(host.dtype), View(readonly=readonly))


# -- the chain of a view, worked out when it is asked for ------------------------------------------

_storages = Lock()


_BASIC = frozenset({slice, int, type(None), type(Ellipsis)})  # what keys of views are made of


def _part(x: Array, buffer: Buffer, key: Any) -> Array:
    """Return ``x[key]`` where the backend's own views alias: its view now, the chain later."""
    try:
        part = buffer[key]
    except (IndexError, TypeError, ValueError):
        return getitem(x, key)
    if part.__class__ is not NDArray:  # integers alone: a copy of the element
        backend, dtype = x._element.backend, x._element.dtype
        return fresh(backend.constant(part, dtype), backend.element(dtype))
    array = Array()
    array._buffer = part
    array._element = x._element.loose
    array._lazy_storage = None
    array._lazy_view = (x, key)
    return array


def _work_out(x: Array) -> None:
    """Work out the chain of a view, and before it, not to recurse, those that it is a view of."""
    waiting = []
    lazy: Any = x._lazy_view
    while type(lazy) is tuple:
        waiting.append((x, *lazy))
        x = lazy[0]
        lazy = x._lazy_view
    for array, parent, made in reversed(waiting):
        array._lazy_storage = parent._storage
        array._lazy_view = _view_made(array, parent, made)


def _view_made(x: Array, parent: Array, made: Any) -> View:
    """Return the view that ``x`` is, made of its parent by a step, a basic key, or a reshape."""
    if made is Reshape:
        return parent._view.then(Reshape(parent.dims, x.dims))
    step = made.__class__ is Affine or made.__class__ is Reshape
    return parent._view.then(made) if step else basic_view(parent, made)


def _storage_of(x: Array) -> Storage:
    """Return the storage of an array that has not been asked for it yet."""
    if type(x._lazy_view) is tuple:
        _work_out(x)
        return x._storage
    with _storages:
        if x._lazy_storage is None:
            x._lazy_storage = Storage(x._buffer, x._element)
        return x._lazy_storage


_apply.adopt(Array)
backends.adopt(Array)
