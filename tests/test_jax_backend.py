"""The JAX backend's promises: who owns a buffer, threads, 64 bits, transformations, programs."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Thread
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from conftest import HAS_JAX, namespace
from oracle import host
from strata_api import Array

if not HAS_JAX:
    pytest.skip("JAX is not installed", allow_module_level=True)

import jax
from jax import numpy as jnp

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def xp() -> ModuleType:
    """The namespace bound to JAX."""
    return namespace("jax")


@pytest.fixture(scope="module")
def snp() -> ModuleType:
    """The namespace bound to NumPy."""
    return namespace("numpy")


def pointer(x: Array) -> int:
    """Return where the data of an array's storage is."""
    return int(x._storage.buffer.unsafe_buffer_pointer())


def overwrite(x: Array) -> None:
    """Write to an array of two axes in every way that there is."""
    x[0] = -1
    x[1:, ::2] = -2
    x[...] = x[::-1]
    x += 1
    x[x > 5] = -3
    x[[0, 1], [1, 0]] = -4
    x.mT[0] = -5
    x[0, 0] = -6


def fresh(xp: ModuleType) -> Array:
    """Return an array of ours, all of a storage, whose next write may donate."""
    x = xp.zeros((2, 200_000), dtype=xp.float32)
    x[...] = xp.reshape(xp.arange(400_000, dtype=xp.float32), (2, -1))
    return x  # type: ignore[no-any-return]  # an array


# -- donation -------------------------------------------------------------------------------------


def test_a_write_reuses_the_memory_of_a_storage_that_we_own(xp: ModuleType) -> None:
    x = xp.zeros((1000, 100))
    place = pointer(x)
    for write in (
        lambda: x.__setitem__(3, 1),
        lambda: x.__setitem__((slice(2, 9), 5), 2),
        lambda: x[::2].__setitem__(slice(None, None, -1), 3),
        lambda: x[1].__iadd__(1),
        lambda: x.T.__setitem__(7, x[:, 3]),
    ):
        write()
        assert pointer(x) == place
    assert host(x)[3, 5] == 2
    assert host(x)[1, 4] == 1


def test_an_array_that_was_taken_in_is_copied_once(xp: ModuleType) -> None:
    users = jnp.zeros((1000, 100))
    x = xp.asarray(users)
    assert pointer(x) == users.unsafe_buffer_pointer()
    x[0] = 1
    place = pointer(x)
    assert place != users.unsafe_buffer_pointer()
    x[1] = 1
    assert pointer(x) == place


