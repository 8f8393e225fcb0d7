"""What the documents show: their programs run, and give what stands below them."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
README = PROJECT / "README.md"
PAGES = (README, *sorted((PROJECT / "docs").glob("*.md")))
NEEDS_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")


def blocks(path: Path) -> list[tuple[str, str]]:
    """Return language and text of the code blocks of a page."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def programs() -> Iterator[object]:
    """Yield each program of a page with the output that the block below it shows."""
    for path in PAGES:
        found = blocks(path)
        for k, (language, text) in enumerate(found):
            if language == "python":
                shown = found[k + 1][1] if found[k + 1 :] and found[k + 1][0] == "text" else ""
                marks = [NEEDS_JAX] if "jax" in text else []
                yield pytest.param(text, shown, id=f"{path.stem}-{k}", marks=marks)


@pytest.mark.parametrize(("program", "shown"), [*programs()])
def test_a_program_prints_what_the_page_shows(program: str, shown: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace(f"{file}:", "program.py:") == shown


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_session_gives_the_answers_that_the_page_shows(path: Path) -> None:
    text = "\n".join(text for language, text in blocks(path) if language == "pycon")
    if "jax" in text and find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    session = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    assert len(session.examples) == text.count(">>> ")
    told: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=told.append)
    assert failed == 0, "".join(told)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_a_page_links_to_is_there(path: Path) -> None:
    links = re.findall(r"\]\(([\w./-]+)\)", path.read_text())
    assert [link for link in links if not (path.parent / link).is_file()] == []


def test_the_program_at_the_top_is_about_ten_lines_long() -> None:
    first = next(text for language, text in blocks(README) if language == "python")
    assert len([line for line in first.splitlines() if line]) <= 11


def test_two_commands_do_all_the_setting_up() -> None:
    commands = [text for language, text in blocks(README) if language == "console"]
    demo, tests = [shlex.split(text.removeprefix("$ ")) for text in commands]
    for command, ending in ((demo, ["demo"]), (tests, ["-m", "pytest", "-n", "2"])):
        assert command[:4] == ["python3", "-m", "venv", ".venv"]
        assert command[-len(ending) :] == ending
