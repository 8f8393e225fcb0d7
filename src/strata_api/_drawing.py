"""Drawings of a layout: the offset of each element, as text and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TypeAlias

from strata_api._format_tag import LETTERS

Shape: TypeAlias = tuple[int, ...]
OffsetOf: TypeAlias = Callable[[Shape], int]

_CELL_WIDTH, _CELL_HEIGHT = 44, 24


def text(title: str, shape: Shape, offset_of: OffsetOf) -> str:
    """Return rows of offsets, a matrix for each index into the axes before the last two."""
    sections = list(_sections(shape, offset_of))
    width = 1 + len(str(max([0, *_all(sections)])))
    lines = [title, _legend(shape)]
    for caption, rows in sections:
        lines += [caption] * bool(caption)
        lines += ["".join([f"{offset:>{width}}" for offset in row]) for row in rows]
    return "\n".join(lines)


def svg(title: str, shape: Shape, offset_of: OffsetOf) -> str:
    """Return a picture: a cell for each element, its offset in it and as its hue."""
    sections = list(_sections(shape, offset_of))
    span = 1 + max([0, *_all(sections)])
    body, y = [_caption(0, _legend(shape))], 1
    for caption, rows in sections:
        if caption:
            body.append(_caption(y, caption))
            y += 1
        for row in rows:
            body += [_cell(x, y, offset, 300 * offset // span) for x, offset in enumerate(row)]
            y += 1
    width, height = max(12, shape[-1]) * _CELL_WIDTH, y * _CELL_HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="monospace" font-size="12"><title>{title}</title>{"".join(body)}</svg>'
    )


def _sections(shape: Shape, offset_of: OffsetOf) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the offsets of each matrix of the last two axes, under its index."""
    rows, columns = range(prod(shape[-2:-1])), range(shape[-1])
    for lead in product(*map(range, shape[:-2])):
        caption = ", ".join([f"{LETTERS[axis]} = {i}" for axis, i in enumerate(lead)])
        yield caption, [[offset_of(_index(shape, lead, i, j)) for j in columns] for i in rows]


def _index(shape: Shape, lead: Shape, row: int, column: int) -> Shape:
    return (*lead, row, column) if len(shape) > 1 else (column,)


def _all(sections: list[tuple[str, list[list[int]]]]) -> list[int]:
    return [offset for _, rows in sections for row in rows for offset in row]


def _legend(shape: Shape) -> str:
    down = f"{LETTERS[len(shape) - 2]} goes down, " if len(shape) > 1 else ""
    return f"offset of each element; {down}{LETTERS[len(shape) - 1]} to the right"


def _caption(y: int, words: str) -> str:
    return f'<text x="2" y="{y * _CELL_HEIGHT + 16}">{words}</text>'


def _cell(x: int, y: int, offset: int, hue: int) -> str:
    left, top = x * _CELL_WIDTH, y * _CELL_HEIGHT
    return (
        f'<rect x="{left}" y="{top}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}" '
        f'fill="hsl({hue}, 70%, 85%)" stroke="white"/>'
        f'<text x="{left + _CELL_WIDTH // 2}" y="{top + 16}" text-anchor="middle">{offset}</text>'
    )