SHARED: dict[str, Callable[[Array], Any]] = {
    "jnp.asarray": jnp.asarray,
    "__jax_array__": lambda x: x.__jax_array__(),
    "leaf": lambda x: jax.tree_util.tree_leaves(x)[0],
    "tree_map": lambda x: jax.tree_util.tree_map(lambda leaf: leaf, x),
    "device_put": jax.device_put,
    "device_put of a leaf": lambda x: jax.device_put(x.__jax_array__(), jax.devices()[0]),
    "shard": lambda x: x.__jax_array__().addressable_shards[0].data,
    "addressable_data": lambda x: x.__jax_array__().addressable_data(0),
    "global shard": lambda x: jnp.asarray(x).global_shards[0].data,
    "jnp.from_dlpack": jnp.from_dlpack,
    "list of arrays": lambda x: jax.device_put([x, x])[1],
    "asarray of jnp.asarray": lambda x: namespace("jax").asarray(jnp.asarray(x)),
    "np.asarray": np.asarray,
    "np.from_dlpack": np.from_dlpack,
    "device_get": lambda x: jax.device_get(x.__jax_array__()),
    "a view of np.asarray": lambda x: np.asarray(x)[:, ::-1],
    "memoryview": lambda x: memoryview(np.asarray(x)),
    "jitted identity": jax.jit(lambda x: x),
    "expand_dims and back": lambda x: jnp.asarray(x[None, ...])[0],
    "copy": lambda x: namespace("jax").asarray(x, copy=True),
    "astype": lambda x: namespace("jax").astype(x, x.dtype),
    "positive": lambda x: +x,
    "real": lambda x: namespace("jax").real(x),
    "to_device": lambda x: x.to_device("numpy"),
    "reshaped copy": lambda x: namespace("jax").reshape(x, (-1,), copy=True),
    "concat of one": lambda x: namespace("jax").concat([x]),
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("shape_of", ["array", "view"])
def test_what_was_handed_out_keeps_its_value(xp: ModuleType, name: str, shape_of: str) -> None:
    base = fresh(xp)
    x = base if shape_of == "array" else base[:, 1:]
    handle = SHARED[name](x)
    gc.collect()
    value = np.array(handle)
    for _ in range(2):
        overwrite(base)
    np.testing.assert_array_equal(np.array(handle), value)
    del handle
    gc.collect()
    overwrite(base)  # copies at most once, and is ours again
    place = pointer(base)
    base[1] = 7
    assert pointer(base) == place


def test_what_was_handed_out_keeps_its_value_when_only_its_capsule_lives(xp: ModuleType) -> None:
    x = fresh(xp)
    value = host(x)

    class Capsule:
        """What a consumer holds before it looks inside."""

        def __init__(self) -> None:
            self.capsule = x.__dlpack__()

        def __dlpack__(self, **_: Any) -> Any:
            return self.capsule

        def __dlpack_device__(self) -> Any:
            return x.__dlpack_device__()

    capsule = Capsule()
    overwrite(x)
    np.testing.assert_array_equal(np.from_dlpack(capsule), value)


IMPORTS: dict[str, Callable[[ModuleType, Any], Array]] = {
    "asarray": lambda xp, u: xp.asarray(u),
    "asarray without a copy": lambda xp, u: xp.asarray(u, copy=False),
    "asarray with a copy": lambda xp, u: xp.asarray(u, copy=True),
    "from_dlpack": lambda xp, u: xp.from_dlpack(u),
    "add": lambda xp, u: xp.add(u, 0),
    "add an array": lambda xp, u: xp.zeros(u.shape, dtype=xp.float32) + u,
    "positive": lambda xp, u: xp.positive(xp.asarray(u)),
    "real": lambda xp, u: xp.real(xp.asarray(u)),
    "astype": lambda xp, u: xp.astype(xp.asarray(u), xp.float32),
    "astype without a copy": lambda xp, u: xp.astype(xp.asarray(u), xp.float32, copy=False),
    "reshape": lambda xp, u: xp.reshape(xp.asarray(u), u.shape),
    "a view": lambda xp, u: xp.asarray(u)[:, ...],
    "broadcast_arrays": lambda xp, u: xp.broadcast_arrays(xp.asarray(u))[0],
    "concat": lambda xp, u: xp.concat([xp.asarray(u)]),
    "roll": lambda xp, u: xp.roll(xp.asarray(u), 0),
    "clip": lambda xp, u: xp.clip(xp.asarray(u)),
    "where": lambda xp, u: xp.where(xp.asarray(True), xp.asarray(u), xp.asarray(u)),
    "a whole assignment": lambda xp, u: _assigned(xp, u),
    "tree_map": lambda xp, u: jax.tree_util.tree_map(lambda leaf: leaf, xp.asarray(u)),
    "unflatten": lambda xp, u: jax.tree_util.tree_unflatten(
        jax.tree_util.tree_structure(xp.asarray(u)), [u]
    ),
    "jit": lambda xp, u: jax.jit(lambda x: x)(xp.asarray(u)),
    "device": lambda xp, u: xp.asarray(u, device="jax:cpu:0"),
    "to_device": lambda xp, u: xp.asarray(u).to_device("jax"),
}


def _assigned(xp: ModuleType, users: Any) -> Array:
    x = xp.zeros(users.shape, dtype=xp.float32)
    x[...] = users
    return x  # type: ignore[no-any-return]  # an array


@pytest.mark.parametrize("name", IMPORTS)
def test_a_users_jax_array_never_changes_and_never_dies(xp: ModuleType, name: str) -> None:
    users = jnp.arange(40_000, dtype=jnp.float32).reshape(2, -1) + 1
    value = np.array(users)
    x = IMPORTS[name](xp, users)
    if not x._view.readonly:
        for _ in range(2):
            overwrite(x)
    np.testing.assert_array_equal(np.array(users), value)
    assert not users.is_deleted()


def test_another_handle_of_what_was_taken_in_never_dies(xp: ModuleType) -> None:
    handles = {
        "device_put": lambda u: jax.device_put(u, jax.devices()[0]),
        "shard": lambda u: u.addressable_data(0),
        "tree": lambda u: jax.device_put([u])[0],
    }
    for name, make in handles.items():
        users = jnp.arange(40_000, dtype=jnp.float32).reshape(2, -1) + 1
        value = np.array(users)
        other = make(users)
        x = xp.asarray(users)
        del users
        gc.collect()
        overwrite(x)
        overwrite(x)
        np.testing.assert_array_equal(np.array(other), value, err_msg=name)


def aligned(shape: tuple[int, ...], offset: int) -> Any:
    """Return an ndarray whose data begins ``offset`` bytes after a multiple of 64."""
    n = int(np.prod(shape)) * 4
    raw = np.zeros(n + 128, dtype=np.uint8)
    start = -raw.ctypes.data % 64 + offset
    array = raw[start : start + n].view(np.float32).reshape(shape)
    array[...] = np.arange(array.size).reshape(shape)
    assert array.ctypes.data % 64 == offset
    return array


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize(
    "name", ["asarray", "asarray with a copy", "from_dlpack", "add an array", "a whole assignment"]
)
def test_a_users_ndarray_and_our_copy_of_it_do_not_see_each_other(
    xp: ModuleType, name: str, offset: int
) -> None:
    users = aligned((2, 20_000), offset)
    for _ in range(100):
        value = users.copy()
        x = IMPORTS[name](xp, users)
        users += 1  # at once, while what was asked for may be on its way
        np.testing.assert_array_equal(host(x), value)
    overwrite(x)
    overwrite(x)
    np.testing.assert_array_equal(users, value + 1)


@pytest.mark.parametrize("offset", [0, 4])
def test_a_users_ndarray_moved_to_jax_is_a_copy(
    xp: ModuleType, snp: ModuleType, offset: int
) -> None:
    users = aligned((2, 20_000), offset)
    ours = snp.asarray(users)
    program = jax.jit(lambda x: x * 1)
    for _ in range(100):
        value = users.copy()
        x, native, result = ours.to_device("jax"), ours.__jax_array__(), program(ours)
        ours += 1
        for one in (x, native, result):
            np.testing.assert_array_equal(host(one), value)
    overwrite(x)
    np.testing.assert_array_equal(users, value + 1)


@pytest.mark.parametrize("offset", [0, 4])
def test_a_jax_array_over_a_users_memory_is_not_written(xp: ModuleType, offset: int) -> None:
    users = aligned((2, 20_000), offset)
    value = users.copy()
    shared = jax.device_put(users)  # may look at the same memory
    x = xp.asarray(shared)
    overwrite(x)
    overwrite(x)
    np.testing.assert_array_equal(users, value)
    np.testing.assert_array_equal(np.array(shared), value)


def test_residuals_of_a_derivative_outlive_writes(xp: ModuleType) -> None:
    x = fresh(xp)
    value = host(x)
    _, pull = jax.vjp(lambda x: x * x * xp.sin(x), x)
    _, push = jax.linearize(lambda x: x * xp.cos(x), x)
    overwrite(x)
    overwrite(x)
    one = xp.ones_like(x)
    want = 2 * value * np.sin(value) + value**2 * np.cos(value)
    np.testing.assert_allclose(host(pull(one)[0]), want, rtol=1e-2, atol=1e6)
    want = np.cos(value) - value * np.sin(value)
    np.testing.assert_allclose(host(push(one)), want, rtol=1e-2, atol=1e2)


@pytest.mark.parametrize("simplified", [False, True])
def test_captured_constants_outlive_writes(xp: ModuleType, simplified: bool) -> None:
    before = getattr(jax.config, "jax_use_simplified_jaxpr_constants", None)
    if before is None:
        pytest.skip("this JAX has one way to hold constants")
    jax.config.update("jax_use_simplified_jaxpr_constants", simplified)
    try:
        x = fresh(xp)
        view = x[:, ::2]
        value = host(x)
        frozen = jax.jit(lambda y: (x + y, view * y, jnp.asarray(x) + y.__jax_array__()))
        zero = xp.zeros((), dtype=xp.float32)
        frozen(zero)
        gc.collect()
        overwrite(x)
        overwrite(x)
        first, second, third = frozen(zero)
        np.testing.assert_array_equal(host(first), value)
        np.testing.assert_array_equal(host(second), value[:, ::2] * 0)
        np.testing.assert_array_equal(host(third), value)
        jax.clear_caches()
        overwrite(x)
    finally:
        jax.config.update("jax_use_simplified_jaxpr_constants", before)


def test_a_failed_write_leaves_the_array_whole(xp: ModuleType) -> None:
    x = fresh(xp)
    value = host(x)
    for key, source in ((0, [1.0, 2.0]), ((0, 1, 2), 1.0), (0, 1j), (99, 0.0)):
        with pytest.raises((ValueError, IndexError, TypeError)):
            x[key] = source
    np.testing.assert_array_equal(host(x), value)
    x[0] = 1
    assert host(x)[0, 5] == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: x[0],
        lambda x: np.asarray(x[::-1]),
        lambda x: x.__setitem__(0, 1),
        lambda x: bool(x[0]),
        repr,
        lambda x: jnp.asarray(x) + 1,
        lambda x: x.to_device("numpy"),
        lambda x: x.block_until_ready(),
    ],
)
def test_an_array_whose_buffer_its_user_deleted_says_so(
    xp: ModuleType, use: Callable[[Array], Any]
) -> None:
    users = jnp.arange(3.0)
    x = xp.asarray(users)
    users.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        use(x)


