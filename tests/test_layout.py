"""Memory descriptors: the frozen answers of the real library, the laws, bad input, and drawings."""

import copy
import json
import pickle
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from strata_api._dimension import Dimension
from strata_api._format_tag import parse_tag, written
from strata_api._layout import MemoryDescriptor, element_strides, reshaped_strides

DATA = Path(__file__).parent / "data"
FILES = sorted(path.name for path in DATA.glob("dn_*.jsonl"))
FAULTS = 33
REFUSALS = (TypeError, ValueError)

DTYPES: dict[str, Any] = {
    "f16": "float16",
    "bf16": ml_dtypes.bfloat16,
    "f32": "float32",
    "f64": "float64",
    "s32": "int32",
    "s64": "int64",
    "s8": "int8",
    "u8": "uint8",
    "f8_e5m2": ml_dtypes.float8_e5m2,
    "f8_e4m3": ml_dtypes.float8_e4m3fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "f4_e2m1": ml_dtypes.float4_e2m1fn,
    "boolean": bool,
    "f4_e3m0": "float4_e3m0",
}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items() if name != "f4_e3m0"}


# The frozen answers.


def lines(file: str) -> Iterator[dict[str, Any]]:
    with (DATA / file).open() as opened:
        for line in opened:
            yield json.loads(line)


def unfrozen(values: list[Any]) -> list[Any]:
    return [None if value == "R" else value for value in values]


def frozen(values: tuple[Any, ...]) -> list[Any]:
    return [value if type(value) is int else "R" for value in values]


def built(base: dict[str, Any]) -> MemoryDescriptor:
    strides = base.get("strides")
    made = MemoryDescriptor(
        unfrozen(base["dims"]),
        DTYPES[base["dt"]],
        base.get("tag", base.get("stag")),
        strides=None if strides is None else unfrozen(strides),
    )
    for name, *arguments in base.get("steps", ()):
        made = STEPS[name](made, *arguments)
    return made


STEPS = {
    "sub": MemoryDescriptor.submemory,
    "reshape": MemoryDescriptor.reshape,
    "permute": MemoryDescriptor.permute_axes,
}


def recorded(made: MemoryDescriptor) -> dict[str, Any]:
    size = made.get_size()
    record = {
        "kind": made.format_kind,
        "dims": frozen(made.dims),
        "dt": "undef" if made.dtype is None else NAMES[made.dtype],
        "pdims": frozen(made.padded_dims),
        "poffs": list(made.padded_offsets),
        "off0": made.offset,
        "size": "R" if size is None else size,
    }
    if made.format_kind == "blocked":
        record |= {
            "strides": frozen(made.strides),
            "blks": list(made.inner_blocks),
            "idxs": list(made.inner_axes),
        }
    return record


def position(made: MemoryDescriptor, index: tuple[int, ...]) -> int:
    """Return the offset of a position within the padded dims, from the fields alone."""
    rest, offset, place = list(index), made.offset, 1
    for block, axis in zip(reversed(made.inner_blocks), reversed(made.inner_axes), strict=True):
        offset += rest[axis] % block * place
        rest[axis] //= block
        place *= block
    return offset + sum(i * stride for i, stride in zip(rest, made.strides, strict=True))


def packed(made: MemoryDescriptor, length: int) -> list[int | None]:
    """Return the buffer after 1, 2, ... were written in row-major order, and zeros as padding."""
    buffer: list[int | None] = [None] * length
    for index in product(*map(range, made.padded_dims)):
        buffer[position(made, index)] = 0
    for value, index in enumerate(indices(made), 1):
        buffer[made.offset_of(index)] = value
    return buffer


def indices(made: MemoryDescriptor) -> Iterator[tuple[int, ...]]:
    return product(*map(range, made.dims))


def offsets(made: MemoryDescriptor) -> list[int]:
    return [made.offset_of(index) for index in indices(made)]


