"""Every frozen answer of the real library, and the closed table of where we differ.

Intervals in the files are ``[lo, hi]``, ``null`` for no bound, ``[null, null]`` for the empty one.
An answer that the library gives as an error or a refusal is one of our exceptions here.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from strata_api._dimension import Dimension
from strata_api._partial_shape import PartialShape

HERE = Path(__file__).parent
MAX = 2**63 - 1
EMPTY = [None, None]

# Rule -> answers that follow it. docs/dimensions.md gives each its reason.
DEVIATIONS = {
    "negative length": 63,
    "reversed bounds": 59,
    "unreadable text": 10,
    "past the largest length": 293,
    "the largest length": 19,
    "division by zero": 31,
    "exact quotient": 36,
    "missing bound": 57,
    "empty interval": 18,
    "half-merged shape": 469,
    "name": 5,
    "index before the first": 93,
    "number in Python": 13,
    "kinds accepted": 10,
    "frozen value": 4,
    "one spelling": 4,
}

ERRORS = {
    "parse_dimension": ValueError,
    "parse_min_bound": ValueError,
    "parse_max_bound": ValueError,
    "parse_empty_field": ValueError,
    "negative_divisor": ValueError,
    "length_of_dynamic": ValueError,
    "shape_not_static": ValueError,
    "rank_mismatch": ValueError,
    "rank_dynamic": ValueError,
    "other": ValueError,
    "index_out_of_range": IndexError,
    "read_only": AttributeError,
    "bad_argument_type": TypeError,
    "bad_element_type": TypeError,
    "bound_tuple_length": TypeError,
    "unsupported_operator": TypeError,
    "unhashable": TypeError,
}

# What the binding answers where we answer otherwise: expression -> (rule, our answer).
PYTHON = {
    "1+D(3)": ("number in Python", {"dim": [4, 4]}),
    "D(3)+1": ("number in Python", {"dim": [4, 4]}),
    "D(3)-1": ("number in Python", {"dim": [2, 2]}),
    "D(3)*2": ("number in Python", {"dim": [6, 6]}),
    "D(3)/2": ("number in Python", {"dim": EMPTY}),
    "D(3)&D(3)": ("number in Python", {"dim": [3, 3]}),
    "P([1])+P([2])": ("number in Python", {"shape": [[3, 3]]}),
    "int(D(3))": ("number in Python", 3),
    "float(D(3))": ("number in Python", 3.0),
    "bool(D())": ("number in Python", TypeError),
    "len(D(1,2))": ("number in Python", TypeError),
    "hash(P([1]))": ("number in Python", hash((1,))),
    "{D(3)}": ("number in Python", {3}),
    "D(3).compatible(3)": ("kinds accepted", True),
    "D(3).same_scheme(3)": ("kinds accepted", True),
    "D(D(3))": ("kinds accepted", {"dim": [3, 3]}),
    "D(False)": ("kinds accepted", TypeError),
    "D(True)": ("kinds accepted", TypeError),
    "D(b'3')": ("kinds accepted", TypeError),
    "D(np.float32(3))": ("kinds accepted", TypeError),
    "P(b'1')": ("kinds accepted", TypeError),
    "P([np.int64(2)])": ("kinds accepted", {"shape": [[2, 2]]}),
    "P(range(3))": ("kinds accepted", {"shape": [[0, 0], [1, 1], [2, 2]]}),
    "D(-2**63)": ("negative length", ValueError),
    "D(-2**63-1)": ("negative length", ValueError),
    "P([-1,-5])": ("negative length", ValueError),
    "P([-5]).all_non_negative": ("negative length", ValueError),
    "P.dynamic(-2)": ("negative length", ValueError),
    "D(5,2).is_dynamic": ("reversed bounds", ValueError),
    "D(5,2).is_static": ("reversed bounds", ValueError),
    "D(5,2).max_length": ("reversed bounds", ValueError),
    "D(5,2).min_length": ("reversed bounds", ValueError),
    "D(5,2)==D(9,3)": ("reversed bounds", ValueError),
    "str(D(5,2))": ("reversed bounds", ValueError),
    "P(['5..2'])": ("reversed bounds", ValueError),
    "P([(5,2)])": ("reversed bounds", ValueError),
    "D(2**63)": ("past the largest length", ValueError),
    "D(2**63-1)": ("the largest length", {"dim": [MAX, MAX]}),
    "D(2**63-1).is_static": ("the largest length", True),
    "P(['x'])": ("name", {"shape": [[0, None]]}),
    "P([1,2])[-4]": ("index before the first", IndexError),
    "P([1,2]).get_dimension(-1)": ("index before the first", {"dim": [2, 2]}),
    "D(dimension=3)": ("one spelling", TypeError),
    "D(min_dimension=1,max_dimension=4)": ("one spelling", TypeError),
    "D(str='1..4')": ("one spelling", TypeError),
    "D(3).has_symbol()": ("one spelling", AttributeError),
}


class Answer(NamedTuple):
    asked: object
    ours: object
    expected: object
    rule: str | None = None


def outcome(call: Callable[[], object]) -> object:
    """Return the encoded result of a call, or the type of its error."""
    try:
        return encoded(call())
    except Exception as error:
        return type(error)


def encoded(value: object) -> object:
    if isinstance(value, Dimension):
        return interval(value)
    if isinstance(value, PartialShape):
        return None if value.rank.is_dynamic else [interval(d) for d in value]
    return list(value) if isinstance(value, tuple) else value


def tagged(value: object) -> object:
    """Return a result as the lines of ov_python.jsonl encode it."""
    match value:
        case Dimension():
            return {"dim": encoded(value)}
        case PartialShape():
            return {"shape": encoded(value)}
        case tuple():
            return {"ints": list(value)}
        case list():
            return [tagged(item) for item in value]
    return value


def interval(dim: Dimension) -> list[int | None]:
    return EMPTY if dim.is_empty else list(dim.get_interval())


def dimension(bounds: list[int | None]) -> Dimension:
    return Dimension(3) & Dimension(5) if bounds == EMPTY else Dimension(*bounds)


def shape(dims: list[list[int | None]] | None) -> PartialShape:
    return PartialShape.dynamic() if dims is None else PartialShape(map(dimension, dims))


def librarys(expect: Any) -> object:
    """Return the library's answer, its errors as the ones that we raise."""
    return ERRORS[expect["error"]["kind"]] if is_error(expect) else expect