# -- threads --------------------------------------------------------------------------------------


@contextmanager
def switching_often() -> Iterator[None]:
    """Let threads be switched as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def run_all(*functions: Callable[[], None]) -> None:
    """Run functions at once, each in a thread, and raise what one of them raised."""
    errors: list[BaseException] = []

    def guarded(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:  # raised below
            errors.append(error)

    threads = [Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "the threads wait for each other"
    if errors:
        raise errors[0]


def test_readers_beside_a_writer_read_what_was_written(xp: ModuleType) -> None:
    x = xp.zeros((3, 64), dtype=xp.int64)
    done = False
    reads = [0, 0, 0]

    def write() -> None:
        nonlocal done
        try:
            for k in range(1, 1001):
                x[0] = k
                x[1, 1:] = k
                x[2, ::2] += 1
        finally:
            done = True

    def read(number: int) -> Callable[[], None]:
        def check() -> None:
            last = 0
            while not done or not reads[number]:
                whole = np.array(x + 0)
                assert whole[0].min() == whole[0].max(), "a row is written at once"
                assert whole[0, 0] - whole[1, 5] in (0, 1), "in the order of the program"
                assert whole[0, 0] >= last, "and never goes back"
                last = whole[0, 0]
                shown = np.asarray(x)  # shares memory, which must not be written again
                now = np.array(x[1, 3])
                assert now >= shown[1, 3]
                assert now - last >= -1
                reads[number] += 4

        return check

    with switching_often():
        run_all(write, *[read(number) for number in range(3)])
    assert sum(reads) > 100
    want = np.zeros((3, 64), dtype=np.int64)
    want[0], want[1, 1:], want[2, ::2] = 1000, 1000, 1000
    np.testing.assert_array_equal(host(x), want)


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_writers_of_disjoint_views_lose_nothing(xp: ModuleType, dtype: str) -> None:
    x = xp.zeros((8, 16), dtype=getattr(xp, dtype))
    step = xp.asarray(1, dtype=getattr(xp, "int64" if dtype == "int64" else "int8"))

    def writer(number: int) -> Callable[[], None]:
        def write() -> None:
            row = x[number]
            for k in range(200):
                row[k % 16] = row[k % 16] + number
                row += step
                row[::2] -= 1

        return write

    with switching_often():
        run_all(*[writer(number) for number in range(8)])
    want = np.zeros((8, 16), dtype=dtype)
    for number in range(8):
        for k in range(200):
            want[number, k % 16] += number
            want[number] += 1
            want[number, ::2] -= 1
    np.testing.assert_array_equal(host(x), want)


def test_in_place_operators_of_several_threads_on_one_view_all_count(xp: ModuleType) -> None:
    x = xp.zeros((2, 8), dtype=xp.float32)
    wide = xp.ones(8, dtype=xp.float64)
    narrow = xp.ones(8, dtype=xp.float32)

    def add(step: Array) -> Callable[[], None]:
        def write() -> None:
            row = x[1]
            for _ in range(150):
                row += step

        return write

    with switching_often():
        run_all(add(wide), add(narrow), add(wide), add(narrow))
    np.testing.assert_array_equal(host(x), [[0] * 8, [600] * 8])


def test_two_arrays_updated_by_each_other_do_not_wait_forever(xp: ModuleType) -> None:
    x, y = xp.zeros(8, dtype=xp.int64), xp.zeros(8, dtype=xp.int64)

    def add(target: Array, source: Array) -> Callable[[], None]:
        def write() -> None:
            for _ in range(200):
                target[...] &= 1
                target[:4] += source[4:]
                target[4:] = source[:4]

        return write

    with switching_often():
        run_all(add(x, y), add(y, x))
    assert int(xp.max(x)) <= 2


# -- 64 bits --------------------------------------------------------------------------------------

EXACT = {"float64": 1 + 2**-40, "int64": 2**40 + 1, "complex128": 1 + 2**-40 * 1j}


@contextmanager
def flag_at(on: bool) -> Iterator[None]:
    """Set the user's flag for 64 bits, and check that nobody changed it, nor warned."""
    with jax.enable_x64(on), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
        assert jax.config.jax_enable_x64 == on
        assert jnp.zeros(1).dtype == (np.float64 if on else np.float32)
    assert not jax.config.jax_enable_x64