def answer(line: dict[str, Any]) -> object:
    match line["op"]:
        case "md.alias":
            return written(parse_tag(line["in"]))
        case "md.create_ndims":
            return recorded(MemoryDescriptor([1] * line["ndims"] or line["ndims"], "float32"))
        case "md.equal":
            a, b = built(line["a"]), built(line["b"])
            assert a != b or hash(a) == hash(b)
            return a == b
        case "md.submemory":
            return recorded(built(line["base"]).submemory(line["dims"], line["offsets"]))
        case "md.reshape":
            return recorded(built(line["base"]).reshape(line["dims"]))
        case "md.permute_axes":
            return recorded(built(line["base"]).permute_axes(line["perm"]))
        case "md.offsets":
            return offsets(built(line["base"]))
        case "md.pack":
            return packed(built(line["base"]), len(line["expect"]))
        case _:
            return recorded(built(line["base"]))


def is_refused(line: dict[str, Any]) -> bool:
    expect = line["expect"]
    return "library_fault" in line or (isinstance(expect, dict) and "error" in expect)


@pytest.mark.parametrize("file", FILES)
def test_frozen_answers_are_ours(file: str) -> None:
    wrong = []
    for line in lines(file):
        try:
            ours = answer(line)
        except REFUSALS as refusal:
            right, ours = is_refused(line), refusal
        else:
            right = not is_refused(line) and ours == line["expect"]
        if not right:
            wrong.append(f"{line}\nours: {ours!r}")
    assert not wrong, f"{len(wrong)} lines differ\n" + "\n".join(wrong[:5])


def test_faults_of_the_library_are_all_refused() -> None:
    faults = [line for file in FILES for line in lines(file) if "library_fault" in line]
    for line in faults:
        with pytest.raises(ValueError, match=r"get_size|reshape"):
            answer(line)
    assert len(faults) == FAULTS


# Descriptors to test the laws on.

ORDERS = st.integers(1, 4).flatmap(lambda rank: st.permutations("abcd"[:rank]))


@st.composite
def tags(draw: st.DrawFn, max_blocks: int = 3) -> str:
    outer = draw(ORDERS)
    blocks = draw(
        st.lists(st.tuples(st.sampled_from((2, 3, 4)), st.sampled_from(outer)), max_size=max_blocks)
    )
    blocked = {name for _, name in blocks}
    letters = [name.upper() if name in blocked else name for name in outer]
    return "".join(letters) + "".join(f"{size}{name}" for size, name in blocks)


def dims_for(tag: str, low: int = 0) -> st.SearchStrategy[tuple[int, ...]]:
    rank = sum(name.isalpha() for name in tag) - sum(name.isdigit() for name in tag)
    return st.tuples(*[st.integers(low, 5)] * rank)


@st.composite
def strided(draw: st.DrawFn) -> MemoryDescriptor:
    dims = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    strides = draw(
        st.lists(st.integers(0, 13), min_size=len(dims), max_size=len(dims)).filter(
            lambda strides: MemoryDescriptor(dims, "int8", strides=strides, allow_empty=True)
        )
    )
    return MemoryDescriptor(dims, "int8", strides=strides)


@st.composite
def tagged(draw: st.DrawFn) -> MemoryDescriptor:
    tag = draw(tags())
    return MemoryDescriptor(draw(dims_for(tag)), "float32", tag)


@st.composite
def windows(draw: st.DrawFn, made: MemoryDescriptor) -> tuple[list[int], list[int]]:
    starts = [draw(st.integers(0, n)) for n in made.dims]
    sizes = [
        draw(st.integers(0, n - start) | st.just(n - start))
        for n, start in zip(made.dims, starts, strict=True)
    ]
    return sizes, starts


@st.composite
def descriptors(draw: st.DrawFn) -> MemoryDescriptor:
    made = draw(tagged() | strided())
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):
            made = made.permute_axes(draw(st.permutations(range(made.ndim))))
        else:
            made = made.submemory(*draw(windows(made)), allow_empty=True) or made
    return made


# The laws.


@given(descriptors())
def test_offsets_are_those_of_the_fields(made: MemoryDescriptor) -> None:
    assert offsets(made) == [position(made, index) for index in indices(made)]


@given(descriptors())
def test_offset_is_injective_exactly_if_unique(made: MemoryDescriptor) -> None:
    assert made.is_unique == (len(set(offsets(made))) == len(offsets(made)))


