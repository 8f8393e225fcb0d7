"""PartialShape: reading, relations, joining, and what it refuses."""

import copy
import operator
import pickle
import typing
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_api._dimension import Dimension, same_length
from strata_api._partial_shape import PartialShape, unified

UNKNOWN = PartialShape.dynamic()
STATIC = [shape for rank in range(4) for shape in product(range(4), repeat=rank)]


def dimensions() -> st.SearchStrategy[Dimension]:
    bounds = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted)
    return st.one_of(bounds.map(lambda b: Dimension(*b)), st.just(Dimension(1, None)))


def shapes(rank: int | None = None) -> st.SearchStrategy[PartialShape]:
    least, most = (0, 3) if rank is None else (rank, rank)
    return st.lists(dimensions(), min_size=least, max_size=most).map(PartialShape)


def outcome(join: Callable, *arguments: object) -> PartialShape | None:
    try:
        return join(*arguments)
    except ValueError:
        return None


def some(shape: PartialShape) -> list[tuple[int, ...]]:
    """Return every member of a shape, missing upper bounds being 5."""
    spans = (range(d.min_length, (5 if d.max_length < 0 else d.max_length) + 1) for d in shape)
    return list(product(*spans))


def holds(shape: PartialShape, lengths: tuple[int, ...]) -> bool:
    return shape.relaxes(PartialShape(lengths))


# Reading.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[1..8, 3, ?]", "[1..8,3,?]"),
        (" 1.. ,\t..5,-1 ", "[1..,..5,?]"),
        ("[batch:1..8, n, 3]", "[1..8,?,3]"),
        ("[]", "[]"),
        ("", "[]"),
        ("[...]", "[...]"),
        ("...", "[...]"),
    ],
)
def test_text_gives_a_shape_that_shows_and_reads_back(text: str, shown: str) -> None:
    shape = PartialShape(text)
    assert str(shape) == shape.to_string() == shown
    assert PartialShape(shown) == shape