def mutating(xp: ModuleType, x: Array) -> Array:
    """Write to ``x`` and to an array made here, through views of every kind."""
    held = xp.zeros(x.shape, dtype=x.dtype)
    held[...] = x + x
    held[1:] += x[:-1]  # of another buffer: see openxla/xla#49176
    held[::2] *= 3
    held[held == 0] = 7
    held[[0, 2]] = held[[2, 0]]
    held[:] = held[::-1] + xp.cumulative_sum(x)
    x[0] = held[-1]
    return held + x


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("dtype", EXACT)
def test_64_bits_are_exact_whatever_the_users_flag(xp: ModuleType, dtype: str, flag: bool) -> None:
    kind = getattr(np, dtype)
    data = np.arange(5).astype(kind) + kind(EXACT[dtype])
    want = mutating(np_like(), data.copy())
    with flag_at(flag):
        x = xp.asarray(data)
        assert x.dtype == kind
        np.testing.assert_array_equal(host(mutating(xp, xp.asarray(x, copy=True))), want)
        jitted = jax.jit(lambda x: mutating(xp, x))(x)
        assert jitted.dtype == kind
        np.testing.assert_array_equal(host(jitted), want)
        both = xp.stack([x, x])
        for mapped in (
            jax.vmap(lambda x: mutating(xp, x))(both),
            jax.jit(jax.vmap(lambda x: mutating(xp, x)))(both),
            jax.lax.scan(lambda c, x: (c + 1, mutating(xp, x)), x[0], both)[1],
            jax.lax.map(lambda x: mutating(xp, x), both),
        ):
            assert mapped.dtype == kind
            np.testing.assert_array_equal(host(mapped), [want, want])
        last, _ = jax.lax.scan(lambda c, _: (c * 1 + x[0], None), x, None, length=3)
        np.testing.assert_array_equal(host(last), data + 3 * data[0])
        looped = jax.lax.fori_loop(0, 3, lambda i, c: c + x, x)
        np.testing.assert_array_equal(host(looped), 4 * data)
        chosen = jax.lax.cond(True, lambda c: c + x, lambda c: c, x)
        np.testing.assert_array_equal(host(chosen), 2 * data)
        assert xp.argmax(xp.real(x) if dtype == "complex128" else x).dtype == np.int64