@given(descriptors())
def test_offset_covers_the_span_exactly_if_exhaustive(made: MemoryDescriptor) -> None:
    assert made.required_span_size == max(offsets(made), default=-1) + 1
    assert made.is_exhaustive == (set(offsets(made)) == set(range(made.required_span_size)))


@given(descriptors())
def test_offset_is_affine_exactly_if_strided(made: MemoryDescriptor) -> None:
    steps = []
    for axis, n in enumerate(made.dims):
        along = [position(made, tuple(i * (axis == a) for a in range(made.ndim))) for i in range(n)]
        steps.append({b - a for a, b in pairwise(along)})
    assert made.is_strided == (0 in made.dims or all(len(found) < 2 for found in steps))
    strides = element_strides(made)
    if strides is not None and 0 not in made.dims:
        assert all(found <= {stride} for found, stride in zip(steps, strides, strict=True))


@given(tagged())
def test_the_buffer_of_a_tag_holds_every_element_and_its_padding(made: MemoryDescriptor) -> None:
    if 0 in made.dims:
        assert made.get_size() == 0
    else:
        found = {position(made, index) for index in product(*map(range, made.padded_dims))}
        assert found == set(range(made.get_size() // 4))


@given(st.data(), descriptors())
def test_a_window_shows_the_elements_behind_its_corner(
    data: st.DataObject, made: MemoryDescriptor
) -> None:
    sizes, corner = data.draw(windows(made))
    window = made.submemory(sizes, corner, allow_empty=True)
    if not window:
        blocks = set(made.inner_axes)
        assert any(corner[axis] or sizes[axis] != made.dims[axis] for axis in blocks)
        return
    assert window.dims == tuple(sizes)
    for index in indices(window):
        behind = [i + start for i, start in zip(index, corner, strict=True)]
        assert window.offset_of(index) == made.offset_of(behind)


@given(st.data(), descriptors())
def test_permuting_moves_the_indices_along(data: st.DataObject, made: MemoryDescriptor) -> None:
    perm = data.draw(st.permutations(range(made.ndim)))
    moved = made.permute_axes(perm)
    for index in indices(made):
        assert moved.offset_of([index[perm.index(axis)] for axis in range(made.ndim)]) == (
            made.offset_of(index)
        )
    assert moved.permute_axes([perm.index(axis) for axis in range(made.ndim)]) == made


@given(st.data(), descriptors())
def test_reshaping_keeps_the_elements_in_row_major_order(
    data: st.DataObject, made: MemoryDescriptor
) -> None:
    dims = data.draw(st.sampled_from(factorings(prod(made.dims), 3)))
    reshaped = made.reshape(dims, allow_empty=True)
    if reshaped:
        assert (reshaped.dims, reshaped.dtype) == (dims, made.dtype)
        assert offsets(reshaped) == offsets(made)


@given(st.data(), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_reshape_of_a_row_major_descriptor_always_works(
    data: st.DataObject, dims: list[int]
) -> None:
    new = data.draw(st.sampled_from(factorings(prod(dims), 3)))
    assert MemoryDescriptor(dims, "int8").reshape(new) == MemoryDescriptor(new, "int8")


@given(st.data(), strided())
def test_reshape_of_strides_is_the_rule_of_views(
    data: st.DataObject, made: MemoryDescriptor
) -> None:
    if 0 in made.dims or any(stride == 0 or n == 1 for n, stride in axes(made)):
        return
    new = data.draw(st.sampled_from(factorings(prod(made.dims), 3)))
    wanted = reshaped_strides(made.dims, made.strides, new)
    reshaped = made.reshape(new, allow_empty=True)
    assert bool(reshaped) == (wanted is not None)
    assert wanted is None or all(
        n == 1 or stride == want for (n, stride), want in zip(axes(reshaped), wanted, strict=True)
    )


def axes(made: MemoryDescriptor) -> list[tuple[int, int]]:
    return list(zip(made.dims, made.strides, strict=True))


@given(descriptors(), descriptors())
def test_equal_descriptors_place_elements_alike(a: MemoryDescriptor, b: MemoryDescriptor) -> None:
    if a == b:
        assert hash(a) == hash(b)
        assert offsets(a) == offsets(b)
        assert a.required_span_size == b.required_span_size
        assert size_if_any(a) == size_if_any(b)
    assert a == copy.deepcopy(a) == pickle.loads(pickle.dumps(a))
    assert hash(a) == hash(copy.copy(a))


def size_if_any(made: MemoryDescriptor) -> int | None:
    try:
        return made.get_size()
    except ValueError:
        return None


@given(descriptors())
def test_the_tag_makes_the_same_descriptor(made: MemoryDescriptor) -> None:
    if made.tag is None or made.offset:
        return
    assert MemoryDescriptor(made.dims, made.dtype, made.tag) == made


@given(tagged())
def test_a_descriptor_by_tag_has_a_tag(made: MemoryDescriptor) -> None:
    assert made.tag is not None


@given(st.data(), tags())
def test_bind_gives_what_the_known_dims_give(data: st.DataObject, tag: str) -> None:
    dims = data.draw(dims_for(tag))
    hidden = data.draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims)))
    unknown = data.draw(st.sampled_from((None, Dimension(0, 5))))
    seen = [unknown if hide else n for n, hide in zip(dims, hidden, strict=True)]
    known = MemoryDescriptor(dims, "float32", tag)
    open_ = MemoryDescriptor(seen, "float32", tag)
    assert open_.bind(dims) == known
    assert (open_.get_size() is None) == (any(hidden) and 0 not in seen)
    for stride, told in zip(known.strides, open_.strides, strict=True):
        assert told in (None, stride)