@pytest.mark.parametrize(
    ("text", "position", "found"),
    [
        ("[1,,2]", 3, "','"),
        ("[1, ]", 3, "' '"),
        ("1,2,", 4, "the end"),
        ("[1..8, 3x]", 8, "'x'"),
        ("[1", 0, r"'\['"),
        ("[[1]]", 1, r"'\['"),
        ("[1, ...]", 6, r"'\.'"),
        ("[1, 2 .. 3]", 5, "' '"),
        ("[1, -5]", 4, "'-'"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_the_position(
    text: str, position: int, found: str
) -> None:
    with pytest.raises(ValueError, match=f"at position {position}, got {found}"):
        PartialShape(text)


def test_elements_are_whatever_a_dimension_is_made_of() -> None:
    shape = PartialShape([2, np.int64(3), "1..8", Dimension(), (3, None), [4, 5], "n"])
    assert str(shape) == "[2,3,1..8,?,3..,4..5,?]"
    assert PartialShape(range(3)) == (0, 1, 2)
    assert PartialShape(shape) is shape
    assert PartialShape(iter([1, 2])) == [1, 2]


@pytest.mark.parametrize(
    ("dims", "error", "said"),
    [
        (3, TypeError, "got 3"),
        (None, TypeError, "got None"),
        (b"1", TypeError, "got b'1'"),
        (Dimension(3), TypeError, "got <Dimension: 3>"),
        ([None], TypeError, "got None"),
        ([True], TypeError, "got True"),
        ([1.5], TypeError, r"got 1\.5"),
        ([(1, 2, 3)], TypeError, "two bounds"),
        ([()], TypeError, "two bounds"),
        ([(5, 2)], ValueError, "lower bound 5 is above the upper bound 2"),
        ([-5], ValueError, "got -5"),
        ([2**63], ValueError, "at most"),
        ("[5..2]", ValueError, r"'\[5\.\.2\]': the lower bound 5"),
        (["1,2"], ValueError, "at position 1, got ','"),
    ],
)
def test_what_is_no_shape_is_refused(dims: object, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        PartialShape(dims)


# What it is.


def test_a_shape_tells_what_it_knows() -> None:
    shape = PartialShape("[n:1..8, 3, 2..]")
    assert shape.rank == len(shape) == 3
    assert list(shape) == [Dimension(1, 8), 3, Dimension(2, None)]
    assert [type(e) for e in shape.extents] == [Dimension, int, Dimension]
    assert shape.get_min_shape() == (1, 3, 2)
    assert shape.get_max_shape() == (8, 3, 2**63 - 1)
    assert shape.is_dynamic
    assert repr(shape) == "<PartialShape: [n:1..8,3,2..]>"
    assert PartialShape([1, 2]).is_static
    assert PartialShape([1, 2]).get_shape() == PartialShape([1, 2]).to_shape() == (1, 2)
    assert PartialShape([1, 2]).all_non_negative


def test_positions_and_slices_are_those_of_a_tuple() -> None:
    shape = PartialShape("[1..8, 3, ?]")
    assert shape[0] is shape[-3] is shape.get_dimension(0)
    assert shape[np.int64(1)] == 3
    assert shape[::-1] == [Dimension(), 3, Dimension(1, 8)]
    for position in (3, -4):
        with pytest.raises(
            IndexError, match=rf"position {position} is out of range for \[1\.\.8,3"
        ):
            shape[position]
    for key in ("a", 1.0, None):
        with pytest.raises(TypeError):
            shape[key]
    with pytest.raises(TypeError):
        shape[0] = 3


def test_an_unknown_rank_is_told_and_refused_where_it_is_needed() -> None:
    assert UNKNOWN.rank == Dimension()
    assert UNKNOWN.is_dynamic
    assert not UNKNOWN.is_static
    assert repr(UNKNOWN) == "<PartialShape: [...]>"
    assert UNKNOWN.get_min_shape() == UNKNOWN.get_max_shape() == ()
    for needs_rank in (len, list, lambda s: s[:1], lambda s: s.extents):
        with pytest.raises(ValueError, match="known rank"):
            needs_rank(UNKNOWN)
    with pytest.raises(IndexError, match="the rank is unknown"):
        UNKNOWN[0]
    for shape in (UNKNOWN, PartialShape([1, "?"])):
        with pytest.raises(ValueError, match="known lengths"):
            shape.get_shape()


def test_dynamic_makes_unknown_dimensions_of_different_lengths() -> None:
    assert str(PartialShape.dynamic(2)) == "[?,?]"
    assert str(PartialShape.dynamic(rank=Dimension(2))) == "[?,?]"
    first, second = PartialShape.dynamic(2)
    assert not same_length(first, second)
    for rank in (None, -1, Dimension(1, 3)):
        assert PartialShape.dynamic(rank) == UNKNOWN
    with pytest.raises(ValueError, match="got -2"):
        PartialShape.dynamic(-2)


@given(shapes())
def test_a_shape_equals_and_hashes_as_its_tuple(shape: PartialShape) -> None:
    assert shape == tuple(shape)
    assert shape == list(shape)
    assert hash(shape) == hash(tuple(shape))
    assert shape == PartialShape(str(shape))
    assert shape != UNKNOWN
    assert shape != (*shape, 1)
    assert shape != str(shape)
    assert shape is not None


def test_copies_and_pickles_are_equal() -> None:
    for shape in (UNKNOWN, PartialShape("[n:1..8, 3]")):
        assert copy.copy(shape) is copy.deepcopy(shape) is shape
        assert repr(pickle.loads(pickle.dumps(shape))) == repr(shape)
    assert PartialShape([1, 2]) == (1, 2)
    assert {PartialShape([1, 2]): "a"}[(1, 2)] == "a"


def test_annotations_resolve() -> None:
    assert typing.get_type_hints(PartialShape.merge)["return"] is PartialShape


# Names.


def test_one_name_in_two_places_is_one_length() -> None:
    first, three, second = PartialShape("[n:1..8, 3, n:4..]")
    assert first == second == Dimension(4, 8)
    assert same_length(first, second)
    assert three == 3
    assert PartialShape(["n", "n:3"]) == (3, 3)
    assert unified(()) == ()


def test_a_name_that_stands_for_two_lengths_is_reported() -> None:
    with pytest.raises(ValueError, match=r"'n' stands for 1\.\.4 and for 5\.\.8"):
        PartialShape("[n:1..4, 3, n:5..8]")
    with pytest.raises(ValueError, match="'n' stands for 3 and for 4"):
        PartialShape.merge(PartialShape("[n, n]"), PartialShape([3, 4]))


def test_merging_a_named_shape_narrows_the_name_everywhere() -> None:
    assert PartialShape.merge(PartialShape("[n, n]"), PartialShape([3, -1])) == (3, 3)


def test_slices_and_broadcasts_keep_the_label() -> None:
    shape = PartialShape("[n, 3, m]")
    assert repr(shape[::2]) == "<PartialShape: [n:?,m:?]>"
    both = PartialShape.broadcast_merge(shape, PartialShape([1, 1]))
    assert same_length(both[0], shape[0])
    assert same_length(both[2], shape[2])


# Relations.


@given(shapes(), shapes(), shapes())
def test_relaxes_is_a_partial_order_that_refines_mirrors(
    a: PartialShape, b: PartialShape, c: PartialShape
) -> None:
    assert a.relaxes(b) == b.refines(a)
    assert (a.relaxes(b) and b.relaxes(a)) == (a == b)
    assert not (a.relaxes(b) and b.relaxes(c)) or a.relaxes(c)
    assert UNKNOWN.relaxes(a)
    assert not a.relaxes(UNKNOWN)
    assert UNKNOWN.relaxes(UNKNOWN)


@given(shapes(2), shapes(2))
def test_compatible_shapes_have_a_member_in_common(a: PartialShape, b: PartialShape) -> None:
    assert a.compatible(b) == b.compatible(a) == bool(set(some(a)) & set(some(b)))
    assert a.compatible(UNKNOWN)
    assert UNKNOWN.compatible(a)
    assert not a.compatible(PartialShape([1]))


def test_scheme_is_that_of_every_dimension() -> None:
    assert PartialShape("[1..5, 3]").same_scheme(PartialShape("[?, 3]"))
    assert not PartialShape("[1..5, 3]").same_scheme(PartialShape("[?, ?]"))
    assert not PartialShape("[1]").same_scheme(PartialShape("[1, 1]"))
    assert UNKNOWN.same_scheme(PartialShape("[...]"))
    assert not UNKNOWN.same_scheme(PartialShape("[]"))


@pytest.mark.parametrize("name", ["compatible", "relaxes", "refines", "same_scheme"])
def test_relations_are_between_shapes(name: str) -> None:
    with pytest.raises(TypeError, match=r"expected a PartialShape, got \[1, 2\]"):
        getattr(PartialShape([1, 2]), name)([1, 2])


# Joining.


@given(shapes(), shapes(), shapes())
def test_merge_is_commutative_associative_and_below_both(
    a: PartialShape, b: PartialShape, c: PartialShape
) -> None:
    both = outcome(PartialShape.merge, a, b)
    assert both == outcome(PartialShape.merge, b, a)
    assert (both is not None) == a.compatible(b)
    if both is not None:
        assert both.refines(a)
        assert both.refines(b)
        right = outcome(PartialShape.merge, b, c)
        left = outcome(PartialShape.merge, both, c)
        assert left == (None if right is None else outcome(PartialShape.merge, a, right))
    assert PartialShape.merge(UNKNOWN, a) is PartialShape.merge(a, UNKNOWN) is a


def test_merge_names_the_shapes_and_the_axis() -> None:
    with pytest.raises(ValueError, match=r"\[1,2\.\.3\] and \[\?,4\] .* at axis 1"):
        PartialShape.merge(PartialShape("[1, 2..3]"), PartialShape("[?, 4]"))
    with pytest.raises(ValueError, match="differ in rank, 1 and 2"):
        PartialShape.merge(PartialShape([1]), PartialShape([1, 1]))


def test_merge_rank_gives_an_unknown_rank_and_checks_a_known_one() -> None:
    shape = PartialShape([1, 2])
    assert shape.merge_rank(2) is shape.merge_rank(-1) is shape.merge_rank(Dimension(5, 9)) is shape
    assert UNKNOWN.merge_rank(2) == PartialShape.dynamic(2)
    assert UNKNOWN.merge_rank(Dimension(1, 2)) is UNKNOWN
    with pytest.raises(ValueError, match=r"\[1,2\] has rank 2, not 3"):
        shape.merge_rank(3)


def test_static_shapes_broadcast_as_numpys() -> None:
    for a, b in product(STATIC, STATIC):
        try:
            expected = np.broadcast_shapes(a, b)
        except ValueError:
            expected = None
        ours = outcome(PartialShape.broadcast_merge, PartialShape(a), PartialShape(b))
        assert ours == expected, (a, b)


@given(shapes(), shapes())
def test_a_broadcast_is_the_smallest_shape_that_holds_those_of_the_members(
    a: PartialShape, b: PartialShape
) -> None:
    ours = outcome(PartialShape.broadcast_merge, a, b)
    assert ours == outcome(PartialShape.broadcast_merge, b, a)
    members = set()
    for m, n in product(some(a), some(b)):
        try:
            members.add(np.broadcast_shapes(m, n))
        except ValueError:
            continue
    assert (ours is not None) == bool(members)
    if ours is not None:
        assert all(holds(ours, member) for member in members)
        assert ours.get_min_shape() == tuple(map(min, zip(*members, strict=True)))
        bounded = tuple(5 if d.max_length < 0 else d.max_length for d in ours)
        assert bounded == tuple(map(max, zip(*members, strict=True)))


def test_a_broadcast_of_an_unknown_rank_has_one() -> None:
    for rule in ("numpy", "pdpd"):
        assert PartialShape.broadcast_merge(UNKNOWN, PartialShape([2]), rule) == UNKNOWN
        assert PartialShape.broadcast_merge(PartialShape([2]), UNKNOWN, rule) == UNKNOWN


def test_the_pdpd_rule_lays_the_second_over_the_first_from_an_axis() -> None:
    under, over = PartialShape([2, 3, 4, 5]), PartialShape([3, "1..4"])
    lay = PartialShape.broadcast_merge
    assert lay(under, over, "pdpd", 1) == under
    assert lay(under, PartialShape([4, 5]), "pdpd") == under
    assert lay(PartialShape("[2, ?, 4]"), PartialShape([3]), rule="pdpd", axis=1) == (2, 3, 4)
    for axis in (0, 3, 4, -2):
        with pytest.raises(ValueError, match=r"\[3,1\.\.4\]"):
            lay(under, over, "pdpd", axis)
    with pytest.raises(ValueError, match="3 over 1"):
        lay(PartialShape([1]), PartialShape([3]), "pdpd")
    with pytest.raises(ValueError, match="from axis -1"):
        lay(PartialShape([1]), PartialShape([1, 1]), "pdpd")


def test_the_none_rule_leaves_the_first_and_another_is_refused() -> None:
    first = PartialShape([2])
    assert PartialShape.broadcast_merge(first, PartialShape([3]), "none") is first
    with pytest.raises(ValueError, match="got 'onnx'"):
        PartialShape.broadcast_merge(first, first, "onnx")
    with pytest.raises(TypeError, match=r"got \[3\]"):
        PartialShape.broadcast_merge(first, [3])


def test_a_broadcast_that_fails_names_both_shapes() -> None:
    with pytest.raises(
        ValueError, match=r"\[2\.\.4,1\] and \[5,3\] do not broadcast: 2\.\.4 with 5"
    ):
        PartialShape.broadcast_merge(PartialShape("[2..4, 1]"), PartialShape([5, 3]))


@given(shapes(2), shapes(2))
def test_a_sum_holds_the_sums_of_the_dimensions(a: PartialShape, b: PartialShape) -> None:
    assert list(a + b) == [x + y for x, y in zip(a, b, strict=True)]
    assert a + UNKNOWN == UNKNOWN + a == UNKNOWN


def test_a_sum_of_other_ranks_or_kinds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[1\] \+ \[1,2\]: the ranks differ"):
        PartialShape([1]) + PartialShape([1, 2])
    with pytest.raises(TypeError):
        operator.add(PartialShape([1]), (1,))
