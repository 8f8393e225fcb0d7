"""What views, writes and compiled programs that write cost on JAX. Run by hand:

    python tests/benchmarks/bench_views.py [--rounds 15] [--compilations 3] [--json FILE]

Timed as `bench_namespace.py` does: all that is compared in one run, in turn, and a budget is a
ratio to the first row of its table. Kernels are timed twice: compiled, and compiling.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import jax
import numpy as np
from bench_namespace import Call, Case, Row, print_table, timed
from jax import lax
from jax import numpy as jnp

import strata_api as xp
from strata_api import Array, fori_loop, jit

OURS = "strata_api.jax"


def main() -> None:
    """Time everything and print the tables."""
    parser = argparse.ArgumentParser(description="Time views and writes on JAX beside bare JAX.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each case (default: 15)")
    parser.add_argument("--compilations", type=int, default=3, help="of each kernel (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE as well")
    options = parser.parse_args()
    rows: list[Row] = []
    for case in (*views(), *writes(), *dispatch()):
        rows += shown(timed(case, options.rounds))
    loop_of_writes()
    for kernel in KERNELS:
        rows += shown(timed(running(kernel), options.rounds))
        rows += shown(compiling(kernel, options.compilations))
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def shown(rows: list[Row]) -> list[Row]:
    print_table(rows)
    return rows


def ours(data: Any) -> Array:
    """Return an array of ours that owns its buffer."""
    x: Array = xp.jax.asarray(data)
    x[...] = x + 0
    return x


# -- views and writes -----------------------------------------------------------------------------


def views() -> Iterator[Case]:
    """Yield the cases of making a view, and of reading one."""
    n = 1000
    theirs, mine = jnp.arange(float(n)), ours(np.arange(float(n)))
    square, own = jnp.ones((100, 100)), ours(np.ones((100, 100)))
    yield Case(
        "making the view x[1:3], beside jnp's indexing",
        0.1,
        {"jax.numpy": lambda: theirs[1:3], OURS: lambda: mine[1:3]},
    )
    yield Case(
        "making the view x.T, beside jnp",
        0.1,
        {"jax.numpy": lambda: square.T, OURS: lambda: own.T},
    )
    part = mine[1:3]
    view = own.T[::-1, 5:90][1:, ::2]
    yield Case(
        "reading the view x[1:3], beside jnp's indexing",
        1 / 3,
        {"jax.numpy": lambda: theirs[1:3], OURS: lambda: part.__jax_array__()},
    )
    yield Case(
        "reading a view five steps deep, beside jnp",
        1 / 3,
        {
            "jax.numpy": lambda: square.T[::-1, 5:90][1:, ::2],
            OURS: lambda: view.__jax_array__(),
        },
    )


def writes() -> Iterator[Case]:
    """Yield the cases of writing into an array, of all sizes."""
    for n in (1_000, 10_000_000):
        budget = 1 / 500 if n > 10**6 else None
        yield Case(f"ten times x[i:j] = v, 100 of {n:,} elements", budget, slicing(n))
    yield Case("x[::2] = v, of 4,000,000 elements, beside NumPy", 1.0, striding(4_000_000))


def slicing(n: int) -> dict[str, Call]:
    theirs, mine = jnp.zeros(n), ours(np.zeros(n, dtype=np.float32))
    value = jnp.ones(100)
    own = xp.asarray(value)

    def set_theirs() -> None:
        x = theirs
        for _ in range(10):
            x = x.at[500:600].set(value)
        x.block_until_ready()

    def write() -> None:
        for _ in range(10):
            mine[500:600] = own
        mine.block_until_ready()

    return {"jax.numpy": set_theirs, OURS: write}


def striding(n: int) -> dict[str, Call]:
    theirs, mine = np.zeros(n, dtype=np.float32), ours(np.zeros(n, dtype=np.float32))
    value = np.ones(n // 2, dtype=np.float32)
    own = xp.jax.asarray(value)

    def write() -> None:
        mine[::2] = own
        mine.block_until_ready()

    return {"numpy": lambda: theirs.__setitem__(np.s_[::2], value), OURS: write}


def dispatch() -> Iterator[Case]:
    """Yield the case of calling a small compiled program."""
    state = jnp.arange(10.0)
    other = jnp.arange(10.0)
    functional = jax.jit(lambda x, y: x.at[1:].add(y[1:]), donate_argnums=0)
    x, y = ours(np.arange(10.0, dtype=np.float32)), ours(np.arange(10.0, dtype=np.float32))

    def call() -> None:
        nonlocal state
        state = functional(state, other)

    def add(x: Any, y: Any) -> None:
        x[1:] += y[1:]

    compiled = jit(add)
    yield Case(
        "calling a compiled x[1:] += y[1:], beside jax.jit of the functional form",
        3.0,
        {
            "jax.jit": call,
            "strata_api.jit": lambda: compiled(x, y),
            OURS + ", eager": lambda: add(x, y),
        },
    )


def loop_of_writes() -> None:
    """Print what a step of a long loop of writes at other places takes, and compiles."""
    n = 10_000
    for name, write in {
        "x[i] = v": lambda x, i: x.__setitem__(i, 1.0),
        "x[i:i+3] = v": lambda x, i: x.__setitem__(slice(i, i + 3), 1.0),
    }.items():
        x = ours(np.zeros(n + 3))
        with xp.explain(io.StringIO()) as report:
            for i in range(n):
                write(x, i)
        compiled = len(report.of("compilation"))
        start = time.perf_counter()
        for i in range(n):
            write(x, i)
        x.block_until_ready()
        taken = (time.perf_counter() - start) / n * 1e6
        verdict = "met" if compiled <= 4 and taken < 30 else "MISSED"
        print(
            f"\n{n:,} steps of {name}: {taken:.1f} us a step, {compiled} compilations "
            f"(budget: 30 us, 4: {verdict})"
        )


# -- kernels --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kernel:
    """A program that writes, and the same written for JAX by hand."""

    name: str
    data: Any
    writes: Callable[[Any], None]
    by_hand: Callable[[Any], Any]


def running(kernel: Kernel) -> Case:
    """Return the case of running a kernel on a copy of its data."""
    by_hand, mine = jax.jit(kernel.by_hand, donate_argnums=0), jit(kernel.writes)
    theirs, own = jnp.asarray(kernel.data), xp.jax.asarray(kernel.data)

    def run() -> Any:
        x = xp.asarray(own, copy=True)
        mine(x)
        return x.block_until_ready()

    np.testing.assert_allclose(
        np.asarray(run()), by_hand(jnp.array(theirs)), rtol=2e-4, atol=2e-4, err_msg=kernel.name
    )
    return Case(
        f"{kernel.name}: running",
        1.1,
        {
            "by hand": lambda: jax.block_until_ready(by_hand(jnp.array(theirs))),
            "strata_api.jit": run,
        },
    )


def compiling(kernel: Kernel, times: int) -> list[Row]:
    """Return what the first call takes, which traces and compiles, of new functions each time."""
    case = f"{kernel.name}: first call, which compiles"
    taken: dict[str, list[float]] = {"by hand": [], "strata_api.jit": []}
    theirs, own = jnp.asarray(kernel.data), xp.jax.asarray(kernel.data)
    for _ in range(times):
        start = time.perf_counter()
        jax.block_until_ready(jax.jit(lambda x: kernel.by_hand(x))(theirs))
        taken["by hand"].append((time.perf_counter() - start) * 1e6)
        x = xp.asarray(own, copy=True)
        start = time.perf_counter()
        jit(lambda x: kernel.writes(x))(x)
        x.block_until_ready()
        taken["strata_api.jit"].append((time.perf_counter() - start) * 1e6)
    first = taken["by hand"]
    return [
        Row(
            case,
            name,
            min(each),
            median(each),
            min(each) / min(first),
            median(each) / median(first),
            1.1 if name != "by hand" else None,
        )
        for name, each in taken.items()
    ]


def jacobi(u: Any) -> None:
    inner, north, south, west, east = (
        u[1:-1, 1:-1],
        u[:-2, 1:-1],
        u[2:, 1:-1],
        u[1:-1, :-2],
        u[1:-1, 2:],
    )

    def sweep(_: Any, value: Any) -> None:
        inner[...] = 0.25 * (north + south + west + east)

    fori_loop(0, 50, sweep)


def jacobi_by_hand(u: Any) -> Any:
    def sweep(_: Any, u: Any) -> Any:
        mean = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return u.at[1:-1, 1:-1].set(mean)

    return lax.fori_loop(0, 50, sweep, u)


COLOURS = ((1, 1), (2, 2), (1, 2), (2, 1))


def around(u: Any, a: int, b: int) -> Any:
    return 0.25 * (
        u[a - 1 : -2 : 2, b:-1:2]
        + u[a + 1 :: 2, b:-1:2]
        + u[a:-1:2, b - 1 : -2 : 2]
        + u[a:-1:2, b + 1 :: 2]
    )


def red_black(u: Any) -> None:
    def sweep(_: Any, value: Any) -> None:
        for a, b in COLOURS:
            u[a:-1:2, b:-1:2] = around(u, a, b)

    fori_loop(0, 20, sweep)


def red_black_by_hand(u: Any) -> Any:
    def sweep(_: Any, u: Any) -> Any:
        for a, b in COLOURS:
            u = u.at[a:-1:2, b:-1:2].set(around(u, a, b))
        return u

    return lax.fori_loop(0, 20, sweep, u)


def lu(a: Any) -> None:
    for k in range(a.shape[0] - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k][:, None] * a[k, k + 1 :][None, :]


def lu_by_hand(a: Any) -> Any:
    for k in range(a.shape[0] - 1):
        a = a.at[k + 1 :, k].divide(a[k, k])
        a = a.at[k + 1 :, k + 1 :].add(-a[k + 1 :, k][:, None] * a[k, k + 1 :][None, :])
    return a


def lu_looped(a: Any) -> None:
    n = a.shape[0]
    below = xp.arange(n)

    def eliminate(k: Any, _: Any) -> None:
        row, column = a[k], a[:, k]
        factors = xp.where(below > k, column / row[k], 0.0)
        a[...] -= factors[:, None] * xp.where(below > k, row, 0.0)[None, :]
        column[...] = xp.where(below > k, factors, column)

    fori_loop(0, n - 1, eliminate)


def lu_looped_by_hand(a: Any) -> Any:
    n = a.shape[0]
    below = jnp.arange(n)

    def eliminate(k: Any, a: Any) -> Any:
        row, column = a[k], a[:, k]
        factors = jnp.where(below > k, column / row[k], 0.0)
        a = a - factors[:, None] * jnp.where(below > k, row, 0.0)[None, :]
        return a.at[:, k].set(jnp.where(below > k, factors, a[:, k]))

    return lax.fori_loop(0, n - 1, eliminate, a)


def gram_schmidt(q: Any) -> None:
    for j in range(q.shape[1]):
        v = q[:, j]
        for i in range(j):
            v -= q[:, i] * xp.sum(q[:, i] * v)
        v /= xp.sqrt(xp.sum(v * v))


def gram_schmidt_by_hand(q: Any) -> Any:
    for j in range(q.shape[1]):
        v = q[:, j]
        for i in range(j):
            v = v - q[:, i] * jnp.sum(q[:, i] * v)
        q = q.at[:, j].set(v / jnp.sqrt(jnp.sum(v * v)))
    return q


BITS = 12
_random = np.random.default_rng(0)
TWIDDLES = [
    jnp.asarray(np.exp(-2j * np.pi * _random.random((2,) * (BITS - 1))).astype(np.complex64))
    for _ in range(BITS)
]


def halves(axis: int) -> tuple[Any, Any]:
    return (slice(None),) * axis + (0,), (slice(None),) * axis + (1,)


def fft(x: Any) -> None:
    for axis in range(BITS):
        first, second = halves(axis)
        a, b = x[first], x[second]
        t = b * TWIDDLES[axis]
        b[...] = a - t
        a += t


def fft_by_hand(x: Any) -> Any:
    for axis in range(BITS):
        first, second = halves(axis)
        a = x[first]
        t = x[second] * TWIDDLES[axis]
        x = x.at[second].set(a - t).at[first].set(a + t)
    return x


def dominant(n: int) -> Any:
    return (_random.random((n, n)) + n * np.eye(n)).astype(np.float32)


KERNELS = (
    Kernel(
        "Jacobi, 258 x 258, 50 sweeps",
        _random.random((258, 258)).astype(np.float32),
        jacobi,
        jacobi_by_hand,
    ),
    Kernel(
        "red-black Gauss-Seidel, 258 x 258, 20 sweeps",
        _random.random((258, 258)).astype(np.float32),
        red_black,
        red_black_by_hand,
    ),
    Kernel("LU unrolled, 48 x 48", dominant(48), lu, lu_by_hand),
    Kernel("LU looped, 200 x 200", dominant(200), lu_looped, lu_looped_by_hand),
    Kernel(
        "Gram-Schmidt, 256 x 16",
        _random.random((256, 16)).astype(np.float32),
        gram_schmidt,
        gram_schmidt_by_hand,
    ),
    Kernel(
        "FFT in place, 4,096",
        (_random.random((2,) * BITS) + 1j).astype(np.complex64),
        fft,
        fft_by_hand,
    ),
)


if __name__ == "__main__":
    main()