# The rule of views, against NumPy.


def factorings(size: int, max_rank: int) -> list[tuple[int, ...]]:
    """Return every shape of this size up to a rank."""
    if size == 0:
        return [
            shape
            for rank in range(1, max_rank + 1)
            for shape in product((0, 1, 3), repeat=rank)
            if 0 in shape
        ]
    divisors = [n for n in range(1, size + 1) if size % n == 0]
    return [
        shape
        for rank in range(1, max_rank + 1)
        for shape in product(divisors, repeat=rank)
        if prod(shape) == size
    ]


BUFFER = np.zeros(4096, dtype=np.int8)


def numpys_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]
) -> tuple[int, ...] | None:
    view = as_strided(BUFFER[2048:], shape, strides)
    try:
        return view.reshape(new, copy=False).strides
    except ValueError:
        return None


def check_against_numpy(
    shape: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]
) -> bool:
    ours, numpys = reshaped_strides(shape, strides, new), numpys_strides(shape, strides, new)
    assert (ours is None) == (numpys is None), (shape, strides, new)
    if ours is not None and numpys is not None and 0 not in shape:
        told = [stride for stride, n in zip(ours, new, strict=True) if n != 1]
        assert told == [stride for stride, n in zip(numpys, new, strict=True) if n != 1]
    return ours is not None


def test_reshape_gives_a_view_exactly_where_numpy_does_for_small_shapes() -> None:
    views = copies = 0
    for rank, extents, steps in (
        (1, range(13), range(-3, 4)),
        (2, (0, 1, 2, 3, 4, 6), (-12, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 12)),
        (3, (0, 1, 2, 3), (-6, -3, -2, -1, 0, 1, 2, 4, 6)),
    ):
        for shape in product(extents, repeat=rank):
            targets = factorings(prod(shape), 3)
            for strides in product(steps, repeat=rank):
                for new in targets[:: 1 + len(targets) // 12]:
                    viewed = check_against_numpy(shape, strides, new)
                    views, copies = views + viewed, copies + (not viewed)
    assert views > 10_000 < copies


@given(
    st.data(),
    st.lists(st.tuples(st.integers(1, 4), st.integers(-2, 2)), max_size=5),
    st.sampled_from((-3, -1, 0, 1, 2)),
)
def test_reshape_gives_a_view_exactly_where_numpy_does_for_chains(
    data: st.DataObject, links: list[tuple[int, int]], unit: int
) -> None:
    shape, strides, stride = [], [], unit
    for n, jump in links:  # mostly chained, from the right
        shape.insert(0, n)
        strides.insert(0, stride)
        stride = stride * n + (jump if abs(jump) == 2 else 0)
    new = data.draw(st.sampled_from([*factorings(prod(shape), 4)]))
    check_against_numpy(tuple(shape), tuple(strides), new)


def test_reshape_to_another_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="differ in size"):
        reshaped_strides((2, 3), (3, 1), (5,))


