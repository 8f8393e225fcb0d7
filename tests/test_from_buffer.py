"""Arrays over flat buffers through descriptors: the laws of layouts, on both backends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strata_api as sx
from strata_api import MemoryDescriptor, views

TAGS = [
    "ab",
    "ba",
    "Ab4a",
    "aB4b",
    "AB2a2b",
    "BA2b4a",
    "AB4b2a2b",
    "abc",
    "cab",
    "aBc2b",
    "ABc4a2b",
]
TAGS += ["nchw", "nhwc", "aBcd4b", "ABcd2b4a", "OIhw4i4o"]


def packed(layout, values):
    """Return a buffer with the values where the descriptor's own mapping says."""
    buffer = np.zeros(layout.offset + layout.get_size() // layout.dtype.itemsize, layout.dtype)
    for index in np.ndindex(*values.shape):
        buffer[layout.offset_of(index)] = values[index]
    return buffer


@st.composite
def layouts(draw):
    tag = draw(st.sampled_from(TAGS))
    rank = (
        4 if tag in ("nchw", "nhwc", "OIhw4i4o") else len({c for c in tag.lower() if c.isalpha()})
    )
    dims = tuple(draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank)))
    return MemoryDescriptor(dims, np.float32, tag)


def numbers(dims):
    return np.arange(1, 1 + int(np.prod(dims)), dtype=np.float32).reshape(dims)


@settings(max_examples=150, deadline=None)
@given(layouts(), st.data())
def test_reads_writes_and_windows(layout, data):
    values = numbers(layout.dims)
    buffer = packed(layout, values)
    x = views.from_buffer(buffer, layout)
    assert np.array_equal(np.asarray(x), values)
    assert views.from_buffer(sx.asarray(buffer), x.descriptor).shape == x.shape
    assert np.array_equal(np.asarray(views.from_buffer(buffer, x.descriptor)), values)
    key = tuple(
        [
            slice(data.draw(st.integers(0, n - 1)), None, data.draw(st.sampled_from([1, 2, -1])))
            for n in layout.dims
        ]
    )
    kind = data.draw(st.sampled_from(["basic", "mask", "picks", "update", "view", "all"]))
    mask = values % 3 == 0
    before = buffer.copy()
    if kind == "basic":
        x[key] = -1
        values[key] = -1
    elif kind == "mask":
        x[sx.asarray(mask)] = -1
        values[mask] = -1
    elif kind == "picks":
        x[sx.asarray([0, -1])] = -1
        values[[0, -1]] = -1
    elif kind == "update":
        x *= 2
        values *= 2
    elif kind == "view":
        y = x[key].T if x.ndim == 2 else x[key]
        y += 1
        values[key] += 1
    else:
        x[...] = x[(..., slice(None, None, -1))]
        values[...] = values[..., ::-1].copy()
    assert np.array_equal(np.asarray(x), values)
    assert np.array_equal(buffer, packed(layout, values))
    assert before.size == buffer.size


@settings(max_examples=100, deadline=None)
@given(layouts(), st.data())
def test_descriptors_of_windows_and_permutations(layout, data):
    values = numbers(layout.dims)
    buffer = packed(layout, values)
    offsets = [data.draw(st.integers(0, n - 1)) for n in layout.dims]
    dims = [data.draw(st.integers(1, n - o)) for n, o in zip(layout.dims, offsets, strict=True)]
    window = layout.submemory(dims, offsets, allow_empty=True)
    if window:
        key = tuple([slice(o, o + n) for n, o in zip(dims, offsets, strict=True)])
        assert np.array_equal(np.asarray(views.from_buffer(buffer, window)), values[key])
    perm = data.draw(st.permutations(range(layout.ndim)))
    moved = views.from_buffer(buffer, layout.permute_axes(perm))
    assert np.array_equal(np.asarray(moved), values.transpose(np.argsort(perm)))
    joined = layout.reshape((int(np.prod(layout.dims)),), allow_empty=True)
    if joined:
        assert np.array_equal(np.asarray(views.from_buffer(buffer, joined)), values.reshape(-1))


@settings(max_examples=60, deadline=None)
@given(layouts())
def test_reorder_zeros_the_padding_and_converts(layout):
    values = numbers(layout.dims)
    x = sx.reorder(sx.asarray(values.astype(np.int16)), layout)
    assert x.dtype == sx.float32
    assert np.array_equal(np.asarray(x), values)
    assert np.array_equal(np.asarray(x._storage.buffer), packed(layout, values))
    y = sx.asarray(values).to_layout(layout.tag)
    assert np.array_equal(np.asarray(y), values)
    assert y.descriptor == x.descriptor


@pytest.mark.parametrize(
    ("dims", "strides", "length"),
    [((3, 4), (5, 1), 15), ((3, 3), (7, 2), 21), ((2, 3), (1, 2), 6), ((2, 2, 2), (9, 4, 2), 18)],
)
def test_strides_with_gaps(dims, strides, length):
    layout = MemoryDescriptor(dims, np.float32, strides=strides)
    buffer = np.arange(length, dtype=np.float32)
    want = np.lib.stride_tricks.as_strided(buffer, dims, [4 * s for s in strides])
    x = views.from_buffer(buffer, layout)
    assert np.array_equal(np.asarray(x), want)
    assert np.shares_memory(np.asarray(x), buffer)
    assert x.descriptor == layout