def is_error(expect: Any) -> bool:
    return isinstance(expect, dict) and "error" in expect


# dim.*


def construct(record: Any) -> Iterator[Answer]:
    given = record["in"] if isinstance(record["in"], list) else [record["in"]]
    lower, upper = given[0], given[-1]
    expected, rule = librarys(record["expect"]), None
    if min(given) < -1:
        expected, rule = ValueError, "negative length"
    elif upper != -1 and max(lower, 0) > upper:
        expected, rule = ValueError, "reversed bounds"
    elif lower == MAX:
        expected, rule = [MAX, MAX if upper == MAX else None], "the largest length"
    yield Answer(given, outcome(lambda: Dimension(*given)), expected, rule)


PLAIN = re.compile(r"\?|-1|[0-9]+|(?P<lower>-1|[0-9]*)\.\.(?P<upper>[0-9]*)")
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def text_rule(text: str, expect: Any) -> tuple[object, str | None]:
    """Return our answer to one dimension written as text, and the rule if it is not theirs."""
    text = text.strip(" \t\n\r\v\f")
    if NAME.fullmatch(text):
        return [0, None], "name"
    if is_error(expect):
        return ValueError, None
    if re.fullmatch(r"-(?!1(\.\.|$))[0-9]+(\.\..*)?", text):
        return ValueError, "negative length"
    if not (plain := PLAIN.fullmatch(text)):
        return ValueError, "unreadable text"
    lower = int(plain["lower"] or (text if text.isdigit() else 0))
    upper = int(plain["upper"] or MAX + 1)
    if lower > upper:
        return ValueError, "reversed bounds"
    if lower > MAX:
        return ValueError, "past the largest length"
    if lower == MAX:
        return [MAX, MAX if text.isdigit() else None], "the largest length"
    return expect, None


