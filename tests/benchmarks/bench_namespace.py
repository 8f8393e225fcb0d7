"""What small calls cost, beside the bare libraries and the peers. Run by hand:

    python tests/benchmarks/bench_namespace.py [--rounds 30] [--json FILE]

All that is compared is timed in one run, in turn, round by round, so that a busy machine slows all
alike. A budget is a ratio to the first row of its table; it is met if the ratio of the least times
is within it. Without JAX, array_api_strict or array_api_compat their rows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

import strata_api.numpy as snp
from strata_api import jit

Call = Callable[[], object]
LEAST = 2e-3  # seconds that one round of one call takes at least


@dataclass(frozen=True, slots=True)
class Case:
    """One thing done by several libraries; ``budget`` is what ours may take of the first's time."""

    name: str
    budget: float | None
    calls: dict[str, Call]


@dataclass(frozen=True, slots=True)
class Row:
    """What one library took: microseconds, and both as ratios to the first library's."""

    case: str
    library: str
    least: float
    median: float
    least_ratio: float
    median_ratio: float
    budget: float | None


def main() -> None:
    """Time everything and print the tables."""
    parser = argparse.ArgumentParser(description="Time small calls beside the bare libraries.")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of each case (default: 30)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE as well")
    options = parser.parse_args()
    rows: list[Row] = []
    for case in cases():
        rows += timed(case, options.rounds)
        print_table([row for row in rows if row.case == case.name])
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def cases() -> Iterator[Case]:
    """Yield every case that the libraries at hand allow."""
    yield from on_numpy()
    yield imports()
    if find_spec("jax") is not None:
        yield from on_jax()


# -- timing ---------------------------------------------------------------------------------------


def timed(case: Case, rounds: int) -> list[Row]:
    """Return the rows of a case."""
    timers = {name: timeit.Timer(call) for name, call in case.calls.items()}
    counts = {name: count(timer) for name, timer in timers.items()}
    taken: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(rounds if max(counts.values()) > 1 else min(rounds, 15)):
        for name, timer in timers.items():
            taken[name].append(timer.timeit(counts[name]) / counts[name] * 1e6)
    first = next(iter(taken.values()))
    return [
        Row(
            case.name,
            name,
            min(times),
            median(times),
            min(times) / min(first),
            median(times) / median(first),
            case.budget if name.startswith("strata_api") else None,
        )
        for name, times in taken.items()
    ]


def count(timer: timeit.Timer) -> int:
    """Return how many calls make a round; the calls made to find it warm everything up."""
    timer.timeit(2)  # the first call compiles, and says nothing of the others
    number = 1
    while timer.timeit(number) < LEAST:
        number *= 2
    return number


def print_table(rows: list[Row]) -> None:
    """Print the rows of one case."""
    print(f"\n{rows[0].case}")
    print(f"  {'':24}{'min us':>12}{'median us':>12}{'ratio':>10}{'of medians':>12}   budget")
    for row in rows:
        verdict = ""
        if row.budget is not None:
            word = "met" if row.least_ratio <= row.budget else "MISSED"
            verdict = f"{row.budget:g} {word}"
        print(
            f"  {row.library:24}{row.least:12.3f}{row.median:12.3f}{row.least_ratio:10.3f}"
            f"{row.median_ratio:12.3f}   {verdict}"
        )


# -- NumPy ----------------------------------------------------------------------------------------