def np_like() -> Any:
    """Return what stands for a namespace where the program runs on ndarrays."""

    class Namespace:
        zeros = staticmethod(np.zeros)
        cumulative_sum = staticmethod(np.cumsum)

    return Namespace


@pytest.mark.parametrize("flag", [False, True])
def test_derivatives_are_exact_whatever_the_users_flag(xp: ModuleType, flag: bool) -> None:
    data = np.arange(4) + 1 + 2**-40

    def loss(x: Array) -> Any:
        x[1:3] *= x[0]
        return xp.sum(x * x).__jax_array__()

    with flag_at(flag):
        x = xp.asarray(data)
        a, b, c, d = data
        want = 2 * np.array([a + a * (b * b + c * c), b * a * a, c * a * a, d])
        for slope in (jax.grad(loss), jax.jit(jax.grad(loss)), jax.grad(jax.jit(loss))):
            np.testing.assert_allclose(host(slope(x)), want, rtol=1e-15)
            assert slope(x).dtype == np.float64
        value, slope_ = jax.value_and_grad(jax.checkpoint(loss))(x)
        assert value.dtype == np.float64
        np.testing.assert_allclose(host(slope_), want, rtol=1e-15)
        out, pull = jax.vjp(lambda x: xp.sin(x), x)
        assert out.dtype == np.float64
        np.testing.assert_allclose(host(pull(xp.ones(4))[0]), np.cos(data), rtol=1e-15)
        _, push = jax.jvp(lambda x: xp.sin(x), (x,), (xp.ones(4),))
        np.testing.assert_allclose(host(push), np.cos(data), rtol=1e-15)
    np.testing.assert_array_equal(host(x), data)


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, jax.grad, jax.checkpoint])
def test_64_bits_of_numpy_do_not_enter_a_program_that_would_narrow_them(
    snp: ModuleType, transform: Callable[..., Any]
) -> None:
    called = transform(lambda x: x.__jax_array__())
    for dtype in ("float64", "int64", "uint64", "complex128"):
        if transform is jax.grad and dtype != "float64":
            continue
        x = snp.ones(() if transform is jax.grad else 3, dtype=dtype)
        with pytest.raises(TypeError, match=r"jax_enable_x64.*to_device"):
            called(x)
        if transform is not jax.grad:
            with jax.enable_x64(True):
                assert called(x).dtype == dtype


def test_arrays_of_numpy_are_of_jax_inside_a_program(snp: ModuleType, xp: ModuleType) -> None:
    x = snp.ones((2, 3), dtype="float32")

    def program(x: Array) -> Array:
        assert x.__array_namespace__() is xp
        x[0] = 2
        return x

    y = jax.jit(program)(x)
    assert y.__array_namespace__() is xp
    assert np.all(host(y)[0] == 2)
    assert np.all(host(x) == 1)


# -- pytrees and transformations ------------------------------------------------------------------


def test_an_array_is_a_node_of_one_leaf_its_value(xp: ModuleType, snp: ModuleType) -> None:
    x = xp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    for array in (x, x.T, x[:, ::-1], x[0], snp.asarray(host(x))):
        leaves, tree = jax.tree_util.tree_flatten(array)
        assert len(leaves) == 1
        assert leaves[0].shape == array.shape
        np.testing.assert_array_equal(leaves[0], host(array))
        back = jax.tree_util.tree_unflatten(tree, leaves)
        assert type(back) is Array
        assert back.dtype == array.dtype
    assert jax.tree_util.tree_structure(x) == jax.tree_util.tree_structure(x.T)
    doubled = jax.tree_util.tree_map(lambda leaf: 2 * leaf, {"a": x, "b": [x.T]})
    np.testing.assert_array_equal(host(doubled["b"][0]), 2 * host(x).T)