# The ways to make one.


def test_the_empty_descriptor() -> None:
    empty = MemoryDescriptor()
    assert not empty
    assert empty.is_zero()
    assert (empty.dims, empty.dtype, empty.data_type(), empty.ndim) == ((), None, None, 0)
    assert (empty.get_size(), empty.required_span_size) == (0, 0)
    assert (empty.format_kind, empty.tag, repr(empty)) == ("undef", None, "MemoryDescriptor()")
    assert (empty.is_unique, empty.is_exhaustive) == (True, True)
    assert empty == MemoryDescriptor((2, 3), "no dtype", "undef") == MemoryDescriptor(())
    assert empty != MemoryDescriptor((0,), "float32")


def test_a_descriptor_by_dims_alone_is_row_major() -> None:
    made = MemoryDescriptor((2, 3, 4), "float32")
    assert made.strides == (12, 4, 1)
    assert made == MemoryDescriptor((2, 3, 4), "float32", "row-major")
    assert made == MemoryDescriptor((2, 3, 4), np.float32, "abc")
    assert made == MemoryDescriptor([2, 3, np.int64(4)], np.dtype("float32"), "tnc")
    assert made.data_type() is made.dtype


def test_a_column_major_descriptor() -> None:
    made = MemoryDescriptor((2, 3, 4), "float32", "column-major")
    assert made.strides == (1, 2, 6)
    assert made == MemoryDescriptor((2, 3, 4), "float32", "cba")
    assert MemoryDescriptor((2, None, 4), "int8", "column-major").bind((2, 3, 4)).strides == (
        made.strides
    )


def test_a_blocked_descriptor_pads_to_whole_blocks() -> None:
    made = MemoryDescriptor((2, 20, 3, 3), "float32", "nChw16c")
    assert made.padded_dims == (2, 32, 3, 3)
    assert made.strides == (288, 144, 48, 16)
    assert (made.inner_blocks, made.inner_axes) == ((16,), (1,))
    assert made.get_size() == 2 * 32 * 3 * 3 * 4
    assert made.offset_of((1, 17, 2, 1)) == 288 + 144 + 2 * 48 + 16 + 1
    assert made.tag == "aBcd16b"


def test_a_layout_left_open() -> None:
    made = MemoryDescriptor((2, 3), "float32", "any")
    assert (made.strides, made.get_size(), made.tag) == ((), 0, "any")
    assert made.permute_axes((1, 0)).dims == (3, 2)
    assert made.reshape((6,)).format_kind == "any"
    assert (made.is_unique, made.is_strided, made.required_span_size) == (None, None, None)
    for question in (lambda: made.offset_of((0, 0)), made.describe):
        with pytest.raises(ValueError, match="needs a layout"):
            question()


def test_four_bit_elements_take_half_a_byte() -> None:
    assert MemoryDescriptor((3, 4), ml_dtypes.int4).get_size() == 6
    assert MemoryDescriptor((5,), ml_dtypes.uint4, strides=(2,)).get_size() == 5
    assert MemoryDescriptor((5,), "float4_e2m1fn").get_size() == 3


def test_a_broadcast_descriptor_has_offsets_but_no_size() -> None:
    made = MemoryDescriptor((2, 3), "float32", strides=(0, 0))
    assert offsets(made) == [0] * 6
    assert (made.is_unique, made.is_exhaustive, made.required_span_size) == (False, True, 1)
    with pytest.raises(ValueError, match="required_span_size"):
        made.get_size()


def test_the_library_s_dims_that_are_unknown() -> None:
    made = MemoryDescriptor((None, 3, Dimension(1, 8)), "float32", "acb")
    assert made.dims == (Dimension(), 3, Dimension(1, 8))
    assert made.strides == (None, 1, 3)
    assert (made.get_size(), made.is_unique, made.is_exhaustive) == (None, None, None)
    assert (made.is_strided, made.required_span_size) == (None, None)
    assert made.bind((2, 3, 4)) == MemoryDescriptor((2, 3, 4), "float32", "acb")
    assert made.bind((2, 3, 4)).bind((2, 3, 4)) == made.bind((2, 3, 4))
    assert made == pickle.loads(pickle.dumps(made))


