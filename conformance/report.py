"""The record of a conformance run, and docs/conformance.md, which is made of the saved records.

``python conformance/report.py`` writes the page from conformance/results/*.json;
``--check`` writes nothing and fails if the page would change.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
RESULTS = PROJECT / "conformance/results"
PAGE = PROJECT / "docs/conformance.md"


@dataclass(frozen=True, slots=True)
class Record:
    """What one suite said of one backend, without times and places, so that it can be committed.

    ``claim`` is what we assert of the subject, empty for a peer; ``command`` runs it again;
    ``expected`` are the tests that failed as a written reason says they must.
    """

    suite: str
    revision: str
    claim: str
    subject: str
    command: str
    whole: bool
    versions: dict[str, str]
    counts: dict[str, int]
    failed: list[str]
    expected: list[str]
    skipped: list[str]

    def __post_init__(self) -> None:
        for outcome in ("failed", "skipped"):
            named, counted = len(getattr(self, outcome)), self.counts.get(outcome, 0)
            if named != counted:
                raise ValueError(f"{self.subject}: {counted} {outcome}, but {named} are named")


def dump(records: Sequence[Record]) -> str:
    """Return records as JSON text."""
    return json.dumps([asdict(record) for record in records], indent=1) + "\n"


def load(text: str) -> list[Record]:
    """Return the records in a JSON text, or raise ``ValueError``."""
    known = {field.name for field in fields(Record)}
    entries = json.loads(text)
    for entry in entries:
        if set(entry) != known:
            raise ValueError(f"expected a record of {sorted(known)}, got {sorted(entry)}")
    return [Record(**entry) for entry in entries]


def saved(folder: Path) -> list[Record]:
    """Return the saved records, or raise ``ValueError`` if one is not of a whole run."""
    records = [
        record for path in sorted(folder.glob("*.json")) for record in load(path.read_text())
    ]
    for record in records:
        if not record.whole:
            raise ValueError(f"{record.subject}: only whole runs are published: {record.command}")
    return sorted(records, key=lambda record: (record.suite, record.subject))


def page(records: Sequence[Record]) -> str:
    """Return the text of docs/conformance.md."""
    return "\n".join(_page(records)) + "\n"


def _page(records: Sequence[Record]) -> Iterator[str]:
    yield "<!-- Made by conformance/report.py from conformance/results/. Change those. -->"
    yield ""
    yield "# Conformance"
    yield ""
    yield "What suites written by others say of strata_api. Each table comes from whole runs, saved"
    yield "as they were; continuous integration runs the suites again on every change."
    if not records:
        yield ""
        yield "No run has been saved yet."
    for suite in dict.fromkeys(record.suite for record in records):
        yield from _section([record for record in records if record.suite == suite])


def _section(records: Sequence[Record]) -> Iterator[str]:
    yield ""
    yield f"## {records[0].suite}"
    for claim in dict.fromkeys(record.claim for record in records if record.claim):
        yield ""
        yield f"Claimed: {claim}."
    yield ""
    outcomes = list(dict.fromkeys(name for record in records for name in record.counts))
    yield _line("tested", *outcomes, "revision of the suite", "with")
    yield _line("---", *("---:" for _ in outcomes), "---", "---")
    for record in records:
        counts = (str(record.counts.get(name, 0)) for name in outcomes)
        versions = ", ".join(f"{name} {text}" for name, text in record.versions.items())
        yield _line(f"`{record.subject}`", *counts, f"`{record.revision[:12]}`", versions)
    yield ""
    yield "Again, from a checkout of the project:"
    yield ""
    yield "```console"
    yield from dict.fromkeys(f"$ {record.command}" for record in records)
    yield "```"
    for record in records:
        yield from _names(record, "Failed", record.failed)
        yield from _names(record, "Failed for a written reason", record.expected)
    yield from _reasons(records)
    yield from _skips(records)


def _names(record: Record, title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield ""
        yield f"{title} on `{record.subject}`:"
        yield ""
        yield from (f"- `{name}`" for name in names)


def _reasons(records: Sequence[Record]) -> Iterator[str]:
    if any(record.expected for record in records):
        yield ""
        yield "The reasons, with the sentence of the standard and a reproduction, stand in"
        yield "`conformance/array_api/expected_failures.txt`."


def _skips(records: Sequence[Record]) -> Iterator[str]:
    names = list(dict.fromkeys(name for record in records for name in record.skipped))
    if names:
        yield ""
        yield "Skipped by the suite itself:"
        yield ""
        yield from (f"- `{name}`" for name in names)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or with ``--check`` compare it; return the exit code."""
    parser = argparse.ArgumentParser(description="Write docs/conformance.md from saved results.")
    parser.add_argument("--check", action="store_true", help="fail if the page would change")
    check = parser.parse_args(argv).check
    text = page(saved(RESULTS))
    if not check:
        PAGE.write_text(text)
        return 0
    if PAGE.is_file() and PAGE.read_text() == text:
        return 0
    print(
        f"{PAGE.name} is not what the saved results say; run conformance/report.py", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
