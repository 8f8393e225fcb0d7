"""What happens that is not seen: programs compiled, arrays copied, memory not reused."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os.path import dirname, sep
from typing import NamedTuple, TextIO


class Note(NamedTuple):
    """One thing that happened, and the line of the caller that made it happen."""

    kind: str  # "compilation", "copy" or "refused donation"
    what: str
    file: str
    line: int

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        return f"{self.file}:{self.line}: {self.kind}: {self.what}\n    {source}".rstrip()


class Report:
    """The notes of one ``with`` block, in order. Grows while the block runs."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def of(self, kind: str) -> list[Note]:
        """Return the notes of one kind."""
        return [note for note in self.notes if note.kind == kind]

    def __len__(self) -> int:
        return len(self.notes)

    def __iter__(self) -> Iterator[Note]:
        return iter(self.notes)

    def __str__(self) -> str:
        counts = [f"{kind}: {len(self.of(kind))}" for kind in _KINDS]
        return "\n".join([*map(str, self.notes), ", ".join(counts)])


_KINDS = ("compilation", "copy", "refused donation")
active: list[Report] = []  # of the blocks that run now: where it is empty, nothing is worked out
_starters: list[Callable[[], None]] = []  # what makes backends tell


@contextmanager
def explain(file: TextIO | None = None) -> Iterator[Report]:
    """List what the ``with`` block compiles, copies, and fails to write in place, and where.

    The list is printed at the end of the block, to ``file`` or else the standard output, and is
    what the block is given.

    - ``compilation``: a program was compiled, ours or another of JAX's.
    - ``copy``: a whole array was copied: by a ``reshape`` that cannot be a view, by taking memory
      of the host to a device, or by a write to a buffer that others may hold.
    - ``refused donation``: a write copied the array, since something holds its buffer.

    What other threads do in the meantime is listed too.
    """
    report = Report()
    for start in _starters:
        start()
    active.append(report)
    try:
        yield report
    finally:
        active.remove(report)
        print(report, file=file)


def on_start(start: Callable[[], None]) -> None:
    """Have a backend get ready to tell, when a block begins."""
    _starters.append(start)
    if active:
        start()


def note(kind: str, what: str) -> None:
    """Add a note to every block that runs."""
    file, line = _caller()
    for report in active:
        report.notes.append(Note(kind, what, file, line))


_HIDDEN = (dirname(__file__) + sep, f"{sep}jax{sep}", f"{sep}jaxlib{sep}", f"{sep}contextlib.py")


def _caller() -> tuple[str, int]:
    """Return the innermost line that is neither ours nor JAX's."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not any(part in file for part in _HIDDEN):
            return file, frame.f_lineno
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