def test_a_padded_unknown_dim_is_whole_blocks() -> None:
    assert MemoryDescriptor((Dimension(1, 20), 2), "int8", "Ab16a").padded_dims == (
        Dimension(16, 32),
        2,
    )
    assert MemoryDescriptor((Dimension(1, 20), 2), "int8", "Ab32a").padded_dims == (32, 2)


def test_unknown_dims_that_bind_otherwise_are_not_equal() -> None:
    a, b, c = (MemoryDescriptor((2, 3, None), "int8", tag) for tag in ("abc", "bac", None))
    assert a.strides == b.strides == c.strides == (None, None, 1)
    assert a.bind((2, 3, 4)) != b.bind((2, 3, 4))
    assert a != b
    assert a == c
    assert hash(a) == hash(c)


def test_a_descriptor_by_strides_takes_what_is_an_integer() -> None:
    made = MemoryDescriptor(np.array((2, 3)), "float32", strides=np.array((4, 1)))
    assert made == MemoryDescriptor((2, 3), "float32", strides=[4, 1])
    assert made.submemory(np.array((1, 3)), (1, 0)).offset == 4
    assert made != (2, 3)


def test_descriptors_do_not_change() -> None:
    made = MemoryDescriptor((2,), "int8")
    for name in ("dims", "dtype", "strides", "offset", "other"):
        with pytest.raises(AttributeError):
            setattr(made, name, 0)


# Bad input.

f32 = "float32"


