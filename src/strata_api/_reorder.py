"""Arrays over flat buffers, by the descriptor of how their elements lie in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strata_api._apply import converted, create, viewed
from strata_api._layout import MemoryDescriptor
from strata_api._packing import buffer_size, chain_of
from strata_api._rules import EMPTY, ZEROS
from strata_api._shape import shown, size
from strata_api.backends.protocol import Spec

if TYPE_CHECKING:
    from strata_api._array import Array


def over_buffer(x: Array, descriptor: MemoryDescriptor) -> Array:
    """Return the view of a flat array as the descriptor says. Raises: as ``views.from_buffer``."""
    _check_descriptor(descriptor, "from_buffer")
    if x.ndim != 1:
        raise ValueError(f"from_buffer: expected a flat buffer, got shape {shown(x.dims)}")
    if x.dtype != descriptor.dtype:
        raise TypeError(
            f"from_buffer: expected a buffer of {descriptor.dtype} as the descriptor says, got "
            f"{x.dtype}"
        )
    length = x.dims[0]
    if type(length) is not int:
        raise ValueError(f"from_buffer: expected a buffer of known length, got {length}")
    chain = chain_of(descriptor, length)
    if not x._view.steps and not x._view.readonly and not chain.layout((1,)):
        looking = type(x)._looking(x._storage, chain)  # the backend has no view of its own
        looking._element = x._element.loose
        return looking
    for step in chain.steps:
        x = viewed(x, step)
    return x


def laid_out(x: Array, descriptor: MemoryDescriptor) -> Array:
    """Return ``x`` over a fresh buffer, as the descriptor says. Raises: as ``reorder``."""
    _check_descriptor(descriptor, "reorder")
    if descriptor.dims != x.dims:
        raise ValueError(
            f"reorder: expected a descriptor of dims {shown(x.dims)}, got {descriptor!r}"
        )
    length = buffer_size(descriptor)
    if not descriptor.is_unique:
        raise ValueError(f"reorder: expected a place for each element, got {descriptor!r}")
    source = converted(x, descriptor.dtype, "reorder")  # type: ignore[arg-type]  # it has dims
    filled = length == size(x.dims)  # every place is written: no zeros are needed
    flat = create(EMPTY if filled else ZEROS, Spec((length,), source.dtype), x.device)
    result = over_buffer(flat, descriptor)
    x._element.backend.assign(result, source)
    return result


def _check_descriptor(descriptor: object, what: str) -> None:
    if not isinstance(descriptor, MemoryDescriptor):
        raise TypeError(f"{what}: expected a MemoryDescriptor, got {type(descriptor).__name__}")
    if not descriptor:
        raise ValueError(f"{what}: expected a descriptor with dims, got {descriptor!r}")
