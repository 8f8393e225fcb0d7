"""Programs that write: `jit` with reference semantics, and loops whose bodies write to the outside.

A function is traced in a `Context`, in which every storage of the outside that it touches has a
local one standing for it. Their buffers are operands of the compiled program; those that were
written are results of it, and go back into the storages of the outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from strata_api import _context, _explain
from strata_api._dtypes import SCALARS
from strata_api._storage import Storage
from strata_api._view import WHOLE, View
from strata_api.backends.jax import (
    BACKEND,
    Context,
    Frozen,
    Guard,
    Tracer,
    check_place,
    flushed,
    here,
    is_traced,
    is_unshared,
    local_storage,
    named,
    tell_of_write,
    wide,
)
from strata_api.backends.protocol import Buffer

_tree = jax.tree_util
_shaped: Any = jax.ShapeDtypeStruct  # JAX has no types for it


class _Looks(NamedTuple):
    """An array among the arguments or results: which storage, and through which view."""

    storage: int
    view: View


class _Touched(Exception):
    """Raised out of a trace that touched storages that are no operands yet."""

    def __init__(self, storages: list[Storage]) -> None:
        super().__init__()
        self.storages = storages


class _Outcome(NamedTuple):
    """What a trace found: the tree of the results and what each is, and which operands changed."""

    tree: Any
    leaves: tuple[Any, ...]  # an int (a value), `_Constant`, `_Looks` at an operand, or `_Made`
    changed: tuple[int, ...]
    back: tuple[int, ...]  # operands that the program returns: what changed, what was given up


class _Made(NamedTuple):
    """A result that looks at a storage made in the program: which of its values, and the view."""

    value: int
    view: View
    element: Any


class _Constant(NamedTuple):
    """A leaf that is no array and no number: it is compiled in."""

    value: Any


class _Number(NamedTuple):
    """An argument that is traced: a JAX array stays one, and a Python scalar goes on counting as
    one where dtypes are promoted."""

    is_native: bool
    is_weak: bool


class Program:
    """One form of a function: for one tree and one kind of arguments, and what it captures.

    ``runs`` has what was compiled for it, by which arguments are captured too and which operands
    are given up. ``frozen`` are the arrays of other libraries that were compiled in.
    """

    __slots__ = ("captured", "frozen", "function", "runs")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.captured: list[ref[Storage]] = []
        self.frozen: list[Frozen] = []
        self.runs: dict[Any, tuple[Any, list[_Outcome]]] = {}

    def captures(self) -> list[Storage] | None:
        """Return the storages of the outside that are operands; ``None`` to compile anew, if one
        is gone or what was compiled in has changed."""
        if self.frozen and any(array.has_changed() for array in self.frozen):
            return None
        if not self.captured:
            return []
        found = [reference() for reference in self.captured]
        return None if None in found else found  # type: ignore[return-value]  # no None in it


class _Recent(NamedTuple):
    """A call with arrays alone as arguments, to know it again by what they are."""

    arrays: tuple[Any, ...]  # weak references
    context: tuple[object, ...]
    program: Program
    first: tuple[int, ...]  # of the arrays of each storage


class Jit:
    """The programs of one function, by what its arguments are."""

    __slots__ = ("_donate", "_name", "_programs", "_recent")

    def __init__(self, donate: bool, name: str) -> None:
        self._donate = donate
        self._name = name
        self._programs: dict[Any, Program] = {}
        self._recent: dict[tuple[int, ...], _Recent] = {}

    def again(self, arrays: tuple[Any, ...]) -> Any:
        """Run the program of a recent call with these very arguments, or return ``NotImplemented``.

        Storage and view of an array never change, and neither do shape and dtype of a storage.
        """
        recent = self._recent.get(tuple(map(id, arrays)))
        if recent is None or here.context is not None or recent.context != _context.key():
            return NotImplemented
        for reference, array in zip(recent.arrays, arrays, strict=True):
            if reference() is not array:
                return NotImplemented
        captures = recent.program.captures()
        if captures is None or is_traced():
            return NotImplemented
        storages = [arrays[k]._lazy_storage for k in recent.first]
        return self._run(recent.program, storages, captures, [])

    def _remember(self, arrays: Sequence[Any], storages: list[Storage], program: Program) -> None:
        if len(self._recent) >= _MOST_RECENT:
            self._recent.clear()
        own = [array._lazy_storage for array in arrays]
        self._recent[tuple(map(id, arrays))] = _Recent(
            tuple(map(ref, arrays)), _context.key(), program, tuple(map(own.index, storages))
        )

    def __call__(self, args: Any, statics: Any, call: Callable[..., Any]) -> Any:
        """Run ``call(*args)``; ``statics`` is what else it depends on."""
        leaves, tree = _tree.tree_flatten(args, is_leaf=_is_array)
        storages: list[Storage] = []
        values: list[Any] = []
        looks: list[_Looks | _Constant | _Number] = []
        kinds: list[Any] = [tree, statics, _context.key()]
        if (
            here.context is not None
            or is_traced()
            or not _sorted_out(leaves, storages, values, looks, kinds)
        ):
            with _context.running_backend("jax"):  # it is part of what is being traced
                return call(*args)
        key = tuple(kinds)
        program = self._programs.get(key)
        captures = None if program is None else program.captures()
        if program is None or captures is None:
            form = named(_traced_form(call, tree, looks), self._name)
            program = self._programs[key] = Program(form)
            captures = []
            if len(self._programs) > _MOST:
                del self._programs[next(iter(self._programs))]
        if not statics and not args[1] and all(map(_is_array, args[0])):
            self._remember(leaves, storages, program)
        return self._run(program, storages, captures, values)

    def _run(
        self, program: Program, storages: list[Storage], captures: list[Storage], values: Any
    ) -> Any:
        while True:
            operands = storages
            both: tuple[int, ...] = ()
            if captures:
                operands = storages + [s for s in captures if s not in storages]
                both = tuple([storages.index(s) if s in storages else -1 for s in captures])
            locks = [s.guard.lock for s in sorted(operands, key=id)]  # type: ignore[attr-defined]
            for lock in locks:  # in one order everywhere
                lock.acquire()
            try:
                with wide():
                    return _finished(*self._ran(program, both, operands, len(storages), values))
            except _Touched as touched:
                captures = captures + touched.storages
                program.captured = [ref(storage) for storage in captures]
                program.runs.clear()
            finally:
                for lock in locks:
                    lock.release()

    def _ran(
        self, program: Program, both: Any, operands: list[Storage], given: int, values: Any
    ) -> tuple[_Outcome, list[Storage], Any]:
        """Run the program on locked storages and put back what it changed."""
        donated = tuple([self._donate and s.owned and is_unshared(s) for s in operands])
        known = program.runs.get((both, donated))
        if known is None:
            made = _compiled(program, operands, given, donated)
            known = program.runs[both, donated] = made
        run, outcomes = known
        given_up: list[Buffer] = []
        kept: list[Buffer] = []
        for storage, gone in zip(operands, donated, strict=True):
            (given_up if gone else kept).append(storage.buffer)
        before = [(s.buffer, s.owned) for s in operands] if _explain.active else ()
        if not outcomes:
            run.trace(given_up, kept, values)  # finds what it touches before anything is given up
        results, back = run(given_up, kept, values)
        outcome = outcomes[-1]
        for place, (buffer, owned) in enumerate(before):
            if place in outcome.changed:
                tell_of_write(buffer, owned, donated[place])
        for place, buffer in zip(outcome.back, back, strict=True):
            storage = operands[place]
            storage.buffer = buffer
            storage.owned = True
            storage.guard.writes += 1  # type: ignore[attr-defined]  # the guard is ours
        return outcome, operands, results


def _sorted_out(
    leaves: list[Any],
    storages: list[Storage],
    values: list[Any],
    looks: list[_Looks | _Constant | _Number],
    kinds: list[Any],
) -> bool:
    """Sort the leaves into storages and values, and note how arrays look at the storages.

    ``kinds`` gets what a program depends on. False if a leaf is traced.
    """
    for leaf in leaves:
        if not _is_array(leaf):
            if isinstance(leaf, Tracer):
                return False
            if isinstance(leaf, _NUMBERS):
                looks.append(_form_of(leaf))
                values.append(leaf)
                kinds.append(_kind(leaf))
            else:
                if type(leaf).__hash__ is None:
                    raise TypeError(
                        "jit: expected arrays, numbers, and constants that have a hash as "
                        f"arguments, got {leaf!r}"
                    )
                looks.append(_Constant(leaf))
                kinds.append(leaf)
            continue
        storage = _storage_of(leaf)
        view = leaf._view
        for k, known in enumerate(storages):
            if known is storage:
                place = k
                break
        else:
            buffer = storage.buffer
            if isinstance(buffer, Tracer):
                return False
            place = len(storages)
            storages.append(storage)
            kinds.append((buffer.shape, buffer.dtype, getattr(buffer, "weak_type", False)))
        looks.append(_Looks(place, view))
        kinds.append((place, view.steps, view.readonly))
    return True


_MOST = 512  # programs of one function that are kept
_MOST_RECENT = 64  # calls of one function that are known again


def _traced_form(call: Callable[..., Any], tree: Any, looks: Sequence[Any]) -> Callable[..., Any]:
    """Return the function of local storages and values that a program is traced from."""

    def function(locals_: list[Storage], values: Sequence[Any]) -> Any:
        rest = iter(values)
        leaves = [
            _looking(locals_[look.storage], look.view)
            if type(look) is _Looks
            else look.value
            if type(look) is _Constant
            else _given(look, next(rest))
            for look in looks
        ]
        return call(*_tree.tree_unflatten(tree, leaves))

    return function


def _compiled(
    program: Program, operands: list[Storage], given: int, donated: tuple[bool, ...]
) -> tuple[Any, list[_Outcome]]:
    outcomes: list[_Outcome] = []
    function, captured = program.function, set(program.captured)
    outer = [(ref(storage), storage.element) for storage in operands]

    def traced(given_up: list[Buffer], kept: list[Buffer], values: Sequence[Any]) -> Any:
        sources = iter(given_up), iter(kept)
        with Context() as context, _context.running_backend("jax"):
            locals_ = [
                context.adopt(storage(), next(sources[0] if gone else sources[1]), element)
                for (storage, element), gone in zip(outer, donated, strict=True)
            ]
            tree, leaves, results = _results(function(locals_[:given], values), locals_)
            program.frozen = context.frozen
            touched = [storage for storage in context.touched if ref(storage) not in captured]
            if touched:
                raise _Touched(touched)
            changed = tuple([k for k, s in enumerate(locals_) if s.guard.writes])  # type: ignore[attr-defined]
            back = tuple([k for k in range(len(locals_)) if donated[k] or k in changed])
            buffers = [flushed(locals_[k]) for k in back]
        outcomes.append(_Outcome(tree, leaves, changed, back))
        return results, buffers

    return jax.jit(named(traced, function.__name__), donate_argnums=0), outcomes


def _results(out: Any, locals_: list[Storage]) -> tuple[Any, tuple[Any, ...], list[Buffer]]:
    """Return the tree of what a function returned, what each leaf is, and the values to compute."""
    leaves, tree = _tree.tree_flatten(out, is_leaf=_is_array)
    places = {id(storage): k for k, storage in enumerate(locals_)}
    made: dict[int, int] = {}
    results: list[Buffer] = []
    found: list[Any] = []
    for leaf in leaves:
        if not _is_array(leaf) and not isinstance(leaf, jax.Array):
            found.append(_Constant(leaf))
            continue
        if not _is_array(leaf) or leaf._element.backend is not BACKEND:
            found.append(len(results))
            results.append(leaf)
            continue
        storage = local_storage(leaf._storage)
        view = leaf._view
        if not _is_still(view):
            found.append(_Made(len(results), WHOLE, leaf._element))
            results.append(BACKEND.read(leaf))
        elif id(storage) in places:
            found.append(_Looks(places[id(storage)], view))
        else:
            if id(storage) not in made:
                made[id(storage)] = len(results)
                results.append(flushed(storage))
            found.append(_Made(made[id(storage)], view, leaf._element))
    return tree, tuple(found), results


def _finished(outcome: _Outcome, operands: list[Storage], results: Any) -> Any:
    """Return what the function returned, with arrays that alias as they do inside it."""
    storages: dict[int, Storage] = {}
    leaves = []
    for leaf in outcome.leaves:
        if type(leaf) is int:
            leaves.append(results[leaf])
        elif type(leaf) is _Constant:
            leaves.append(leaf.value)
        elif type(leaf) is _Looks:
            leaves.append(_looking(operands[leaf.storage], leaf.view))
        else:
            if leaf.value not in storages:
                storages[leaf.value] = BACKEND.storage(results[leaf.value], leaf.element)
            leaves.append(_looking(storages[leaf.value], leaf.view))
    return _tree.tree_unflatten(outcome.tree, leaves)


def _is_array(x: object) -> bool:
    return x.__class__ is BACKEND.array_type


def _storage_of(x: Any) -> Storage:
    if x._element.backend is not BACKEND:
        raise TypeError(
            f"jit: expected arrays of one backend, got jax and {x._element.backend.name}; move one "
            "of them with to_device"
        )
    return x._storage  # type: ignore[no-any-return]  # every array has one


def _looking(storage: Storage, view: View) -> Any:
    return BACKEND.array_type._looking(storage, view)  # type: ignore[attr-defined]  # it has it


_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic, jax.Array)


def _form_of(leaf: Any) -> _Number:
    return _Number(isinstance(leaf, jax.Array), isinstance(leaf, SCALARS))


def _given(form: _Number, value: Any) -> Any:
    """Return what the function gets for a number."""
    return value if form.is_native else _over(value, form.is_weak)


def _kind(leaf: Any) -> Any:
    """Return what a compiled program depends on of a value."""
    if isinstance(leaf, jax.Array):
        return leaf.shape, leaf.dtype, leaf.weak_type
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.shape, leaf.dtype
    return type(leaf)


def _is_still(view: View) -> bool:
    """Tell whether the view begins at places that are known outside of the trace."""
    return all(type(start) is int for step in view.steps for start in getattr(step, "starts", ()))


# -- loops and branches ---------------------------------------------------------------------------


def _compiled_whole(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Let a loop be a program of its own where it is in none, one for its functions and kinds."""

    @wraps(loop)
    def run(functions: tuple[Callable[..., Any], ...], *args: Any) -> Any:
        if here.context is not None or is_traced():
            with wide(), _context.running_backend("jax"):
                return loop(functions, *args)
        references = tuple([ref(function) for function in functions])

        def whole(*args: Any) -> Any:
            return loop(tuple([reference() for reference in references]), *args)

        programs = _loops.setdefault(functions[-1], Jit(True, loop.__name__))
        return programs(args, (loop.__name__, references), whole)

    return run