def on_numpy() -> Iterator[Case]:
    """Yield the cases on NumPy, beside NumPy itself and the two peers that wrap it."""
    libraries: dict[str, ModuleType] = {"numpy": np, "strata_api.numpy": snp}
    for peer in ("array_api_strict", "array_api_compat.numpy"):
        if find_spec(peer.partition(".")[0]) is not None:
            libraries[peer] = import_module(peer)

    def case(name: str, budget: float | None, call: Callable[[ModuleType, Any], Call]) -> Case:
        return Case(
            name, budget, {each: call(xp, xp.arange(10.0)) for each, xp in libraries.items()}
        )

    yield case("x + y, 10 elements", 2.0, lambda xp, x: lambda: x + x)
    yield case("add(x, y), 10 elements", 2.0, lambda xp, x: lambda: xp.add(x, x))
    yield case("x + 1, 10 elements", None, lambda xp, x: lambda: x + 1)
    yield case("sum(x), 10 elements", 1.0, lambda xp, x: lambda: xp.sum(x))
    yield case("reshape(x, (2, 5))", 1.0, lambda xp, x: lambda: xp.reshape(x, (2, 5)))
    yield case("x[1:3]", 4.0, lambda xp, x: lambda: x[1:3])
    yield case("x[1:3] = y, 2 elements", 2.0, lambda xp, x: writing(x, x[5:7]))
    yield case("x[1:3] = 0", None, lambda xp, x: writing(x, 0.0))
    yield case("x += y, 10 elements", None, lambda xp, x: adding(x, xp.ones(10)))


def writing(x: Any, value: Any) -> Call:
    """Return what writes into a slice."""

    def call() -> None:
        x[1:3] = value

    return call


def adding(x: Any, y: Any) -> Call:
    """Return what adds in place."""

    def call() -> None:
        nonlocal x
        x += y

    return call


# -- importing ------------------------------------------------------------------------------------


def imports() -> Case:
    """Return the case of importing, in processes of their own."""
    modules = ["numpy", "strata_api", "array_api_strict", "array_api_compat.numpy"]
    here = [name for name in modules if find_spec(name.partition(".")[0]) is not None]
    return Case(
        "a process that imports numpy, and then this (budget: 40 ms more)",
        None,
        {name: importing(name) for name in here},
    )


def importing(module: str) -> Call:
    """Return what starts a process that imports numpy and a module, from compiled files."""
    command = [sys.executable, "-c", f"import numpy, {module}"]
    cache = str(Path(tempfile.gettempdir()) / "strata-api-benchmark")  # where they can be written
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    return lambda: subprocess.run(command, check=True, env=environment)


# -- JAX ------------------------------------------------------------------------------------------


def on_jax() -> Iterator[Case]:
    """Yield the cases on JAX, beside jax.numpy, with float32 in both."""
    jax, sjx = import_module("jax"), import_module("strata_api.jax")
    jnp = jax.numpy

    def case(name: str, budget: float | None, bare: Call, ours: Call) -> Case:
        return Case(name, budget, {"jax": bare, "strata_api.jax": ours})

    a, x = jnp.arange(10, dtype="float32"), sjx.arange(10, dtype=sjx.float32)
    yield case("add(x, y), 10 elements, JAX", 1.3, lambda: jnp.add(a, a), lambda: sjx.add(x, x))
    yield case("sum(x), 10 elements, JAX", 1.3, lambda: jnp.sum(a), lambda: sjx.sum(x))
    yield case("x[1:3], making the view, JAX", 0.1, lambda: a[1:3], lambda: x[1:3])
    yield case("x[1:3], making it and reading it, JAX", None, lambda: a[1:3], reading(x))
    view = x[1:3]
    yield case("reading a view of x, JAX", 1 / 3, lambda: a[1:3], lambda: view.__jax_array__())
    many, mine = jnp.zeros(10_000_000, "float32"), sjx.zeros(10_000_000, dtype=sjx.float32)
    values, own = jnp.arange(100, dtype="float32"), sjx.arange(100, dtype=sjx.float32)
    yield case(
        "x[i:i + 100] = v, 10,000,000 elements, finished, JAX",
        1 / 500,
        lambda: many.at[5000:5100].set(values).block_until_ready(),
        stored(mine, own),
    )
    bare, ours = jax.jit(jnp.add), jit(sjx.add)
    yield case("a jitted add(x, y), JAX", 3.0, lambda: bare(a, a), lambda: ours(x, x))


def reading(x: Any) -> Call:
    """Return what makes a view and its elements."""
    return lambda: x[1:3].__jax_array__()


def stored(x: Any, value: Any) -> Call:
    """Return what writes into a slice and waits for it."""

    def call() -> None:
        x[5000:5100] = value
        x.block_until_ready()

    return call


if __name__ == "__main__":
    main()
