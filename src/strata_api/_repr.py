"""How an array shows itself: as NumPy's do, cut where large, moving no more than is shown."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from strata_api._access import getitem
from strata_api._apply import from_data
from strata_api._shape import is_static, shown
from strata_api.backends.numpy import BACKEND as HOST

if TYPE_CHECKING:
    from strata_api._array import Array

_THRESHOLD = 1000  # elements beyond which an array is cut
_EDGE = 3  # elements shown at either end of an axis that is cut


def text(x: Array) -> str:
    """Return the repr: elements, dtype, and the device where it is not NumPy's."""
    if x.dtype is None:  # JAX puts marks where the data of arrays was
        return f"Array({x._storage.buffer!r})"
    notes = [f"dtype={x.dtype.name}"]
    if not x._element.backend.is_concrete(x):
        notes.insert(0, f"shape={shown(x.dims)}")
        return f"Array({', '.join([*notes, f'device={x.device}'])})"
    if 0 in x.dims and len(x.dims) > 1:
        notes.insert(0, f"shape={shown(x.dims)}")
    if x._element.backend is not HOST:
        notes.append(f"device={x.device}")
    cut, threshold = _shown_part(x)
    body = np.array2string(
        cut, separator=", ", prefix="Array(", threshold=threshold, edgeitems=_EDGE
    )
    return f"Array({body}, {', '.join(notes)})"


def plain(x: Array) -> str:
    """Return the elements alone, as ``print`` shows them."""
    if not x._element.backend.is_concrete(x):
        return text(x)
    cut, threshold = _shown_part(x)
    return np.array2string(cut, threshold=threshold, edgeitems=_EDGE)


def html(x: Array) -> str:
    """Return the form for notebooks: a line of facts, and the elements of a small matrix as a
    table."""
    size = x.size
    facts = [f"shape {shown(x.dims)}", x.dtype.name, str(x.device)]
    if size is not None:
        facts.append(f"{size * x.itemsize:,} bytes")
    if x._view.readonly:
        facts.append("read-only")
    head = f"<div><b>strata_api.Array</b> {escape(', '.join(facts))}</div>"
    is_table = 0 < x.ndim <= 2 and size is not None and 0 < size <= _THRESHOLD
    if not is_table or not x._element.backend.is_concrete(x):
        return f"{head}<pre>{escape(plain(x))}</pre>"
    host = np.atleast_2d(x._element.backend.to_numpy(x, None))
    rows = [
        "".join(
            f"<td>{escape(f'{value:.6g}' if _is_float(host) else str(value))}</td>" for value in row
        )
        for row in host
    ]
    return head + "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _is_float(host: Any) -> bool:
    return bool(host.dtype.kind == "f")


def _shown_part(x: Array) -> tuple[Any, int]:
    """Return what is printed of an array, and the size above which NumPy is to cut it.

    Of a large array that is the ends of each axis, with one element between them for the dots.
    """
    assert is_static(x.dims)
    size = x.size or 0
    if size <= _THRESHOLD:
        return x._element.backend.to_numpy(x, None), max(size, 1)
    kept = []
    for axis, n in enumerate(x.shape):
        assert n is not None
        ends = range(n) if n <= 2 * _EDGE else [*range(_EDGE + 1), *range(n - _EDGE, n)]
        shape = [1] * x.ndim
        shape[axis] = len(ends)
        kept.append(from_data(np.reshape(list(ends), shape), x._element.backend))
    part = getitem(x, tuple(kept))
    return part._element.backend.to_numpy(part, None), 0
