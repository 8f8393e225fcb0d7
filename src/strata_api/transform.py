"""Programs as a whole: compiling one that writes, and loops and branches inside of it.

On JAX a program is traced and compiled, and writes are seen by its caller. On the other backends
the same names run the plain Python program, so one source serves all.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from operator import index
from typing import Any, Generic, ParamSpec, TypeVar

from strata_api import _context
from strata_api._apply import copied, is_array
from strata_api._array import Array
from strata_api._dtypes import SCALARS, int64
from strata_api.backends import backend_of, get_backend
from strata_api.backends.protocol import Backend
from strata_api.standard.creation_functions import asarray
from strata_api.standard.manipulation_functions import stack

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["cond", "fori_loop", "jit", "scan", "while_loop"]


class Jitted(Generic[P, R]):
    """A function that `jit` compiles. Calling it is calling the function."""

    def __init__(
        self,
        function: Callable[P, R],
        static_argnums: tuple[int, ...],
        static_argnames: tuple[str, ...],
        donate: bool,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._static = _static_names(function, static_argnums, static_argnames)
        self._donate = donate
        self._programs: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        first = args[0] if args else None
        if is_array(first):  # the commonest call
            backend = first._element.backend  # type: ignore[attr-defined]  # an Array
        else:
            backend = _backend_for((args, kwargs), self._function)
        compiler = backend.compiler()
        if compiler is None:
            with _context.running_backend(backend.name):
                return self._function(*args, **kwargs)
        if self._programs is None:
            name = getattr(self._function, "__name__", "program")
            self._programs = compiler.Jit(self._donate, name)
        if not self._static:
            if not kwargs:
                result = self._programs.again(args)
                if result is not NotImplemented:
                    return result  # type: ignore[no-any-return]
            return self._programs((args, kwargs), (), self._call)  # type: ignore[no-any-return]
        given, static = self._split(args, kwargs)
        return self._programs((given,), tuple(static.items()), self._with(static))  # type: ignore[no-any-return]

    def _call(self, args: Any, kwargs: Any) -> R:
        return self._function(*args, **kwargs)

    def _split(self, args: Any, kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        static = {name: bound.arguments.pop(name) for name in self._static}
        for name, value in static.items():
            if not _is_hashable(value):
                raise TypeError(
                    f"jit: the static argument {name!r} must be hashable, got {value!r}"
                )
        return dict(bound.arguments), static

    def _with(self, static: dict[str, Any]) -> Callable[[dict[str, Any]], R]:
        def call(given: dict[str, Any]) -> R:
            bound = inspect.signature(self._function).bind_partial()
            bound.arguments.update({**given, **static})
            ordered = {
                name: bound.arguments[name]
                for name in inspect.signature(self._function).parameters
                if name in bound.arguments
            }
            bound.arguments = ordered
            return self._function(*bound.args, **bound.kwargs)

        return call

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance)  # type: ignore[arg-type]  # the function's first

    def __repr__(self) -> str:
        return f"jit({self._function!r})"


def jit(
    function: Callable[P, R] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
    donate: bool = True,
) -> Any:
    """Compile a function that may write to its arguments and to arrays it finds outside.

    The function means what it means without `jit`: arguments that alias go on aliasing, the caller
    sees what was written, returned views are views of the caller's arrays, and arrays that the
    function captures are read anew, and written, at every call. It is traced once for each kind of
    arguments, aliasing pattern, and context (default backend, default dtypes, strictness). On a
    backend that compiles nothing it is the function itself.

    ``static_argnums`` and ``static_argnames`` name the arguments that are compiled in. ``donate``
    lets the program reuse the memory of arrays that nobody else holds.

    Raises: ``TypeError`` for arrays of several backends or a static argument that has no hash.
    """
    if function is None:
        return lambda f: jit(
            f, static_argnums=static_argnums, static_argnames=static_argnames, donate=donate
        )
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(function, numbers, names, donate)


def fori_loop(lower: Any, upper: Any, body: Callable[[Array, Any], Any], init: Any = None) -> Any:
    """Return ``init`` after ``value = body(i, value)`` for each ``i`` from ``lower`` to ``upper``.

    ``body`` may write to arrays of the enclosing function. The value is the loop's own: it starts
    as a copy of ``init``, its numbers as arrays, and keeps its shapes and dtypes. ``i`` is an int64
    array without axes.

    Raises: ``TypeError`` if ``body`` returns another structure, shape or dtype.
    """
    backend = _backend_for((init, lower, upper), body)
    compiler = backend.compiler()
    with _context.running_backend(backend.name):
        value = _arrays(init)
        if compiler is not None:
            return compiler.fori_loop((body,), lower, upper, value)
        value = _mapped(copied, value)
        for i in range(int(lower), int(upper)):
            value = _kept("fori_loop", value, body(asarray(i, dtype=int64), value))
        return value


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], init: Any) -> Any:
    """Return ``init`` after ``value = body(value)`` for as long as ``condition(value)``.

    ``body`` may write to arrays of the enclosing function, ``condition`` may not. The value is the
    loop's own, as that of ``fori_loop``.

    Raises: ``TypeError`` if ``body`` returns another structure, shape or dtype.
    """
    backend = _backend_for(init, condition, body)
    compiler = backend.compiler()
    with _context.running_backend(backend.name):
        value = _arrays(init)
        if compiler is not None:
            return compiler.while_loop((condition, body), value)
        value = _mapped(copied, value)
        while condition(value):
            value = _kept("while_loop", value, body(value))
        return value


def cond(
    predicate: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Return ``true_fun(*operands)`` or ``false_fun(*operands)``: fresh arrays.

    Both may write to their operands and to other arrays of the enclosing function.
    """
    backend = _backend_for((operands, predicate), true_fun, false_fun)
    compiler = backend.compiler()
    with _context.running_backend(backend.name):
        if compiler is not None:
            return compiler.cond((true_fun, false_fun), predicate, operands)
        chosen = true_fun if predicate else false_fun
        return _mapped(copied, _arrays(chosen(*operands)))