def parse_dimension(record: Any) -> Iterator[Answer]:
    text = record["in"]
    expected, rule = text_rule(text, record["expect"])
    yield Answer(text, outcome(lambda: Dimension(text)), expected, rule)


def describe_dimension(record: Any) -> Iterator[Answer]:
    dim, expect = dimension(record["in"]), record["expect"]
    ours = {
        "is_static": dim.is_static,
        "is_dynamic": dim.is_dynamic,
        "min_length": dim.min_length,
        "max_length": dim.max_length,
        "has_upper_bound": dim.get_interval()[1] is not None,
        "empty": dim.is_empty,
        "length": outcome(dim.get_length),
    }
    empty = record["in"] == EMPTY
    for name, answer in ours.items():
        differs = empty and name == "has_upper_bound"  # (1, 0) rather than no bounds
        expected = True if differs else librarys(expect[name])
        yield Answer((record["in"], name), answer, expected, "empty interval" if differs else None)
    yield Answer((record["in"], "get_min_length"), dim.get_min_length(), expect["min_length"])
    yield Answer((record["in"], "get_max_length"), dim.get_max_length(), expect["max_length"])
    rule = "empty interval" if empty else None
    yield Answer((record["in"], "str"), str(dim), "empty" if empty else expect["str"], rule)