@pytest.mark.parametrize(
    ("arguments", "strides", "error", "words"),
    [
        (((2, 3), f32), (3, 2), ValueError, "do not overlap"),
        (((2, 3), f32), (-3, 1), ValueError, "do not overlap"),
        (((2, 3), f32), (1,), ValueError, "expected 2 strides"),
        (((2, 3), f32), (1.5, 1), TypeError, "a stride"),
        (((2, 3), f32), 3, TypeError, "a tuple of integers"),
        (((2, 3), f32), "ab", TypeError, "a tuple of integers"),
        (((2, 1), f32), (1, 2**70), ValueError, "below"),
        (((0, 3), f32), (2**70, 1), ValueError, "below"),
        (((2, 3), ml_dtypes.int4), (3, 1), ValueError, "even strides"),
        (((2, 3), f32, "ab"), (3, 1), ValueError, "got both"),
        (((2, 3), f32, "abc"), None, ValueError, "letters a, b"),
        (((2, 3), f32, "ac"), None, ValueError, "letters a, b"),
        (((2, 3), f32, "aab"), None, ValueError, "letters a, b, c"),
        (((2, 3), f32, "hq"), None, ValueError, "nchw"),
        (((2, 3), f32, ""), None, ValueError, "expected letters"),
        (((2, 3), f32, "16bab"), None, ValueError, "expected letters"),
        (((2, 3), f32, "ab16b"), None, ValueError, "capital"),
        (((2, 3), f32, "aB16c"), None, ValueError, "a block of one of"),
        (((2, 3), f32, "aB0b"), None, ValueError, "blocks of 1 or more"),
        (((2, 3), f32, (3, 1)), None, TypeError, "strides go by name"),
        (((2, None), f32, "any"), None, ValueError, "known extents"),
        (((2, 3), ml_dtypes.int4, "ab"), None, ValueError, "even strides"),
        (((2, 3), "no dtype"), None, TypeError, "dtype"),
        (((2, 3), None), None, TypeError, "dtype"),
        (((2, 3), bool), None, TypeError, "uint8"),
        (((-1, 3), f32), None, ValueError, "extent"),
        (((2.0, 3), f32), None, TypeError, "an extent"),
        (((True, 3), f32), None, TypeError, "an extent"),
        ((3, f32), None, TypeError, "a tuple of extents"),
        (("23", f32), None, TypeError, "a tuple of extents"),
        (((2**63,), "int8"), None, ValueError, "extent"),
        (((2**62, 2), "int8"), None, ValueError, "below"),
        (((2**61,), f32), None, ValueError, "below"),
        (((2**40, 2**40, 2**40, 0), f32, "abcd"), None, ValueError, "below"),
        (((None, 2**40, 2**40), f32, "abc"), None, ValueError, "below"),
        (((2, 3), "int8", f"aB{2**63}b"), None, ValueError, "below"),
        (((1,) * 13, f32), None, ValueError, "up to 12"),
        (((Dimension(3) & Dimension(4), 2), f32), None, ValueError, "empty Dimension"),
    ],
)
def test_what_is_no_layout_is_refused(
    arguments: tuple[Any, ...], strides: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        MemoryDescriptor(*arguments, strides=strides)
    assert MemoryDescriptor(*arguments, strides=strides, allow_empty=True).is_zero()


BLOCKED = MemoryDescriptor((4, 20, 3), f32, "aBc16b")


@pytest.mark.parametrize(
    ("method", "arguments", "error", "words"),
    [
        ("submemory", ((4, 20), (0, 0)), ValueError, "expected 3"),
        ("submemory", ((4, 20, 3), (1, 0, 0)), ValueError, "leaves the dims"),
        ("submemory", ((4, 20, 3), (-1, 0, 0)), ValueError, "extent"),
        ("submemory", ((4, 8, 3), (0, 8, 0)), ValueError, "blocks of 16"),
        ("submemory", ((4, 18, 3), (0, 0, 0)), ValueError, "blocks of 16"),
        ("submemory", ((4, None, 3), (0, 0, 0)), ValueError, "known extents"),
        ("submemory", ((4, "x", 3), (0, 0, 0)), TypeError, "an extent"),
        ("reshape", ((4, 4, 5, 3),), ValueError, "blocked or padded"),
        ("reshape", ((80, 3),), ValueError, "blocked or padded"),
        ("reshape", ((4, 20, 4),), ValueError, "differ in size"),
        ("reshape", ((),), ValueError, "1 to 12"),
        ("reshape", ((4, 20, 3, *(1,) * 10),), ValueError, "1 to 12"),
        ("reshape", ((4, -1, 3),), ValueError, "extent"),
        ("permute_axes", ((0, 1),), ValueError, "each of 3 axes"),
        ("permute_axes", ((0, 1, 1),), ValueError, "each of 3 axes"),
        ("permute_axes", ((0, 1, 3),), ValueError, "each of 3 axes"),
        ("permute_axes", ((0, 1, 2.0),), TypeError, "an axis"),
    ],
)
def test_what_a_descriptor_cannot_become_is_refused(
    method: str, arguments: tuple[Any, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        getattr(BLOCKED, method)(*arguments)
    assert getattr(BLOCKED, method)(*arguments, allow_empty=True) == MemoryDescriptor()


def test_strides_that_do_not_chain_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="not one axis"):
        MemoryDescriptor((2, 3), f32, "ba").reshape((6,))


def test_an_unknown_descriptor_is_bound_before_it_is_cut() -> None:
    made = MemoryDescriptor((None, 3), f32, "ab")
    for cut in (
        lambda: made.submemory((1, 1), (0, 0)),
        lambda: made.reshape((3,)),
        lambda: made.permute_axes((1, 0)),
        lambda: made.offset_of((0, 0)),
    ):
        with pytest.raises(ValueError, match=r"bind\(dims\) first"):
            cut()


def test_the_empty_descriptor_cannot_be_cut() -> None:
    empty = MemoryDescriptor()
    for cut in (
        lambda: empty.submemory((), ()),
        lambda: empty.reshape((1,)),
        lambda: empty.permute_axes(()),
        lambda: empty.offset_of(()),
        lambda: empty.describe(),
    ):
        with pytest.raises(ValueError, match=r"needs a layout|1 to 12|each of 0"):
            cut()


@pytest.mark.parametrize("dims", [(9, 3), (2, 4), (2, 3, 1), (2,), (None, 3)])
def test_bind_takes_only_dims_that_were_allowed(dims: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="bind"):
        MemoryDescriptor((Dimension(1, 8), 3), f32).bind(dims)


def test_strides_given_as_unknown_cannot_be_bound() -> None:
    with pytest.raises(ValueError, match="given as unknown"):
        MemoryDescriptor((2, 3), f32, strides=(None, 1)).bind((2, 3))
    assert MemoryDescriptor((None, 3), f32, strides=(4, 1)).bind((2, 3)).strides == (4, 1)
    with pytest.raises(ValueError, match="do not overlap"):
        MemoryDescriptor((None, 3), f32, strides=(2, 1)).bind((2, 3))


@pytest.mark.parametrize("index", [(4, 0, 0), (0, 20, 0), (0, 0, -1), (0, 0), (0, 0, 0, 0)])
def test_an_index_outside_has_no_offset(index: tuple[int, ...]) -> None:
    with pytest.raises(IndexError, match=r"outside|3 integers"):
        BLOCKED.offset_of(index)


def test_an_index_is_made_of_integers() -> None:
    with pytest.raises(TypeError, match="an index"):
        BLOCKED.offset_of((0, 1.0, 0))


# What it looks like.


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (
            MemoryDescriptor((2, 3), f32, "ba"),
            "MemoryDescriptor((2, 3), float32, 'ba', strides=(1, 2))",
        ),
        (
            MemoryDescriptor((2, 20), ml_dtypes.bfloat16, "aB16b"),
            "MemoryDescriptor((2, 20), bfloat16, 'aB16b', strides=(32, 16), padded_dims=(2, 32))",
        ),
        (
            MemoryDescriptor((2, 3), f32, strides=(9, 2)),
            "MemoryDescriptor((2, 3), float32, strides=(9, 2))",
        ),
        (
            MemoryDescriptor((2, 40), f32, "aB16b").submemory((1, 3), (1, 16)),
            "MemoryDescriptor((1, 3), float32, strides=(48, 16), offset=64, "
            "inner_blocks=(16,), inner_axes=(1,))",
        ),
        (
            MemoryDescriptor((Dimension(1, 8), 3), f32, "row-major"),
            "MemoryDescriptor((1..8, 3), float32, 'ab', strides=(?, 1))",
        ),
        (
            MemoryDescriptor((None,), f32, strides=(None,)),
            "MemoryDescriptor((?,), float32, strides=(?,))",
        ),
        (MemoryDescriptor((3,), f32, "any"), "MemoryDescriptor((3,), float32, 'any')"),
    ],
)
def test_repr_shows_the_tag_and_the_numbers(made: MemoryDescriptor, shown: str) -> None:
    assert repr(made) == shown


