"""Dimension: the laws of its arithmetic, its labels, and what it refuses."""

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

from strata_api._dimension import (
    MAX_LENGTH,
    Dimension,
    ceildiv,
    extent,
    maximum,
    minimum,
    same_length,
)

EMPTY = Dimension(3) & Dimension(5)
SMALL = [(lo, hi) for lo in range(5) for hi in range(lo, 5)]
UNBOUNDED = [(lo, None) for lo in range(4)]

OPERATIONS: dict[str, tuple[Callable, Callable[[int, int], int]]] = {
    "+": (operator.add, operator.add),
    "-": (operator.sub, lambda m, n: max(m - n, 0)),
    "*": (operator.mul, operator.mul),
    "//": (operator.floordiv, operator.floordiv),
    "%": (operator.mod, operator.mod),
    "ceildiv": (lambda a, b: ceildiv(Dimension(a), b), lambda m, n: -(-m // n)),
    "min": (lambda a, b: minimum(Dimension(a), b), min),
    "max": (lambda a, b: maximum(Dimension(a), b), max),
}


def lengths() -> st.SearchStrategy[int]:
    near = [0, 1, 2, 2**31, 2**62, MAX_LENGTH - 1, MAX_LENGTH]
    return st.one_of(st.integers(0, 9), st.integers(0, MAX_LENGTH), st.sampled_from(near))


@st.composite
def dimensions(draw: st.DrawFn) -> Dimension:
    lo, hi = sorted((draw(lengths()), draw(lengths())))
    return Dimension(lo, None if draw(st.booleans()) else hi)


@st.composite
def members(draw: st.DrawFn, dim: Dimension) -> int:
    lo, hi = dim.get_interval()
    top = MAX_LENGTH if hi is None else hi
    return draw(st.one_of(st.integers(lo, top), st.sampled_from([lo, top])))


def possible(bounds: tuple[int, int | None]) -> range:
    lo, hi = bounds
    return range(lo, (lo + 6 if hi is None else hi) + 1)


def results(apply: Callable, a: range, b: range, name: str) -> set[int]:
    divides = name in ("//", "%", "ceildiv")
    return {apply(m, n) for m, n in product(a, b) if n or not divides}


# Arithmetic.


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_result_is_the_smallest_interval_that_holds_every_result(name: str) -> None:
    ours, plain = OPERATIONS[name]
    for a, b in product(SMALL, SMALL):
        expected = results(plain, possible(a), possible(b), name)
        if not expected:
            with pytest.raises(ZeroDivisionError):
                ours(Dimension(*a), Dimension(*b))
        elif name == "%" and b[0] != b[1]:
            result = Dimension(ours(Dimension(*a), Dimension(*b)))
            assert all(map(result.contains, expected)), (a, b)
        else:
            result = ours(Dimension(*a), Dimension(*b))
            assert result == Dimension(min(expected), max(expected)), (a, b)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_result_of_one_length_with_itself_is_the_smallest_interval(name: str) -> None:
    ours, plain = OPERATIONS[name]
    for bounds in SMALL[1:]:
        dim = Dimension(*bounds)
        expected = {plain(m, m) for m in possible(bounds) if m or name in "+-*minmax"}
        assert ours(dim, dim) == Dimension(min(expected), max(expected)), bounds


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_result_without_bounds_holds_every_result(name: str) -> None:
    ours, plain = OPERATIONS[name]
    for a, b in product(SMALL + UNBOUNDED, SMALL + UNBOUNDED):
        expected = results(plain, possible(a), possible(b), name)
        if expected:
            result = Dimension(ours(Dimension(*a), Dimension(*b)))
            assert all(map(result.contains, expected)), (a, b)
            assert result.min_length in (min(expected), 0), (a, b)


@pytest.mark.parametrize("name", OPERATIONS)
@given(data=st.data(), a=dimensions(), b=dimensions())
def test_a_result_holds_the_result_of_all_members(
    name: str, data: st.DataObject, a: Dimension, b: Dimension
) -> None:
    ours, plain = OPERATIONS[name]
    m, n = data.draw(members(a)), data.draw(members(b))
    if name in ("//", "%", "ceildiv") and n == 0:
        return
    exact = plain(m, n)
    try:
        result = Dimension(ours(a, b))
    except ValueError:
        assert plain(a.min_length, b.min_length) > MAX_LENGTH
    else:
        assert result.contains(exact) or (exact > MAX_LENGTH and result.max_length == -1)


@given(dimensions(), st.integers(1, MAX_LENGTH))
def test_exact_division_gives_the_lengths_whose_product_is_here(a: Dimension, k: int) -> None:
    result = a / k
    lo, hi = a.get_interval()
    least = -(-lo // k)
    if hi is None:
        assert result == Dimension(least, None)
    elif least > hi // k:
        assert result.is_empty
    else:
        assert result == Dimension(least, hi // k)


def test_exact_division_of_what_cannot_be_divided_is_empty() -> None:
    assert (Dimension(7) / 2).is_empty
    assert (7 / Dimension(2)).is_empty
    assert Dimension(6, 8) / 4 == 2


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_integer_may_stand_on_either_side(name: str) -> None:
    ours, _ = OPERATIONS[name]
    dim, n = Dimension(1, 4), 3
    assert ours(dim, n) == ours(dim, Dimension(n)) == ours(dim, np.int64(n))
    assert ours(n, dim) == ours(Dimension(n), dim)


def test_an_intersection_takes_an_integer_on_either_side() -> None:
    assert Dimension(1, 4) & 3 == 3 & Dimension(1, 4) == 3
    assert (7 & Dimension(1, 4)).is_empty


@pytest.mark.parametrize("name", [*OPERATIONS, "/"])
def test_the_empty_interval_absorbs(name: str) -> None:
    ours = OPERATIONS[name][0] if name != "/" else operator.truediv
    for dim in (Dimension(2), Dimension(2, 5), Dimension(), EMPTY):
        assert ours(dim, EMPTY).is_empty
        assert ours(EMPTY, dim).is_empty
    assert (EMPTY * 0).is_empty
    assert (Dimension(0) * EMPTY).is_empty


@pytest.mark.parametrize("divide", [operator.truediv, operator.floordiv, operator.mod, ceildiv])
def test_division_by_zero_raises(divide: Callable) -> None:
    with pytest.raises(ZeroDivisionError, match=r"1\.\.5 .* 0"):
        divide(Dimension(1, 5), 0)
    with pytest.raises(ZeroDivisionError):
        divide(5, Dimension(0))


def test_a_length_past_the_largest_is_refused_and_an_upper_bound_past_it_is_none() -> None:
    with pytest.raises(ValueError, match=r"past the largest length"):
        Dimension(2**62) * 2
    with pytest.raises(ValueError, match=r"past the largest length"):
        Dimension(2**62, None) + 2**62
    assert Dimension(MAX_LENGTH - 1) + 1 == MAX_LENGTH
    assert Dimension(1, 2**62) * 2 == Dimension(2, None)
    assert Dimension(5, 2**80) == Dimension(5, None)


# Merging.


def merged(join: Callable, a: Dimension, b: Dimension) -> Dimension | None:
    try:
        return join(a, b)
    except ValueError:
        return None


@given(dimensions(), dimensions(), dimensions())
def test_merge_is_commutative_associative_and_below_both(
    a: Dimension, b: Dimension, c: Dimension
) -> None:
    both = merged(Dimension.merge, a, b)
    assert both == merged(Dimension.merge, b, a)
    assert (both is not None) == a.compatible(b)
    if both is not None:
        assert both.refines(a)
        assert both.refines(b)
        assert both == a & b
    assert (a & b) & c == a & (b & c)


def test_merge_holds_the_common_lengths() -> None:
    for a, b in product(SMALL, SMALL):
        common = set(possible(a)) & set(possible(b))
        both = merged(Dimension.merge, Dimension(*a), Dimension(*b))
        assert both == (Dimension(min(common), max(common)) if common else None)


def test_broadcast_merge_is_the_smallest_interval_of_the_broadcast_lengths() -> None:
    def broadcast(m: int, n: int) -> int | None:
        return n if m == 1 else m if n in (1, m) else None

    for a, b in product(SMALL, SMALL):
        lengths = {broadcast(m, n) for m, n in product(possible(a), possible(b))} - {None}
        both = merged(Dimension.broadcast_merge, Dimension(*a), Dimension(*b))
        assert both == (Dimension(min(lengths), max(lengths)) if lengths else None), (a, b)


def test_joins_take_integers_and_name_both_in_errors() -> None:
    assert Dimension.merge(3, Dimension(1, 5)) == Dimension.merge(3, 3) == 3
    assert Dimension.broadcast_merge(1, Dimension(1, 5)) == Dimension(1, 5)
    with pytest.raises(ValueError, match=r"n:1\.\.5 and 7"):
        Dimension.merge(Dimension("n:1..5"), 7)
    with pytest.raises(ValueError, match=r"2\.\.5 and 7 do not broadcast"):
        Dimension.broadcast_merge(Dimension(2, 5), 7)


def test_relaxes_is_a_partial_order_that_refines_mirrors() -> None:
    every = [Dimension(*bounds) for bounds in SMALL + UNBOUNDED] + [EMPTY]
    for a, b in product(every, every):
        assert a.relaxes(b) == b.refines(a)
        assert (a.relaxes(b) and b.relaxes(a)) == (a == b)
        if not (a.is_empty or b.is_empty):
            assert a.relaxes(b) == all(map(a.contains, possible(b.get_interval())))
        for c in every:
            assert not (a.relaxes(b) and b.relaxes(c)) or a.relaxes(c)


def test_relations_take_integers() -> None:
    dim = Dimension(1, 5)
    assert dim.compatible(3)
    assert dim.relaxes(3)
    assert not dim.refines(3)
    assert not dim.same_scheme(3)
    with pytest.raises(TypeError, match="expected an int or a Dimension, got '3'"):
        dim.compatible("3")


# Labels.


@pytest.mark.parametrize("text", ["batch:1..64", "1..64"])
def test_operations_that_change_nothing_keep_the_label(text: str) -> None:
    dim = Dimension(text)
    for same in (dim + 0, 0 + dim, dim - 0, dim * 1, 1 * dim, dim // 1, dim / 1, ceildiv(dim, 1)):
        assert same is dim
    assert dim % 65 is dim
    assert dim.min(64) is dim
    assert dim.max(1) is dim
    assert dim & Dimension() is dim
    assert Dimension.merge(dim, Dimension(0, 80)) is dim
    assert Dimension.broadcast_merge(dim, 1) is dim
    assert not dim.same_length(dim + 1)


def test_one_length_cancels() -> None:
    for dim in (Dimension("n"), Dimension(2, 8)):
        narrow = dim & Dimension(3, 5)
        assert narrow.same_length(dim)
        assert dim - dim == narrow - dim == 0
        assert dim // dim == dim / narrow == ceildiv(dim, narrow) == 1
        assert dim % dim == 0
        assert dim.min(dim) is dim.max(dim) is (dim & dim) is dim
        assert Dimension.broadcast_merge(dim, narrow) == Dimension(3, 5)


def test_equal_intervals_are_not_one_length_unless_known() -> None:
    a, b = Dimension(1, 8), Dimension(1, 8)
    assert a == b
    assert not same_length(a, b)
    assert same_length(Dimension("n"), Dimension("n:1..8"))
    assert not same_length(Dimension("n"), Dimension("m"))
    assert same_length(3, Dimension(3))
    assert not same_length(3, 4)
    assert a - b == Dimension(0, 7)


def test_a_given_name_outlives_an_automatic_label() -> None:
    named, bare = Dimension("n:1..8"), Dimension(1, 8)
    for both in (Dimension.merge(named, bare), Dimension.merge(bare, named), bare & named & 5):
        assert both.label == "n"
    assert Dimension.merge(named, Dimension("m:1..8")).label == "n"
    assert (named + 1).label is None
    assert bare.label is None


def test_equality_hash_and_text_ignore_the_label_and_repr_shows_it() -> None:
    named, bare = Dimension("n:1..8"), Dimension(1, 8)
    assert named == bare
    assert hash(named) == hash(bare)
    assert str(named) == named.to_string() == "1..8"
    assert repr(named) == "<Dimension: n:1..8>"
    assert repr(bare) == "<Dimension: 1..8>"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_and_pickles_are_the_same_length(protocol: int) -> None:
    for dim in (Dimension("n:1..8"), Dimension(1, 8), Dimension(3), EMPTY):
        assert copy.copy(dim) is copy.deepcopy(dim) is dim
        loaded, narrow = pickle.loads(pickle.dumps((dim, dim & Dimension(2, 5)), protocol))
        assert loaded == dim
        assert loaded.label == dim.label
        assert same_length(loaded, narrow) == same_length(dim, dim & Dimension(2, 5))
    assert same_length(pickle.loads(pickle.dumps(Dimension("n"), protocol)), Dimension("n"))


# As a Python value.


@given(dimensions())
def test_text_reads_back(dim: Dimension) -> None:
    assert Dimension(str(dim)) == dim
    assert Dimension(f"n:{dim}") == dim
    assert Dimension(str(EMPTY)) == EMPTY


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("?", (0, None)),
        ("-1", (0, None)),
        ("..", (0, None)),
        (" 7 ", (7, 7)),
        ("1..5", (1, 5)),
        ("-1..5", (0, 5)),
        ("..5", (0, 5)),
        ("5..", (5, None)),
        ("n", (0, None)),
        ("n:?", (0, None)),
        ("n:-1", (0, None)),
        ("n_2:3..4", (3, 4)),
    ],
)
def test_text_gives_an_interval(text: str, bounds: tuple[int, int | None]) -> None:
    assert Dimension(text).get_interval() == bounds


def test_a_static_dimension_is_its_int() -> None:
    three = Dimension(3)
    assert three == 3
    assert hash(three) == hash(3)
    assert three == np.int64(3)
    assert {3: "a"}[three] == "a"
    assert range(10)[three] == int(three) == len(three) == 3
    assert np.zeros(three).shape == (3,)
    assert three != 3.0
    assert three != "3"
    assert three is not None
    assert (bool(Dimension(0)), bool(three)) == (False, True)
    assert three < 4 <= Dimension(4)
    assert 5 > three >= 3


def test_extent_is_an_int_where_one_length_is_possible() -> None:
    assert type(extent(Dimension("n:3"))) is int
    assert extent(7) == 7
    dim = Dimension(1, 2)
    assert extent(dim) is dim
    assert extent(EMPTY) is EMPTY
    assert [type(f(Dimension(2), 3)) for f in (minimum, maximum, ceildiv)] == [int] * 3
    assert [f(7, 2) for f in (minimum, maximum, ceildiv)] == [2, 7, 4]
    assert [f(2, 7) for f in (minimum, maximum)] == [2, 7]


@pytest.mark.parametrize("value", [Dimension(), Dimension(1, 5), EMPTY])
def test_an_unknown_length_is_no_int_and_says_what_to_use(value: Dimension) -> None:
    for convert in (int, bool, len, operator.index, float, range):
        with pytest.raises(TypeError, match="min_length"):
            convert(value)
    with pytest.raises(ValueError, match="get_length needs a static dimension"):
        value.get_length()
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError, match="relaxes or compatible"):
            compare(value, 3)
        with pytest.raises(TypeError, match="relaxes or compatible"):
            compare(3, value)


def test_comparison_with_another_kind_raises() -> None:
    with pytest.raises(TypeError, match=r"expected an int or a Dimension, got 1\.5"):
        _ = Dimension(3) < 1.5


def test_bounds_are_told() -> None:
    assert Dimension().get_interval() == Dimension.dynamic().get_interval() == (0, None)
    assert Dimension(None, 5) == Dimension(0, 5) == Dimension(-1, 5)
    assert Dimension(2, None) == Dimension(2, -1)
    assert EMPTY.get_interval() == (1, 0)
    assert (EMPTY.is_empty, EMPTY.is_static, EMPTY.is_dynamic) == (True, False, True)
    assert (Dimension(1, 5).contains(5), Dimension(1, 5).contains(0)) == (True, False)
    assert not Dimension().contains(2**63)
    assert not Dimension().contains(-1)
    assert not EMPTY.contains(3)


def test_a_dimension_cannot_be_changed() -> None:
    dim = Dimension(1, 5)
    for name in ("is_static", "is_dynamic", "is_empty", "min_length", "max_length", "label", "new"):
        with pytest.raises(AttributeError):
            setattr(dim, name, 3)


def test_annotations_resolve() -> None:
    assert typing.get_type_hints(Dimension.merge)["a"] == int | Dimension


# Bad input.


@pytest.mark.parametrize(
    ("text", "position", "found"),
    [
        ("", 0, "the end"),
        ("1 .. 10", 1, "' '"),
        ("1.. 10", 3, "' '"),
        ("-5", 0, "'-'"),
        ("+5", 0, r"'\+'"),
        ("-15", 2, "'5'"),
        ("1..-1", 3, "'-'"),
        ("1..5x", 4, "'x'"),
        ("5x", 1, "'x'"),
        ("1.5", 1, r"'\.'"),
        ("n:", 2, "the end"),
        ("n..5", 1, r"'\.'"),
        ("n:m", 2, "'m'"),
        ("a b", 1, "' '"),
        ("5\u00a0", 1, r"'\\xa0'"),
        ("\u0665", 0, "'\u0665'"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_the_position(
    text: str, position: int, found: str
) -> None:
    with pytest.raises(ValueError, match=f"at position {position}, got {found}"):
        Dimension(text)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((5, 2), ValueError, "lower bound 5 is above the upper bound 2"),
        (("n:5..2",), ValueError, "'n:5..2': the lower bound 5 is above the upper bound 2"),
        ((-2,), ValueError, "at least 0 .* got -2"),
        ((1, -3), ValueError, "at least 0 .* got -3"),
        ((2**63,), ValueError, "at most"),
        (("9223372036854775808",), ValueError, "at most"),
        ((True,), TypeError, "a length is an integer, got True"),
        ((1, False), TypeError, "got False"),
        ((3.0,), TypeError, r"got 3\.0"),
        ((None,), TypeError, "got None"),
        ((b"3",), TypeError, "got b'3'"),
        (("1", "5"), TypeError, "got '1'"),
        (([1, 2],), TypeError, r"got \[1, 2\]"),
        ((1, 2, 3), TypeError, "got 3 arguments"),
    ],
)
def test_what_is_no_dimension_is_refused(arguments: tuple, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        Dimension(*arguments)


@pytest.mark.parametrize("name", ["+", "-", "*", "//", "%"])
def test_an_operand_of_another_kind_or_below_zero_is_refused(name: str) -> None:
    ours, _ = OPERATIONS[name]
    for other in (1.5, "3", None, True):
        for arguments in ((Dimension(1, 5), other), (other, Dimension(1, 5))):
            if name == "%" and isinstance(arguments[0], str):
                continue  # formatting, which is the string's business
            with pytest.raises(TypeError):
                ours(*arguments)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        ours(Dimension(1, 5), -1)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        ours(-1, Dimension(1, 5))