# The programs of loops, by their last function: they are kept as long as it is, and must not keep
# it alive.
_loops: WeakKeyDictionary[Callable[..., Any], Jit] = WeakKeyDictionary()


@_compiled_whole
def fori_loop(functions: tuple[Callable[..., Any]], lower: Any, upper: Any, init: Any) -> Any:
    """Run ``value = body(i, value)`` for ``i`` from ``lower`` up to ``upper``."""
    (body,) = functions
    leaves, tree = _values(init)

    def step(i: Any, leaves: Sequence[Buffer]) -> Sequence[Buffer]:
        index = _over(i)
        if type(lower) is int and type(upper) is int:
            index._storage.guard.within = range(lower, upper)
        value = body(index, _tree.tree_unflatten(tree, leaves))
        return _carried(value, tree, leaves, "fori_loop")

    index = _shaped((), np.dtype(np.int64))
    written = _written_by(step, index, leaves)

    def loop(i: Any, state: Any) -> Any:
        return _state(written, state, lambda leaves: step(i, leaves))

    begin = _begin(written), leaves
    end, leaves = lax.fori_loop(_bound(lower), _bound(upper), loop, begin)
    _end(written, end)
    return _tree.tree_unflatten(tree, leaves)


@_compiled_whole
def while_loop(functions: tuple[Callable[..., Any], Callable[..., Any]], init: Any) -> Any:
    """Run ``value = body(value)`` while ``condition(value)``."""
    condition, body = functions
    leaves, tree = _values(init)

    def step(leaves: Sequence[Buffer]) -> Sequence[Buffer]:
        value = body(_tree.tree_unflatten(tree, leaves))
        return _carried(value, tree, leaves, "while_loop")

    written = _written_by(step, leaves)

    def goes_on(state: Any) -> Any:
        ends, leaves = state
        with Context() as context:
            for outer, buffer in zip(written, ends, strict=True):
                context.adopt(outer, buffer, outer.element)
            answer = _buffer(condition(_tree.tree_unflatten(tree, leaves)))
            if context.written():
                raise RuntimeError("while_loop: the condition cannot write to arrays outside of it")
            return answer

    def loop(state: Any) -> Any:
        return _state(written, state, step)

    end, leaves = lax.while_loop(goes_on, loop, (_begin(written), leaves))
    _end(written, end)
    return _tree.tree_unflatten(tree, leaves)