@pytest.mark.parametrize("leaf", [object(), None, 0, "x", 1.5, jax.ShapeDtypeStruct((2,), "int32")])
def test_marks_may_stand_for_the_leaf(xp: ModuleType, leaf: object) -> None:
    x = xp.ones(3)
    tree = jax.tree_util.tree_structure(x)
    marked = jax.tree_util.tree_unflatten(tree, [leaf])
    assert type(marked) is Array
    flat = jax.tree_util.tree_flatten(marked, is_leaf=lambda one: one is None)[0]
    assert flat == [leaf]
    assert "Array" in repr(marked)


def test_shapes_are_evaluated_without_data(xp: ModuleType) -> None:
    out = jax.eval_shape(lambda x: (x @ x.mT, xp.argmax(x)), xp.ones((2, 3), dtype=xp.float32))
    assert [(one.shape, one.dtype) for one in out] == [((2, 2), np.float32), ((), np.int64)]


def test_derivatives_that_take_trees_take_functions_that_return_arrays(xp: ModuleType) -> None:
    x = xp.asarray(np.arange(1, 4, dtype=np.float32))
    want = np.diag(np.cos(host(x)))
    for derivative in (jax.jacfwd, jax.jacrev):
        found = derivative(lambda x: xp.sin(x))(x)
        rows = jax.tree_util.tree_leaves(found)[0]
        np.testing.assert_allclose(rows, want, rtol=1e-6)
    _, push = jax.linearize(lambda x: xp.sin(x), x)
    np.testing.assert_allclose(host(push(xp.ones_like(x))), want.sum(0), rtol=1e-6)


def test_grad_takes_the_value_of_a_0d_array(xp: ModuleType) -> None:
    x = xp.asarray(np.arange(1, 4, dtype=np.float32))
    for loss in (lambda x: jnp.asarray(xp.sum(x * x)), lambda x: xp.sum(x * x).__jax_array__()):
        np.testing.assert_array_equal(host(jax.grad(loss)(x)), 2 * host(x))
    # JAX wants a number that is no tree of one: it builds the cotangent without looking at trees.
    with pytest.raises((TypeError, ValueError)):
        jax.grad(lambda x: xp.sum(x * x))(x)


def test_waiting_gives_the_array_back(xp: ModuleType, snp: ModuleType) -> None:
    for namespace_ in (xp, snp):
        x = namespace_.ones((3, 3), dtype="float32")
        assert x.block_until_ready() is x
        assert x.T.block_until_ready().shape == (3, 3)
    assert type(jax.block_until_ready(x)) is Array


TRANSFORMED: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "jit": lambda f, x: jax.jit(lambda x: f(x[0]))(x),
    "vmap": lambda f, x: jax.vmap(f)(x),
    "grad": lambda f, x: jax.grad(lambda x: f(x[0]))(x),
    "scan": lambda f, x: jax.lax.scan(lambda c, x: (c, f(x)), 0, x),
    "cond in jit": lambda f, x: jax.jit(lambda x: jax.lax.cond(x[0, ...] > 0, f, f, x[0]))(x),
    "vmap in jit": lambda f, x: jax.jit(jax.vmap(f))(x),
    "eval_shape": lambda f, x: jax.eval_shape(lambda x: f(x[0]), x),
}


@pytest.mark.usefixtures("no_leaked_tracers")
@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize(
    "write",
    [
        lambda outer, x: outer.__setitem__(0, x),
        lambda outer, x: outer.__setitem__(0, 1.0),
        lambda outer, x: outer.__setitem__(..., x),
        lambda outer, x: outer.__setitem__(slice(None, None, 2), x),
        lambda outer, x: outer.__iadd__(x),
        lambda outer, x: outer.__setitem__([0, 1], x),
        lambda outer, x: outer.__setitem__(outer > 0, x),
        lambda outer, x: outer.__setitem__(outer == x, 1.0),
    ],
)
def test_an_array_of_the_outside_is_not_written(
    xp: ModuleType, name: str, write: Callable[[Array, Any], None]
) -> None:
    outer = xp.ones(4, dtype=xp.float32)

    def body(x: Any) -> Any:
        write(outer, x)
        return x.__jax_array__()

    with pytest.raises(RuntimeError, match=r"outside.*strata_api\.jit"):
        TRANSFORMED[name](body, xp.zeros(2, dtype=xp.float32))
    np.testing.assert_array_equal(host(outer), [1] * 4)
    outer[0] = 5
    np.testing.assert_array_equal(host(outer), [5, 1, 1, 1])


