"""Shape inference: run ordinary code on arrays without data, and see what comes out."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable
from os.path import basename, dirname  # pathlib would cost an eighth of importing the package
from types import FrameType, TracebackType
from typing import Any

from strata_api import _context
from strata_api import _dtypes as d
from strata_api._apply import fresh, is_array
from strata_api._array import Array
from strata_api._dimension import Dimension, Extent
from strata_api._dtypes import DType
from strata_api._partial_shape import PartialShape, unified
from strata_api.backends import backend_of, get_backend
from strata_api.backends.protocol import Spec

__all__ = ["infer"]

_HERE = dirname(__file__)


class ArraySpec:
    """The dtype and the shape of an array: what `infer` returns for one, and takes."""

    __slots__ = ("dtype", "shape")

    dtype: DType
    shape: PartialShape

    def __init__(self, dtype: object, shape: str | PartialShape | Iterable[Extent]) -> None:
        object.__setattr__(self, "dtype", d.as_dtype(dtype))
        object.__setattr__(self, "shape", PartialShape(shape))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a spec never changes: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a spec never changes: cannot delete {name}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not ArraySpec:
            return NotImplemented
        return self.dtype == other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __reduce__(self) -> tuple[object, ...]:
        return ArraySpec, (self.dtype, self.shape)

    def __str__(self) -> str:
        return f"{self.dtype}{_text(self.shape)}"

    def __repr__(self) -> str:
        return f'ArraySpec("{self.dtype}", "{_text(self.shape)}")'


def infer(function: Callable[..., Any], /, *specs: Any, report: bool = False) -> Any:
    """Return the specs of what a function returns, without any data.

    The function runs once, on arrays that have a dtype and extents and nothing else. A spec is
    ``("float32", "[batch:1..8, 3, ?]")``, a dtype with a ``PartialShape`` or a tuple of extents, an
    array, or a result of ``infer``, alone or in tuples, lists and dicts; anything else is passed as
    it is. One name is one length in all of them. Results come in the containers that the function
    returns. ``report`` prints operation by operation, with the lines of the function's source.

    Raises: ``ValueError`` for a name that stands for two lengths, or a shape of unknown rank;
    ``TypeError`` for what asks an array for its values; whatever the function raises where no
    lengths could make it succeed.
    """
    arguments = _abstract(specs)
    with _context.running_backend("abstract"), _Report(report) as lines:
        try:
            result = function(*arguments)
        except TypeError as error:
            _advise(error)
            raise
        finally:
            if report:
                print("\n".join(lines.found))
    return _mapped(_spec_of, result, pairs=False)


# -- specs into arrays, and back ------------------------------------------------------------------


def _abstract(specs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments, with an array without data for each spec."""
    found: list[ArraySpec] = []

    def noted(value: Any) -> Any:
        spec = _as_spec(value)
        if spec is not None:
            found.append(spec)
        return value if spec is None else spec

    tree = tuple([_mapped(noted, value) for value in specs])
    for spec in found:
        if spec.shape.rank.is_dynamic:
            raise ValueError(f"infer: expected a shape of known rank, got {spec}")
    dims = iter(unified(tuple(dim for spec in found for dim in spec.shape)))

    def array(value: Any) -> Any:
        if type(value) is not ArraySpec:
            return value
        shape = PartialShape([next(dims) for _ in value.shape])
        backend = get_backend("abstract")
        return fresh(Spec(shape.extents, value.dtype), backend.element(value.dtype))

    return tuple([_mapped(array, value) for value in tree])


def _as_spec(value: Any) -> ArraySpec | None:
    """Return the spec that a value is, or that an array has; ``None`` for another value."""
    if isinstance(value, ArraySpec):
        return value
    if _is_pair(value):
        return ArraySpec(*value)
    if isinstance(value, PartialShape):
        raise TypeError(f'infer: a shape needs a dtype beside it: ("float32", "{value}")')
    spec = _spec_of(value)
    return spec if isinstance(spec, ArraySpec) else None


def _is_pair(value: Any) -> bool:
    """Tell whether a tuple is a dtype and a shape."""
    if type(value) is not tuple or len(value) != 2:
        return False
    dtype, shape = value
    if isinstance(dtype, str) and isinstance(shape, str | PartialShape):
        return True
    return isinstance(shape, str | PartialShape | tuple | list) and _is_dtype(dtype)


def _is_dtype(value: Any) -> bool:
    if isinstance(value, tuple | list | dict) or value is None:
        return False
    try:
        d.as_dtype(value)
    except TypeError:
        return False
    return True