@_compiled_whole
def scan(functions: tuple[Callable[..., Any]], init: Any, xs: Any, length: Any) -> Any:
    """Run ``value, y = body(value, x)`` over the leading axis of ``xs`` and stack the ``y``."""
    (body,) = functions
    leaves, tree = _values(init)
    each, each_tree = _values(xs)
    shapes: list[Any] = []

    def step(leaves: Sequence[Buffer], each: Sequence[Buffer]) -> Any:
        value, y = body(_tree.tree_unflatten(tree, leaves), _tree.tree_unflatten(each_tree, each))
        y_leaves, y_tree = _values(y)
        shapes.append(y_tree)
        return _carried(value, tree, leaves, "scan"), y_leaves

    first = [_shaped(x.shape[1:], x.dtype) for x in each]
    written = _written_by(step, leaves, first)

    def loop(state: Any, each: Sequence[Buffer]) -> Any:
        ends, (leaves, ys) = _state(written, state, lambda leaves: step(leaves, each))
        return (ends, leaves), ys

    (end, leaves), ys = lax.scan(loop, (_begin(written), leaves), each, length=len(length))
    _end(written, end)
    return _tree.tree_unflatten(tree, leaves), _tree.tree_unflatten(shapes[-1], ys)


@_compiled_whole
def cond(
    functions: tuple[Callable[..., Any], Callable[..., Any]], predicate: Any, operands: Any
) -> Any:
    """Run ``yes(*operands)`` or ``no(*operands)``."""
    trees: list[Any] = []
    kinds: list[Any] = []

    def branch(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(_: Any) -> Sequence[Buffer]:
            found, tree = _values(function(*operands))
            trees.append(tree)
            kinds.append([(value.shape, value.dtype) for value in found])
            if tree != trees[0] or kinds[-1] != kinds[0]:
                raise TypeError(
                    "cond: expected both branches to return the same structure, shapes and "
                    f"dtypes, got {trees[0]} of {kinds[0]} and {tree} of {kinds[-1]}"
                )
            return found

        return run

    branches = list(map(branch, functions))
    written = _written_by(branches[0], ())
    written += [s for s in _written_by(branches[1], ()) if s not in written]

    def started(run: Callable[..., Any]) -> Callable[..., Any]:
        return lambda state: _state(written, state, run)

    end, found = lax.cond(_buffer(predicate), *map(started, branches), (_begin(written), ()))
    _end(written, end)
    return _tree.tree_unflatten(trees[0], found)


def _state(written: list[Storage], state: Any, run: Callable[..., Any]) -> Any:
    """Run a body on the buffers of what it writes, and return them as they are afterwards."""
    begin, leaves = state
    with Context() as context:
        for outer, buffer in zip(written, begin, strict=True):
            context.adopt(outer, buffer, outer.element)
        result = run(leaves)
        return [flushed(context.lifted[outer]) for outer in written], result


def _written_by(run: Callable[..., Any], *arguments: Any) -> list[Storage]:
    """Return the storages of the outside that a body writes: it is traced once to see."""
    found: list[Storage] = []

    def trial(*arguments: Any) -> Any:
        with Context() as context:
            result = run(*arguments)
            found.extend(context.written())
            return result

    jax.eval_shape(trial, *arguments)
    return found


def _begin(written: list[Storage]) -> list[Buffer]:
    return [flushed(local_storage(storage)) for storage in written]


def _end(written: list[Storage], buffers: list[Buffer]) -> None:
    """Put what a loop left behind into the storages of the outside."""
    for outer, buffer in zip(written, buffers, strict=True):
        storage = local_storage(outer)
        guard: Guard = storage.guard  # type: ignore[assignment]  # the guard is ours
        check_place(storage, buffer)
        storage.buffer = buffer
        guard.pending = guard.index = guard.within = None
        guard.writes += 1


def _values(tree: Any) -> tuple[list[Buffer], Any]:
    """Return the leaves as JAX values, and the tree they are the leaves of: one of arrays."""
    leaves, structure = _tree.tree_flatten(tree, is_leaf=_is_array)
    buffers = [jnp.asarray(_buffer(leaf)) for leaf in leaves]
    arrays = [
        leaf if isinstance(leaf, jax.Array) else _over(buffer)
        for leaf, buffer in zip(leaves, buffers, strict=True)
    ]
    return buffers, _tree.tree_structure(_tree.tree_unflatten(structure, arrays))


def _carried(value: Any, tree: Any, before: Sequence[Buffer], what: str) -> list[Buffer]:
    leaves, found = _values(value)
    have, want = ([(x.shape, x.dtype.name) for x in xs] for xs in (leaves, before))
    if found != tree or have != want:
        given, got = _forms(tree, before), _forms(found, leaves)
        raise TypeError(
            f"{what}: expected the body to return what it was given, {given}, got {got}"
        )
    return leaves


def _forms(tree: Any, leaves: Sequence[Buffer]) -> Any:
    """Return a tree of shapes and dtypes."""
    arrays = _tree.tree_unflatten(tree, leaves)
    return _tree.tree_map(lambda x: (x.shape, x.dtype.name), arrays, is_leaf=_is_array)


def _bound(x: Any) -> Any:
    """Return the bound of a loop; one that is known is so to JAX, which can then go backwards."""
    value = _buffer(x)
    return value.astype(np.int64) if isinstance(value, Tracer) else np.int64(value)


def _buffer(x: Any) -> Any:
    return BACKEND.read(x) if _is_array(x) and _storage_of(x) else x


def _over(value: Any, weak: bool = False) -> Any:
    value = jnp.asarray(value)
    element = BACKEND.element(value.dtype)
    return BACKEND.array_type._over(value, element.weakened() if weak else element)  # type: ignore[attr-defined]