def test_a_window_that_ends_with_the_buffer_begins_its_rows_early():
    buffer = np.arange(20, dtype=np.float32)
    window = MemoryDescriptor((4, 5), np.float32).submemory((2, 3), (2, 2))
    x = views.from_buffer(buffer, window)
    assert np.array_equal(np.asarray(x), buffer.reshape(4, 5)[2:, 2:])
    assert x.descriptor == window


def test_broadcast_strides_are_read_only():
    layout = MemoryDescriptor((3, 4), np.float32, strides=(0, 1))
    x = views.from_buffer(np.arange(4, dtype=np.float32), layout)
    assert np.array_equal(np.asarray(x), np.tile(np.arange(4), (3, 1)))
    with pytest.raises(ValueError, match="read-only"):
        x[0, 0] = 1
    with pytest.raises(ValueError, match="a place for each"):
        sx.reorder(x, layout)


def test_bad_input():
    layout = MemoryDescriptor((3, 4), np.float32, "aB4b")
    flat = np.zeros(12, np.float32)
    for buffer, error in [
        (flat[:11], ValueError),
        (flat.astype(np.float64), TypeError),
        (flat.reshape(3, 4), ValueError),
        ([0.0] * 12, TypeError),
    ]:
        with pytest.raises(error, match="from_buffer"):
            views.from_buffer(buffer, layout)
    with pytest.raises(TypeError, match="MemoryDescriptor"):
        views.from_buffer(flat, "ab")
    with pytest.raises(ValueError, match="with dims"):
        views.from_buffer(flat, MemoryDescriptor())
    with pytest.raises(ValueError, match="needs a layout"):
        views.from_buffer(flat, MemoryDescriptor((3, 4), np.float32, "any"))
    with pytest.raises(ValueError, match="known"):
        views.from_buffer(flat, MemoryDescriptor((None, 4), np.float32))
    with pytest.raises(ValueError, match="whole"):
        views.from_buffer(flat, MemoryDescriptor((2, 4), np.float32, strides=(7, 1)))
    with pytest.raises(ValueError, match="dims"):
        sx.reorder(sx.asarray(flat), layout)
    with pytest.raises(ValueError, match="axes"):
        sx.asarray(flat).to_layout("abc")
    with pytest.raises(ValueError, match="0 or more"):
        _ = sx.asarray(flat)[::-1].descriptor


def test_export_copies_a_blocked_view_only_if_it_may():
    x = sx.asarray(numbers((3, 4))).to_layout("Ab2a")
    with pytest.raises(ValueError, match="copy=False"):
        x.__array__(copy=False)
    with pytest.raises(BufferError, match="copy=False"):
        x.__dlpack__(copy=False)
    assert np.array_equal(np.from_dlpack(x), numbers((3, 4)))


def test_dlpack_carries_strides_both_ways():
    base = numbers((4, 6))
    x = sx.asarray(base)[1:, ::2].T
    there = np.from_dlpack(x)
    assert there.strides == base[1:, ::2].T.strides
    assert np.shares_memory(there, base)

    class Foreign:
        def __dlpack__(self, **options):
            return base[1:, ::2].__dlpack__(**options)

        def __dlpack_device__(self):
            return base.__dlpack_device__()

    taken = sx.from_dlpack(Foreign())
    assert np.shares_memory(np.asarray(taken), base)
    assert np.asarray(taken).strides == base[1:, ::2].strides


def test_descriptors_of_arrays_without_data():
    known = sx.zeros((2, 3), device="abstract")
    assert known.descriptor == MemoryDescriptor((2, 3), np.float64)
    assert sx.zeros(()).descriptor == MemoryDescriptor()


@pytest.mark.parametrize("tag", ["ba", "aB4b", "AB2b2a2b"])
def test_on_jax(tag):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    values = numbers((3, 5))
    layout = MemoryDescriptor((3, 5), np.float32, tag)
    host = packed(layout, values)
    x = views.from_buffer(jnp.asarray(host), layout)
    assert np.array_equal(np.asarray(x), values)
    places = [x.descriptor.offset_of(index) for index in np.ndindex(3, 5)]
    assert places == [layout.offset_of(index) for index in np.ndindex(3, 5)]
    x[1:, ::2] = -1
    x += 1
    values[1:, ::2] = -1
    values += 1
    assert np.array_equal(np.asarray(x), values)
    made = sx.reorder(x, layout)
    assert np.array_equal(np.asarray(made._storage.buffer), packed(layout, values))

    def loss(buffer):
        part = views.from_buffer(buffer, layout)[1:]
        return (part * part).__jax_array__().sum()

    buffer = jnp.asarray(host)
    want = 2 * packed(layout, np.where(np.arange(3)[:, None] >= 1, numbers((3, 5)), 0))
    assert np.array_equal(jax.jit(jax.grad(loss))(buffer), want)
    many = jax.vmap(lambda b: views.from_buffer(b, layout).__jax_array__())(
        jnp.stack([buffer, 2 * buffer])
    )
    assert np.array_equal(many, np.stack([numbers((3, 5)), 2 * numbers((3, 5))]))
