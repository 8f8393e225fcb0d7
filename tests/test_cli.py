"""The command line: what it prints, what it refuses, and what its exit codes say."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from strata_api import backends, cli

COMMANDS = ("info", "demo", "conformance", "completion")


def relaxed_by_hand() -> list[list[float]]:
    """What the demonstration must give, computed on lists, point by point."""
    size = 7
    plate = [[64.0 if row == 0 else 0.0 for _ in range(size)] for row in range(size)]
    inside = range(1, size - 1)
    for _ in range(3):
        for colour in (0, 1):
            for i in inside:
                for j in inside:
                    if (i + j) % 2 == colour:
                        around = (
                            plate[i - 1][j],
                            plate[i + 1][j],
                            plate[i][j - 1],
                            plate[i][j + 1],
                        )
                        plate[i][j] = sum(around) / 4
    for i in inside:
        plate[i][i] = -1.0
    plate = [[min(value, 48.0) for value in row] for row in plate]
    last = [a + b for a, b in zip(plate[-1], plate[-2], strict=True)]
    above = [a + b for a, b in zip(plate[-2], plate[-3], strict=True)]
    return [*plate[:-2], above, last]


def outcome(**changes: object) -> cli.Outcome:
    made = cli.Outcome("numpy", "numpy:cpu", "float64", [[1.0]], {"a fact": True}, 1.0, 1.0)
    return replace(made, **changes)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself_and_its_exit_codes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    text = capsys.readouterr().out
    assert stopped.value.code == 0
    assert f"strata-api {command}" in text
    assert "exit codes:" in text


@pytest.mark.parametrize("line", [[], ["nonsense"], ["info", "--jso"], ["demo", "extra"]])
def test_wrong_usage_exits_with_2(line: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(line)
    assert stopped.value.code == 2


def test_an_interruption_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> cli.Info:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "gather_info", interrupted)
    assert cli.main(["info"]) == 130


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    command = [sys.executable, "-m", "strata_api", "completion", "bash"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 2


def test_info_tells_of_every_backend_its_devices_or_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["info", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["devices"]["numpy"] == ["numpy:cpu"]
    assert {*told["devices"], *told["unavailable"]} == set(cli.BACKENDS)
    assert told["default_dtypes"]["real floating"] == "float64"
    assert told["versions"]["array API"] == "2025.12"


def test_info_without_jax_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(backends, "available", lambda: ("numpy",))
    assert cli.main(["info"]) == 0
    assert 'pip install "strata-api[jax]"' in capsys.readouterr().out


def test_the_demonstration_gives_what_lists_give(backend: ModuleType) -> None:
    assert cli.relax_plate(backend).tolist() == relaxed_by_hand()


def test_every_fact_of_the_demonstration_holds(backend: ModuleType) -> None:
    assert all(cli.aliasing(backend).values())


def test_demo_prints_the_program_and_its_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo"]) == 0
    text = capsys.readouterr().out
    assert "def relax_plate(xp" in text
    assert "Result: the same on numpy" in text


def test_demo_gives_one_entry_for_each_backend_as_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["same"] is True
    assert [run["backend"] for run in told["runs"]] == list(backends.available())


@pytest.mark.parametrize(
    "wrong", [{"values": [[2.0]]}, {"dtype": "float32"}, {"facts": {"a fact": False}}]
)
def test_demo_exits_with_1_where_a_backend_differs(
    wrong: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = {"numpy": outcome(), "jax": outcome(backend="jax", **wrong)}
    monkeypatch.setattr(backends, "available", lambda: ("numpy", "jax"))
    monkeypatch.setattr(cli, "outcome_on", made.__getitem__)
    assert cli.main(["demo"]) == 1
    assert "numpy and jax DIFFER" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--suite", "nonsense"], "--suite: expected array-api"),
        (["--from", "somewhere"], "--fetch was not given"),
    ],
)
def test_conformance_refuses_what_makes_no_sense(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["conformance", *line]) == 2
    assert message in capsys.readouterr().err


def test_conformance_without_jax_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(backends, "available", lambda: ("numpy",))
    assert cli.main(["conformance", "--backend", "jax"]) == 2
    assert 'pip install "strata-api[jax]"' in capsys.readouterr().err


def test_conformance_outside_of_a_checkout_says_where_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "project_folder", lambda: None)
    assert cli.main(["conformance"]) == 2
    assert "source checkout" in capsys.readouterr().err


def test_the_project_is_found_from_any_folder_inside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "conformance/array_api").mkdir(parents=True)
    (tmp_path / "conformance/array_api/run.py").touch()
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(cli, "__file__", "/nowhere/strata_api/cli.py")
    monkeypatch.chdir(tmp_path / "docs")
    assert cli.project_folder() == tmp_path


def every_word(parser: argparse.ArgumentParser) -> set[str]:
    words: set[str] = set()
    for action in parser._actions:
        words |= set(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            words |= set(action.choices)
            words = words.union(*(every_word(below) for below in action.choices.values()))
    return words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_knows_every_command_and_option(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    spelled = {word.lstrip("-") if shell == "fish" else word for word in every_word(cli.parser())}
    assert {word for word in spelled if word not in script} == set()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["strata-api", ""], {*COMMANDS, "--version", "--help", "-h"}),
        (["strata-api", "co"], {"conformance", "completion"}),
        (["strata-api", "info", "--j"], {"--json"}),
        (["strata-api", "conformance", "--backend", ""], {"numpy", "jax", "all"}),
        (["strata-api", "completion", "z"], {"zsh"}),
    ],
)
def test_bash_completes_what_was_typed(typed: list[str], expected: set[str]) -> None:
    script = cli.completion_script("bash")
    words = " ".join(f"'{word}'" for word in typed)
    program = (
        f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _strata_api\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-euc", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert set(done.stdout.split()) == expected