def scan(
    body: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, length: int | None = None
) -> tuple[Any, Any]:
    """Return the last ``value`` and the stacked ``y`` of ``value, y = body(value, x)`` over ``xs``.

    ``xs`` is an array, or a tuple, list or dict of arrays of one leading extent, or ``None`` with a
    ``length``. ``body`` may write to arrays of the enclosing function. The value is the loop's own,
    as that of ``fori_loop``, and so is each ``x``.

    Raises: ``TypeError`` if ``body`` returns another structure, shape or dtype, ``ValueError`` for
    other leading extents, or for none: what ``y`` is shows only when ``body`` runs.
    """
    backend = _backend_for((init, xs), body)
    compiler = backend.compiler()
    with _context.running_backend(backend.name):
        value, xs = _arrays(init), _arrays(xs)
        n = _leading_extent(xs, length)
        if compiler is not None:
            return compiler.scan((body,), value, xs, range(n))  # type: ignore[no-any-return]
        value, xs, ys = _mapped(copied, value), _mapped(copied, xs), []
        for k in range(n):
            each = _mapped(lambda x: x[k, ...], xs)  # noqa: B023  # used at once
            after, y = body(value, each)
            value = _kept("scan", value, after)
            ys.append(_mapped(copied, _arrays(y)))
        return value, _stacked(ys)


def _static_names(
    function: Callable[..., Any], numbers: tuple[int, ...], names: tuple[str, ...]
) -> tuple[str, ...]:
    if not numbers and not names:
        return ()
    known = list(inspect.signature(function).parameters)
    unknown = [name for name in names if name not in known]
    if unknown or any(not -len(known) <= k < len(known) for k in numbers):
        raise ValueError(f"jit: expected static arguments among {known}, got {[*numbers, *names]}")
    return tuple(dict.fromkeys([*(known[k] for k in numbers), *names]))


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _backend_for(tree: Any, *functions: Callable[..., Any]) -> Backend:
    """Return the backend that a program runs on.

    The backend is that of the first array among what it is given, in nested containers; else the
    one that is running; else that of the first array that the functions find outside; else the
    default one.
    """
    found = _first(tree) or _context.running_now()
    if found is None:
        found = next(filter(None, map(_first_captured, functions)), None)
    return get_backend(found or _context.backend_now())


def _first_captured(function: Callable[..., Any]) -> str | None:
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):
        return None
    variables = inspect.getclosurevars(function)
    return _first([*variables.nonlocals.values(), *variables.globals.values()])


def _first(tree: Any) -> str | None:
    if is_array(tree):
        return tree._element.backend.name  # type: ignore[no-any-return]  # an Array
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, tuple | list):
        fields = getattr(tree, "__dict__", None)
        if fields is None or isinstance(tree, type) or callable(tree):
            backend = backend_of(tree)
            return None if backend is None else backend.name
        tree = fields.values()
    for leaf in tree:
        found = _first(leaf)
        if found is not None:
            return found
    return None


def _mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to the arrays in tuples, lists and dicts."""
    if isinstance(tree, dict):
        return {key: _mapped(function, value) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        return _rebuilt(tree, [_mapped(function, value) for value in tree])
    return function(tree) if is_array(tree) else tree


def _rebuilt(like: Any, values: list[Any]) -> Any:
    """Return a tuple, a named one too, or a list of these values."""
    return type(like)(*values) if hasattr(like, "_fields") else type(like)(values)


def _arrays(tree: Any) -> Any:
    """Return numbers and foreign arrays in tuples, lists and dicts as arrays."""
    if isinstance(tree, dict):
        return {key: _arrays(value) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        return _rebuilt(tree, [_arrays(value) for value in tree])
    known = is_array(tree) or isinstance(tree, SCALARS) or backend_of(tree) is not None
    return asarray(tree) if known else tree


def _kept(what: str, before: Any, after: Any) -> Any:
    """Return what a body has returned as the loop's own: what is not what it was given, copied."""
    after = _arrays(after)
    if _form(after) != _form(before):
        raise TypeError(
            f"{what}: expected the body to return what it was given, {_form(before)}, got "
            f"{_form(after)}"
        )
    return _owned(before, after)


def _form(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _form(value) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        return type(tree).__name__, [_form(value) for value in tree]
    return (tree.shape, tree.dtype.name) if is_array(tree) else type(tree)


def _owned(before: Any, after: Any) -> Any:
    if isinstance(after, dict):
        return {key: _owned(before[key], value) for key, value in after.items()}
    if isinstance(after, tuple | list):
        return _rebuilt(after, list(map(_owned, before, after)))
    return copied(after) if is_array(after) and after is not before else after


def _leading_extent(xs: Any, length: int | None) -> int:
    found: list[Any] = [] if length is None else [length]
    _mapped(lambda x: found.append(len(x)), xs)
    if len(set(found)) != 1 or not found[0]:
        raise ValueError(
            f"scan: expected arrays of one leading extent, 1 or more, or a length, got {found}"
        )
    return index(found[0])


def _stacked(ys: list[Any]) -> Any:
    first = ys[0]
    if isinstance(first, dict):
        return {key: _stacked([y[key] for y in ys]) for key in first}
    if isinstance(first, tuple | list):
        return _rebuilt(first, [_stacked([y[k] for y in ys]) for k in range(len(first))])
    return stack(ys) if is_array(first) else first