def divide(record: Any) -> Iterator[Answer]:
    (lower, upper), by = record["in"]["a"], record["in"]["by"]
    expected, rule = librarys(record["expect"]), None
    if by == 0:
        expected, rule = ZeroDivisionError, "division by zero"
    elif by > 1 and lower is None:
        expected, rule = EMPTY, "empty interval"
    elif by > 1 and upper is None and lower > 0:
        expected, rule = [-(-lower // by), None], "missing bound"
    elif by > 0 and "inexact" in record:
        exact = [-(-lower // by), upper // by]
        exact = exact if exact[0] <= exact[1] else EMPTY
        expected, rule = exact, "exact quotient" if exact != expected else None
    yield Answer(record["in"], outcome(lambda: dimension([lower, upper]) / by), expected, rule)


RELATIONS = ("same_scheme", "compatible", "relaxes", "refines")


def pair(record: Any) -> Iterator[Answer]:
    a, b, expect = dimension(record["a"]), dimension(record["b"]), record["expect"]
    asked = (record["a"], record["b"])
    yield Answer((asked, "=="), a == b, expect["eq"])
    yield Answer((asked, "!="), a != b, expect["ne"])
    for name in RELATIONS:
        yield Answer((asked, name), getattr(a, name)(b), expect[name])
    yield Answer((asked, "-"), outcome(lambda: a - b), expect["sub"])
    yield Answer((asked, "&"), outcome(lambda: a & b), expect["and"])
    yield Answer(
        (asked, "merge"), outcome(lambda: Dimension.merge(a, b)), expect["merge"] or ValueError
    )
    for name, call, low in (
        ("add", lambda: a + b, lambda x, y: x + y),
        ("mul", lambda: a * b, lambda x, y: x * y),
    ):
        expected, rule = expect[name], None
        if expected == EMPTY and EMPTY not in asked:
            expected, rule = overflowed(*asked, low)
        yield Answer((asked, name), outcome(call), expected, rule)
    ours = outcome(lambda: Dimension.broadcast_merge(a, b))
    yield Answer((asked, "broadcast"), ours, expect["broadcast_merge"] or ValueError)


def overflowed(a: Any, b: Any, low: Callable[[int, int], int]) -> tuple[object, str]:
    lower = low(a[0], b[0])
    assert lower >= MAX
    if lower > MAX:
        return ValueError, "past the largest length"
    return [MAX, MAX if a[0] == a[1] and b[0] == b[1] else None], "the largest length"


# shape.*


def parse_shape(record: Any) -> Iterator[Answer]:
    text, expect = record["in"], record["expect"]
    expected, rule = librarys(expect), None
    if not is_error(expect) and expect["shape"]:
        for field, dim in zip(text.strip(" []").split(","), expect["shape"], strict=True):
            expected, rule = (expected, rule) if rule else (expected, text_rule(field, dim)[1])
        expected = ValueError if rule else expected
    if NAME.fullmatch(text.strip(" []")):
        expected, rule = {"shape": [[0, None]]}, "name"
    yield Answer(text, outcome(lambda: {"shape": encoded(PartialShape(text))}), expected, rule)


def describe_shape(record: Any) -> Iterator[Answer]:
    dims, expect = record["in"], record["expect"]
    ours = shape(dims)
    for name in ("is_static", "is_dynamic", "all_non_negative"):
        yield Answer((dims, name), getattr(ours, name), expect[name])
    yield Answer((dims, "rank"), interval(ours.rank), expect["rank"])
    yield Answer((dims, "len"), outcome(lambda: len(ours)), librarys(expect["len"]))
    empty = {
        "str": "[empty]",
        "repr": "<PartialShape: [empty]>",
        "get_shape": ValueError,
        "to_shape": ValueError,
        "get_min_shape": [-1],
        "get_max_shape": [-1],
    }
    calls = {
        "str": lambda: str(ours),
        "repr": lambda: repr(ours),
        "get_shape": ours.get_shape,
        "to_shape": ours.to_shape,
        "get_min_shape": ours.get_min_shape,
        "get_max_shape": ours.get_max_shape,
    }
    for name, call in calls.items():
        differs = dims == [EMPTY] and librarys(expect[name]) != empty[name]
        expected = empty[name] if differs else librarys(expect[name])
        rule = "empty interval" if differs else None
        yield Answer((dims, name), outcome(call), expected, rule)


def item(record: Any) -> Iterator[Answer]:
    dims, position = record["in"]["shape"], record["in"]["index"]
    expected, rule = IndexError if is_error(record["expect"]) else record["expect"], None
    if dims is not None and position < -len(dims) and expected is not IndexError:
        expected, rule = IndexError, "index before the first"
    yield Answer(record["in"], outcome(lambda: shape(dims)[position]), expected, rule)


def cut(record: Any) -> Iterator[Answer]:
    dims, key = record["in"]["shape"], slice(*record["in"]["slice"])
    expected, rule = record["expect"], None
    if EMPTY in dims[key]:
        expected, rule = "[empty]", "empty interval"
    yield Answer(record["in"], outcome(lambda: str(shape(dims)[key])), expected, rule)


def merge_rank(record: Any) -> Iterator[Answer]:
    dims, rank = record["in"]["shape"], dimension(record["in"]["rank"])
    expected = record["expect"]["shape"] if record["expect"]["ok"] else ValueError
    yield Answer(record["in"], outcome(lambda: shape(dims).merge_rank(rank)), expected)


def dynamic(record: Any) -> Iterator[Answer]:
    ours = outcome(lambda: PartialShape.dynamic(dimension(record["in"])))
    yield Answer(record["in"], ours, record["expect"]["shape"])


def joined(record: Any, result: Any) -> tuple[object, str | None]:
    """Return our answer where the library gives (success, destination)."""
    success, left = result
    if not success:
        return ValueError, "half-merged shape" if left != record["a"] else None
    return left, None


def shape_pair(record: Any) -> Iterator[Answer]:
    a, b, expect = shape(record["a"]), shape(record["b"]), record["expect"]
    asked = (record["a"], record["b"])
    yield Answer((asked, "=="), a == b, expect["eq"])
    yield Answer((asked, "!="), a != b, expect["ne"])
    for name in RELATIONS:
        yield Answer((asked, name), getattr(a, name)(b), expect[name])
    yield Answer((asked, "add"), outcome(lambda: a + b), librarys(expect["add"]))
    ours = outcome(lambda: PartialShape.merge(a, b))
    yield Answer((asked, "merge"), ours, *joined(record, expect["merge_into"]))
    ours = outcome(lambda: PartialShape.broadcast_merge(a, b))
    yield Answer((asked, "numpy"), ours, *joined(record, expect["broadcast_numpy"]))


def broadcast_pdpd(record: Any) -> Iterator[Answer]:
    a, b, axis = shape(record["a"]), shape(record["b"]), record["axis"]
    ours = outcome(lambda: PartialShape.broadcast_merge(a, b, "pdpd", axis))
    yield Answer((record["a"], record["b"], axis), ours, *joined(record, record["expect"]))


def broadcast_none(record: Any) -> Iterator[Answer]:
    a, b = shape(record["a"]), shape(record["b"])
    ours = outcome(lambda: PartialShape.broadcast_merge(a, b, "none"))
    yield Answer((record["a"], record["b"]), ours, record["expect"][1])


# py.*

NAMES = {"D": Dimension, "P": PartialShape, "S": tuple, "np": np}


def evaluate(record: Any) -> Iterator[Answer]:
    text = record["in"]
    rule, expected = PYTHON.get(text, (None, librarys(record["expect"])))
    assert rule is None or expected != librarys(record["expect"]), text
    if re.search(r"\w=False$", text):
        yield Answer(text, outcome(lambda: exec(text, dict(NAMES))), expected, rule)
    else:
        yield Answer(text, outcome(lambda: tagged(eval(text, dict(NAMES)))), expected, rule)


def assign(record: Any) -> Iterator[Answer]:
    statement = "{shape}[{key!r}] = {value}".format(**record["in"])
    rule = None if librarys(record["expect"]) is TypeError else "frozen value"
    yield Answer(statement, outcome(lambda: exec(statement, dict(NAMES))), TypeError, rule)


ANSWERS = {
    "dim.new1": construct,
    "dim.new2": construct,
    "dim.parse": parse_dimension,
    "dim.info": describe_dimension,
    "dim.div": divide,
    "dim.pair": pair,
    "shape.parse": parse_shape,
    "shape.info": describe_shape,
    "shape.at": item,
    "shape.getitem": item,
    "shape.slice": cut,
    "shape.merge_rank": merge_rank,
    "shape.dynamic": dynamic,
    "shape.pair": shape_pair,
    "shape.broadcast_pdpd": broadcast_pdpd,
    "shape.broadcast_none": broadcast_none,
    "py.eval": evaluate,
    "py.setitem": assign,
}
LINES = {
    "ov_dim_unary": 1177,
    "ov_dim_pair": 1798,
    "ov_shape_unary": 2288,
    "ov_shape_pair": 2122,
    "ov_python": 173,
}


@cache
def answers(name: str) -> tuple[Answer, ...]:
    lines = (HERE / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == LINES[name]
    records = map(json.loads, lines)
    return tuple(answer for record in records for answer in ANSWERS[record["op"]](record))


@pytest.mark.parametrize("name", LINES)
def test_every_frozen_answer_is_ours_or_a_listed_deviation(name: str) -> None:
    wrong = [answer for answer in answers(name) if answer.ours != answer.expected]
    assert wrong[:10] == []


def test_the_deviations_are_the_listed_ones_and_as_many() -> None:
    every = [answer for name in LINES for answer in answers(name)]
    assert Counter(answer.rule for answer in every if answer.rule) == DEVIATIONS


def test_every_python_deviation_is_asked() -> None:
    assert {answer.asked for answer in answers("ov_python") if answer.asked in PYTHON} == set(
        PYTHON
    )


def test_the_page_lists_each_deviation_with_its_number_of_answers() -> None:
    page = (HERE.parent / "docs" / "dimensions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|.*\| ([0-9]+) \|$", page, re.MULTILINE)
    assert {rule: int(count) for rule, count in rows} == DEVIATIONS
