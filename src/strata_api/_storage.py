"""The one mutable object: what holds an array's data."""

from __future__ import annotations

from strata_api.backends.protocol import Buffer, Element


class Storage:
    """A buffer that arrays look at. Two arrays alias exactly when they share one.

    ``owned`` says that nobody outside of strata_api was given the buffer, so a backend may reuse it
    for the result of a write. ``guard`` is the backend's own: a lock, the trace it was made in.
    """

    __slots__ = ("__weakref__", "buffer", "element", "guard", "owned")

    def __init__(
        self, buffer: Buffer, element: Element, owned: bool = True, guard: object = None
    ) -> None:
        self.buffer = buffer
        self.element = element
        self.owned = owned
        self.guard = guard