@pytest.mark.usefixtures("no_leaked_tracers")
def test_an_array_of_the_outside_is_not_written_at_a_traced_place(xp: ModuleType) -> None:
    outer = xp.ones(4)
    for write in (
        lambda i: outer.__setitem__(i, 2.0),
        lambda i: outer[i, ...].__iadd__(1),
        lambda i: outer.__setitem__(xp.stack([i, i]), 2.0),
    ):
        with pytest.raises(RuntimeError, match="outside"):
            jax.jit(lambda i: (write(i), i)[1])(xp.asarray(1))  # noqa: B023  # called at once
        np.testing.assert_array_equal(host(outer), [1] * 4)


@pytest.mark.usefixtures("no_leaked_tracers")
def test_a_loop_of_jax_does_not_write_to_the_function_around_it(xp: ModuleType) -> None:
    @jax.jit
    def program(x: Array) -> Array:
        def body(carry: Any, _: Any) -> Any:
            x[0] = 5.0
            return carry, None

        jax.lax.scan(body, 0, None, length=2)
        return x

    with pytest.raises(RuntimeError, match="outside"):
        program(xp.zeros(3))


@pytest.mark.usefixtures("no_leaked_tracers")
@pytest.mark.parametrize("name", ["jit", "vmap", "grad", "scan", "vmap in jit"])
def test_an_array_made_inside_is_written_freely(xp: ModuleType, name: str) -> None:
    def body(x: Any) -> Any:
        made = xp.zeros(4, dtype=xp.float32)
        made[0] = x
        made[1] = 2.0
        made[2:] += x
        view = made[::2]
        view *= 3
        return xp.sum(made).__jax_array__()

    out = TRANSFORMED[name](body, xp.ones(2, dtype=xp.float32))
    if name == "grad":
        np.testing.assert_array_equal(host(out), [7, 0])
    else:
        np.testing.assert_array_equal(jax.tree_util.tree_leaves(out)[-1], 9)


@pytest.mark.parametrize(
    "transform", [jax.vmap, lambda f: jax.jit(jax.vmap(f)), lambda f: partial(jax.lax.map, f)]
)
@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_traced_places_are_positions(
    xp: ModuleType, transform: Callable[..., Any], dtype: str
) -> None:
    data = np.arange(2000, dtype=np.float32).reshape(200, 10)
    places = [3, -1, 119, 127, -128] if dtype == "int8" else [3, -1, 199, 999, -999]

    def program(i: Array) -> Any:
        x = xp.asarray(data, copy=True)
        read = x[i, 1:3] + 0
        x[i] = -1
        x[i, ::2] += 1
        return read, x

    read, x = transform(program)(xp.asarray(places, dtype=dtype))
    for k, place in enumerate(places):
        position = place + 200 if place < 0 else place
        want = data.copy()
        if 0 <= position < 200:
            want[position] = [0, -1] * 5
        np.testing.assert_array_equal(host(x)[k], want)
        nearest = min(max(position, 0), 199)
        np.testing.assert_array_equal(host(read)[k], data[nearest, 1:3])


@pytest.mark.usefixtures("no_leaked_tracers")
def test_what_a_trace_cannot_know_says_what_to_write_instead(xp: ModuleType) -> None:
    x = xp.asarray(np.array([3.0, 0.0, 3.0], dtype=np.float32))
    for program, advice in (
        (lambda x: x[x > 1], "where"),
        (lambda x: xp.nonzero(x), "where"),
        (lambda x: xp.unique_values(x), "sort"),
        (lambda x: xp.unique_counts(x), "sort"),
        (lambda x: xp.repeat(x, xp.astype(x, xp.int64)), "integer"),
        (lambda x: 1 if x[0] > 0 else 2, "where"),
        (lambda x: float(x[0]), "concrete"),
        (lambda x: np.asarray(x), "concrete"),
        (lambda x: x.tolist(), "concrete"),
        (lambda x: x.__dlpack__(), "traced"),
        (lambda x: x.to_device("numpy"), "concrete"),
    ):
        with pytest.raises(TypeError, match=advice):
            jax.jit(program)(x)

    def masked(x: Array) -> Array:
        x[x > 1] = -1
        return x

    np.testing.assert_array_equal(host(jax.jit(masked)(x)), [-1, 0, -1])


# -- programs -------------------------------------------------------------------------------------