def test_describe_draws_the_offsets_as_text() -> None:
    assert MemoryDescriptor((2, 3), f32, "ba").describe().splitlines() == [
        "MemoryDescriptor((2, 3), float32, 'ba', strides=(1, 2))",
        "offset of each element; a goes down, b to the right",
        " 0 2 4",
        " 1 3 5",
    ]
    assert MemoryDescriptor((2, 2, 6), "int8", "aBc4b").describe().splitlines()[2:5] == [
        "a = 0",
        "  0  4  8 12 16 20",
        "  1  5  9 13 17 21",
    ]
    assert MemoryDescriptor((3,), "int8").describe().splitlines()[1:] == [
        "offset of each element; a to the right",
        " 0 1 2",
    ]


@given(descriptors())
def test_describe_draws_every_offset(made: MemoryDescriptor) -> None:
    lines_drawn = [line for line in made.describe().splitlines()[2:] if "=" not in line]
    assert [int(word) for line in lines_drawn for word in line.split()] == offsets(made)
    picture = ElementTree.fromstring(made.describe("svg"))
    middle = [text.text for text in picture if text.get("text-anchor") == "middle"]
    assert [int(word) for word in middle if word] == offsets(made)


def test_describe_draws_small_descriptors_only() -> None:
    large = MemoryDescriptor((33, 32), f32)
    with pytest.raises(ValueError, match="up to 1024"):
        large.describe()
    with pytest.raises(ValueError, match="'text' or 'svg'"):
        BLOCKED.describe("png")
    assert large._repr_svg_() is None
    assert MemoryDescriptor((None,), f32)._repr_svg_() is None
    assert MemoryDescriptor()._repr_svg_() is None
    assert BLOCKED._repr_svg_() == BLOCKED.describe("svg")
