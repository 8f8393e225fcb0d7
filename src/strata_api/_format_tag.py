"""Format tags: the order of axes and the inner blocks, as in ``"aBcd16b"`` or ``"nhwc"``."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import NamedTuple

LETTERS = "abcdefghijkl"
_TAG = re.compile(r"([A-Za-z]+)((?:[0-9]+[a-z])*)")
_BLOCK = re.compile(r"([0-9]+)([a-z])")
# The letters that name the axes of a convolution and the like, in their logical order.
_NAMED_AXES = {
    frozenset(axes): axes
    for axes in (
        *("x", "nc", "tn", "tnc", "ncw", "nchw", "ncdhw", "oi", "oiw", "oihw", "oidhw"),
        *("goiw", "goihw", "goidhw", "ldnc", "ldio", "ldgo", "ldigo"),
    )
}
# Two names of the real library stand for another order of the outer axes than they say.
_IRREGULAR = {
    "gIOhw2i8o16i2o": "aBCde2c8b16c2b",
    "gIOdhw2i8o16i2o": "aBCdef2c8b16c2b",
}


class Tag(NamedTuple):
    """A format tag, read."""

    order: tuple[int, ...]  # the axes, the outermost first
    inward: tuple[int, ...]  # the innermost first
    inner_blocks: tuple[int, ...]  # the outermost first
    inner_axes: tuple[int, ...]
    blocks: tuple[int, ...]  # the product of the blocks of each axis
    unit: int  # the product of all blocks


def tag_of(
    order: tuple[int, ...], inner_blocks: tuple[int, ...] = (), inner_axes: tuple[int, ...] = ()
) -> Tag:
    blocks = blocks_by_axis(len(order), inner_blocks, inner_axes)
    return Tag(order, order[::-1], inner_blocks, inner_axes, blocks, prod(blocks))


@lru_cache(maxsize=4096)
def parse_tag(text: str) -> Tag:
    """Return a format tag, read.

    A letter is an axis, the outermost first; a capital may have inner blocks, ``16b`` is one.
    Other letters than ``a``, ``b``, ... name axes by their part in a network: ``nchw``, ``OIhw8i``.

    Raises: ``ValueError`` that says which letters were expected.
    """
    text = _IRREGULAR.get(text, text)
    match = _TAG.fullmatch(text)
    if match is None:
        raise ValueError(f"tag {text!r}: expected letters, then blocks such as 16b")
    outer = match[1].lower()
    axes = _axes_of(text, outer)
    blocks = [(int(size), name) for size, name in _BLOCK.findall(match[2])]
    blocked = {name for _, name in blocks}
    for size, name in blocks:
        if name not in axes:
            raise ValueError(f"tag {text!r}: expected a block of one of {axes!r}, got {name!r}")
        if size < 1:
            raise ValueError(f"tag {text!r}: expected blocks of 1 or more, got {size}")
    for name, written in zip(outer, match[1], strict=True):
        if name in blocked and written == name:
            raise ValueError(f"tag {text!r}: expected the capital of {name!r}, which has blocks")
    return tag_of(
        tuple([axes.index(name) for name in outer]),
        tuple([size for size, _ in blocks if size > 1]),
        tuple([axes.index(name) for size, name in blocks if size > 1]),
    )


def _axes_of(text: str, outer: str) -> str:
    """Return the letters of a tag in the logical order of the axes."""
    letters = LETTERS[: len(outer)]
    if sorted(outer) == list(letters):
        return letters
    named = _NAMED_AXES.get(frozenset(outer))
    if named is not None and len(named) == len(outer):
        return named
    raise ValueError(
        f"tag {text!r}: expected each of the letters {', '.join(letters)} once, "
        "or the axes of an alias such as nchw, oihw, goihw, tnc"
    )


def written(tag: Tag) -> str:
    """Return the text of a tag in the letters a, b, ..."""
    outer = [
        LETTERS[axis].upper() if axis in tag.inner_axes else LETTERS[axis] for axis in tag.order
    ]
    blocks = zip(tag.inner_blocks, tag.inner_axes, strict=True)
    return "".join(outer + [f"{size}{LETTERS[axis]}" for size, axis in blocks])


@lru_cache(maxsize=4096)
def as_tag(given: str | None, ndim: int) -> Tag:
    if given is None or given == "row-major":
        return tag_of(tuple(range(ndim)))
    if given == "column-major":
        return tag_of(tuple(range(ndim))[::-1])
    return parse_tag(given)


@lru_cache(maxsize=4096)
def blocks_by_axis(
    ndim: int, inner_blocks: tuple[int, ...], inner_axes: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the product of the blocks of each axis."""
    blocks = [1] * ndim
    for size, axis in zip(inner_blocks, inner_axes, strict=True):
        blocks[axis] *= size
    return tuple(blocks)
