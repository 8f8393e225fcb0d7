"""Time laying arrays out anew, against copying the same bytes. Run: python bench_layouts.py."""

from functools import partial
from time import perf_counter

import numpy as np

import strata_api as sx
from strata_api import MemoryDescriptor


def best(call, repeats=15):
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def transposed(tag, a):
    """Return the NumPy call that lays an array out by transposing it."""
    if tag == "nhwc":
        return lambda: np.ascontiguousarray(a.transpose(0, 2, 3, 1))
    if tag == "aBcd16b":
        n, c, h, w = a.shape
        return lambda: np.ascontiguousarray(
            a.reshape(n, c // 16, 16, h, w).transpose(0, 1, 3, 4, 2)
        )
    o, i, h, w = a.shape
    return lambda: np.ascontiguousarray(
        a.reshape(o // 16, 16, i // 16, 16, h, w).transpose(0, 2, 4, 5, 3, 1)
    )


def calls_of(tag, a):
    """Return what is timed, by name."""
    layout = MemoryDescriptor(a.shape, np.float32, tag)
    x, y = sx.asarray(a), sx.asarray(a, device="jax:cpu:0")
    return {
        "transpose+ascontiguousarray": transposed(tag, a),
        "NumPy backend": lambda: sx.reorder(x, layout),
        "JAX backend": lambda: sx.reorder(y, layout)._storage.buffer.block_until_ready(),
    }


def main():
    cases = [
        ("nhwc", (32, 64, 56, 56)),
        ("aBcd16b", (32, 64, 56, 56)),
        ("OIhw16i16o", (256, 256, 3, 3)),
    ]
    for tag, shape in cases:
        a = np.random.default_rng(0).random(shape, dtype=np.float32)
        to = np.empty_like(a)
        copy = best(partial(np.copyto, to, a))
        for name, call in calls_of(tag, a).items():
            call()
            print(
                f"{tag:12} {name:28} {best(call) / copy:5.2f} times np.copyto ({copy * 1e3:.1f} ms)"
            )


if __name__ == "__main__":
    main()