@contextmanager
def compilations(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Give a list that afterwards holds a line for each program that was compiled."""
    lines: list[str] = []
    caplog.clear()
    with jax.log_compiles():
        yield lines
    lines += [m for m in caplog.messages if m.startswith("Compiling ")]
    caplog.clear()


def test_a_loop_over_positions_compiles_a_handful_of_programs(
    xp: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    x = xp.zeros((61, 7), dtype=xp.int16)  # a shape that no other test has
    v = xp.ones(7, dtype=xp.int16)
    with compilations(caplog) as writes:
        for i in range(50):
            x[i] = v
    assert 1 <= len(writes) <= 2, writes
    with compilations(caplog) as reads:
        for i in range(50):
            np.asarray(x[i : i + 3])
    assert 1 <= len(reads) <= 2, reads
    with compilations(caplog) as more:
        for i in range(50):
            x[-i] = v
            x[i, i % 7] = 3
            np.asarray(x[i : i + 3])
    assert len(more) <= 2, more
    with compilations(caplog) as none:
        for i in range(50):
            x[i] = v
            np.asarray(x[i : i + 3])
    assert none == []


def test_recurrences_compile_a_handful_of_programs(
    xp: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    x = xp.ones(67, dtype=xp.int16)
    with compilations(caplog) as lines:
        for i in range(1, 67):
            x[i] = x[i - 1] + 1
    assert len(lines) <= 4, lines
    np.testing.assert_array_equal(host(x), np.arange(1, 68))


# -- devices --------------------------------------------------------------------------------------

TWO_DEVICES = """
import jax, numpy as np
import strata_api, strata_api.jax as xp, strata_api.numpy as snp
one, two = jax.devices()
assert [str(d) for d in xp.__array_namespace_info__().devices()] == ["jax:cpu:0", "jax:cpu:1"]
assert xp.zeros(3).device == "jax:cpu:0"
with jax.default_device(two):
    x = xp.zeros(3)
    y = xp.asarray(np.ones(3)) + x
    assert x.device == y.device == xp.asarray([1, 2]).device == "jax:cpu:1", (x.device, y.device)
    assert xp.__array_namespace_info__().default_device() == "jax:cpu:1"
    assert snp.ones(2).to_device("jax").device == "jax:cpu:1"
assert (x + y).device == "jax:cpu:1" or not x._storage.buffer.committed
for device in (two, "jax:cpu:1", x.device, jax.sharding.SingleDeviceSharding(two)):
    z = xp.asarray(np.arange(6.0).reshape(2, 3), device=device)
    where = {d.id for d in z._storage.buffer.devices()}
    assert where == {1}, (device, where)
    z[0] = 5
    z += z[::-1]
    z.T[1:] *= 2
    z[z > 3] = 1
    assert {d.id for d in z._storage.buffer.devices()} == {1}, device
    assert {d.id for d in xp.sum(z * 2, axis=0)._storage.buffer.devices()} == {1}, device
z = xp.zeros(3, device="jax:cpu:1")
there = z.to_device("jax:cpu:0")
assert there.device == "jax:cpu:0"
there[0] = 1
assert float(z[0]) == 0
assert z.to_device("jax:cpu:1") is z
host = z.to_device("numpy:cpu")
host[0] = 7
assert float(z[0]) == 0
assert host.to_device(two).device == "jax:cpu:1"
try:
    xp.zeros(3, device="jax:cpu:0").to_device("jax:cpu:0") + z
except ValueError as error:
    assert "device" in str(error)
mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
s = xp.asarray(np.arange(8.0), device=spread)
users = jax.device_put(np.arange(8, dtype=np.float32), spread)
shards = [shard.data for shard in users.addressable_shards]
t = xp.asarray(users)
for array in (s, t):
    array[1] = 5
    array[::2] += 1
    assert len(array._storage.buffer.devices()) == 2
leaf = t.__jax_array__()
kept = [shard.data for shard in leaf.addressable_shards]
value = [np.array(part) for part in kept]
del leaf
t[0] = 9
t[5:] = 9
assert all(np.array_equal(a, b) for a, b in zip(kept, value))
assert np.array_equal(np.concatenate([np.array(part) for part in shards]), np.arange(8))
for bad in ("jax:cpu:9", "jax:tpu", "jax:", "nonsense", "jax:cpu:x", 3):
    try:
        xp.zeros(3, device=bad)
    except ValueError as error:
        assert "device" in str(error), error
    else:
        assert bad == "jax:", bad
print("passed")
"""


def test_devices_of_jax() -> None:
    environ = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", TWO_DEVICES],
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout == "passed\n", done.stderr


def test_the_environment_variable_for_64_bits_changes_nothing() -> None:
    code = (
        "import jax, numpy as np, strata_api.jax as xp\n"
        "x = xp.asarray(np.arange(3)) + 2**40\n"
        "x[0] = 2**41 + 1\n"
        "y = jax.jit(lambda x: x * 2 + xp.argmax(x))(x)\n"
        "print(x.dtype, y.dtype, y.tolist(), float(xp.sum(xp.ones(3) / 3)))\n"
    )
    seen = set()
    for flag in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "JAX_ENABLE_X64": flag},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert seen == {f"int64 int64 {[2**42 + 2, 2**41 + 2, 2**41 + 4]} 1.0\n"}