def _spec_of(value: Any) -> Any:
    """Return the spec of an array, of any library; another value as it is."""
    if is_array(value):
        return ArraySpec(value.dtype, value.dims)
    backend = backend_of(value)
    if backend is None:
        return value
    spec = backend.spec(value)
    return ArraySpec(spec.dtype, spec.shape)


def _mapped(function: Callable[[Any], Any], tree: Any, pairs: bool = True) -> Any:
    """Apply a function to the leaves of tuples, named ones too, lists and dicts.

    With ``pairs``, a dtype and a shape in a tuple are one leaf.
    """
    if isinstance(tree, dict):
        return {key: _mapped(function, value, pairs) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_mapped(function, value, pairs) for value in tree]
    if isinstance(tree, tuple) and not (pairs and _is_pair(tree)):
        values = [_mapped(function, value, pairs) for value in tree]
        return type(tree)(*values) if hasattr(tree, "_fields") else tuple(values)
    return function(tree)


def _text(shape: PartialShape) -> str:
    if shape.rank.is_dynamic:
        return "[...]"
    return f"[{', '.join(_named(dim) for dim in shape)}]"


def _named(dim: Dimension) -> str:
    if dim.label is None or dim.is_static:
        return str(dim)
    return dim.label if str(dim) == "?" else f"{dim.label}:{dim}"


# -- what to do instead ---------------------------------------------------------------------------


def _advise(error: TypeError) -> None:
    """Add a note to the error of Python's that a ``None`` of ``shape`` leads to."""
    if "NoneType" not in str(error) and not str(error).endswith("got None"):
        return
    line = _users_line(error.__traceback__)
    better = line.replace(".shape", ".dims")
    note = "x.shape has None for an extent that is unknown; x.dims has a Dimension, to compute with"
    error.add_note(note if better == line else f"{note}. Write: {better}")


def _users_line(traceback: TracebackType | None) -> str:
    """Return the innermost line that is not of this package."""
    line = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_HERE):
            line = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
        traceback = traceback.tb_next
    return line


# -- the report -----------------------------------------------------------------------------------


class _Report:
    """Notes the calls that code outside of this package makes into it, if it is asked to."""

    def __init__(self, wanted: bool) -> None:
        self.found: list[str] = []
        self._wanted = wanted
        self._open: tuple[FrameType, str, list[Any]] | None = None
        self._last: tuple[str, int] | None = None
        self._previous: Any = None

    def __enter__(self) -> _Report:
        if self._wanted:
            self._previous = sys.getprofile()
            sys.setprofile(self._event)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._wanted:
            sys.setprofile(self._previous)

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and self._open is None and _enters(frame):
            self._open = frame, _name(frame), _operands(frame)
        elif event == "return" and self._open is not None and self._open[0] is frame:
            _, name, operands = self._open
            self._open = None
            if name == "setitem" or _specs(argument):
                self._note(frame.f_back, name, operands, argument)

    def _note(self, user: FrameType | None, name: str, operands: list[Any], result: Any) -> None:
        if user is not None:
            place = user.f_code.co_filename, user.f_lineno
            if place != self._last:
                source = linecache.getline(*place).strip()
                self.found.append(f"{basename(place[0])}:{place[1]}: {source}".rstrip(": "))
            self._last = place
        given = ", ".join(_specs(operands))
        answer = f" -> {', '.join(_specs(result))}" if name != "setitem" else ""
        self.found.append(f"    {name}({given}){answer}")


def _enters(frame: FrameType) -> bool:
    """Tell whether a call comes from outside of this package into a function of it."""
    if not frame.f_code.co_filename.startswith(_HERE) or frame.f_back is None:
        return False
    caller = frame.f_back.f_code.co_filename
    return not caller.startswith(_HERE)


def _name(frame: FrameType) -> str:
    """Return the name of the function called, an operator's without its underscores."""
    name = frame.f_code.co_name
    if name == "on_backend":  # a bound creation function
        name = frame.f_locals["function"].__name__
    return name.strip("_")


def _operands(frame: FrameType) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return [frame.f_locals.get(name) for name in code.co_varnames[:count]]


def _specs(tree: Any) -> list[str]:
    """Return the specs of the arrays in nested containers, as text."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, tuple | list):
        return [text for value in tree for text in _specs(value)]
    return [str(_spec_of(tree))] if isinstance(tree, Array) else []
