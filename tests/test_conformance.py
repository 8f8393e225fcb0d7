"""The runner of array-api-tests and the page of results, without the suite itself."""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from strata_api import cli

_project = cli.project_folder()
assert _project is not None, "the tests run in a source checkout"
run = cli.suite_module(_project, "array-api")
checkout = run.checkout
report = __import__("conformance.report", fromlist=["report"])

SETTINGS = run.Settings(
    suite=Path("suite"), cache=Path("cache"), max_examples=7, jobs=2, selection=None, seed=None
)
FLAKY = f"{run.OWN_SKIPS}remainder(x1, x2)]"


def result(module: str = "strata_api.numpy", **outcomes: str) -> Any:
    """What pytest reports of tests named by the keywords, each with its outcome."""
    tests = [{"nodeid": name, "outcome": outcome} for name, outcome in outcomes.items()]
    summary = {"total": len(tests), "collected": run.TESTS}
    for outcome in outcomes.values():
        summary[outcome] = summary.get(outcome, 0) + 1
    made = {"created": 0.0, "duration": 1.5, "exitcode": 0, "summary": summary, "tests": tests}
    return run.Result(module, made, Path("log"))


def filled(folder: Path) -> Path:
    """Make what passes for a filled checkout of the suite."""
    (folder / "array_api_tests").mkdir(parents=True)
    (folder / "array_api_tests/stubs.py").touch()
    specification = folder / "array-api/spec" / checkout.API_VERSION
    specification.mkdir(parents=True)
    (specification / "index.rst").touch()
    return folder


def repository(folder: Path) -> Path:
    """Make what passes for a bare git repository."""
    (folder / "objects").mkdir(parents=True)
    (folder / "HEAD").touch()
    return folder


# where the suite is


def test_the_option_goes_before_the_environment_and_that_before_the_cache(tmp_path: Path) -> None:
    given, named = filled(tmp_path / "given"), filled(tmp_path / "named")
    cached = filled(tmp_path / "cache/strata-api/array-api-tests")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    both = cache | {"ARRAY_API_TESTS_DIR": str(named)}
    assert checkout.locate(given, both) == given
    assert checkout.locate(None, both) == named
    assert checkout.locate(None, cache) == cached


def test_a_missing_suite_is_told_with_every_way_to_provide_it(tmp_path: Path) -> None:
    with pytest.raises(checkout.CheckoutError) as refused:
        checkout.locate(None, {"XDG_CACHE_HOME": str(tmp_path)})
    for way in ("--fetch", "--from", "--suite-dir", "ARRAY_API_TESTS_DIR"):
        assert way in str(refused.value)


def test_a_folder_named_wrongly_is_refused_and_nothing_else_is_taken(tmp_path: Path) -> None:
    filled(tmp_path / "strata-api/array-api-tests")
    environ = {"XDG_CACHE_HOME": str(tmp_path), "ARRAY_API_TESTS_DIR": str(tmp_path / "typo")}
    with pytest.raises(checkout.CheckoutError, match="typo: no such folder"):
        checkout.locate(None, environ)


def test_an_empty_submodule_is_told(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    shutil.rmtree(folder / "array-api/spec")
    assert "submodule array-api is not filled" in checkout.fault(folder)


def test_the_standard_is_found_beside_the_suite_wherever_that_is(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    suite = repository(mirror / "data-apis+array-api-tests/repo")
    standard = repository(mirror / "data-apis+array-api/repo")
    inside = repository(tmp_path / "work/array-api-tests")
    submodule = repository(inside / "array-api")
    url = "ssh://git@example.org/array-api-tests/array-api-tests.git"
    assert checkout.sources(str(mirror)) == (str(suite), str(standard))
    assert checkout.sources(str(suite)) == (str(suite), str(standard))
    assert checkout.sources(str(inside)) == (str(inside), str(submodule))
    assert checkout.sources(url) == (url, "ssh://git@example.org/array-api-tests/array-api.git")
    assert checkout.sources(None) == (checkout.SUITE.url, checkout.STANDARD.url)


@pytest.mark.parametrize("place", ["https://example.org/suite.git", ""])
def test_a_place_that_cannot_hold_both_is_refused(place: str, tmp_path: Path) -> None:
    with pytest.raises(checkout.CheckoutError, match="expected"):
        checkout.sources(place or str(tmp_path))


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def committed(folder: Path, text: str) -> str:
    (folder / "README").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_fetch_takes_the_pinned_commits_and_leaves_no_half_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = filled(tmp_path / "template")
    pins = {}
    for name in ("array-api", "array-api-tests"):
        source = tmp_path / "mirror" / name
        source.mkdir(parents=True)
        git(source, "init", "--quiet")
        shutil.copytree(
            template / "array-api" if name == "array-api" else template,
            source,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("array-api"),
        )
        pins[name] = committed(source, "pinned")
        committed(source, "later")
    suite = checkout.Repository("array-api-tests", pins["array-api-tests"])
    monkeypatch.setattr(checkout, "SUITE", suite)
    monkeypatch.setattr(checkout, "STANDARD", checkout.Repository("array-api", pins["array-api"]))
    into = tmp_path / "cache/array-api-tests"

    checkout.fetch(str(tmp_path / "mirror"), into)
    assert (into / "README").read_text() == "pinned"
    assert checkout.commit_of(into) == pins["array-api-tests"]
    assert checkout.commit_of(into / "array-api") == pins["array-api"]

    again = tmp_path / "again/array-api-tests"
    checkout.fetch(str(into), again)  # a filled checkout of the pins is taken as it is
    assert checkout.commit_of(again) == pins["array-api-tests"]

    monkeypatch.setattr(checkout, "STANDARD", checkout.Repository("array-api", "0" * 40))
    with pytest.raises(checkout.CheckoutError):
        checkout.fetch(str(tmp_path / "mirror"), into)
    assert (into / "README").read_text() == "pinned"
    assert [path.name for path in into.parent.iterdir()] == ["array-api-tests"]


# how it is run


def test_nothing_in_the_environment_can_weaken_a_run() -> None:
    hostile = {
        "ARRAY_API_TESTS_SKIP_DTYPES": "uint64",
        "ARRAY_API_TESTS_XFAIL_MARK": "skip",
        "PYTEST_ADDOPTS": "-k nothing",
        "HOME": "kept",
    }
    environ = run.environment(SETTINGS, "strata_api.numpy", hostile)
    assert not {"ARRAY_API_TESTS_SKIP_DTYPES", "ARRAY_API_TESTS_XFAIL_MARK"} & set(environ)
    assert "PYTEST_ADDOPTS" not in environ
    assert environ["HOME"] == "kept"
    assert environ["ARRAY_API_TESTS_MODULE"] == "strata_api.numpy"
    assert environ["ARRAY_API_TESTS_VERSION"] == "2025.12"


def test_only_the_processes_that_test_jax_keep_what_they_compile() -> None:
    assert "JAX_COMPILATION_CACHE_DIR" in run.environment(SETTINGS, "strata_api.jax", {})
    assert "JAX_COMPILATION_CACHE_DIR" not in run.environment(SETTINGS, "strata_api.numpy", {})


def test_a_peer_is_never_excused_by_our_expected_failures() -> None:
    ours = run.arguments(SETTINGS, "strata_api.numpy", Path("r.json"))
    peers = run.arguments(SETTINGS, "array_api_strict", Path("r.json"))
    assert str(run.EXPECTED_FAILURES) in ours
    assert str(run.EXPECTED_FAILURES) not in peers
    assert "xfail_strict=true" in ours


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


LINES = [
    "2 workers [4 items]\n",
    "[gw0] [ 25%] PASSED array_api_tests/test_a.py::test_b \n",
    "[gw1] [ 50%] FAILED array_api_tests/test_a.py::test_c[x] \n",
    "E   [gw0] PASSED is not a result here\n",
]


def test_progress_is_counted_on_a_terminal() -> None:
    screen = Terminal()
    bar = run.Bar("numpy", screen)
    for line in LINES:
        bar.see(line)
    assert bar.text().startswith(f"numpy [{'#' * 15}{'.' * 15}] 2 of 4, 1 failed, 0:0")
    assert "2 of 4, 1 failed" in screen.getvalue()


def test_progress_is_silent_in_a_pipe() -> None:
    pipe = io.StringIO()
    bar = run.Bar("numpy", pipe)
    for line in LINES:
        bar.see(line)
    bar.close()
    assert pipe.getvalue() == ""


SMALL_SUITE = {
    "conftest.py": """
def pytest_addoption(parser):
    for name in ("--max-examples", "--skips-file", "--xfails-file"):
        parser.addoption(name)
    parser.addoption("--disable-deadline", action="store_true")
""",
    "array_api_tests/test_small.py": """
import os, pytest
def test_good():
    assert os.environ["ARRAY_API_TESTS_MODULE"] == "numpy"
def test_bad():
    assert False
def test_skipped():
    pytest.skip("for no reason")
""",
}


def options(**changes: Any) -> argparse.Namespace:
    line = ["conformance", "--module", "numpy", "--jobs", "1", "--max-examples", "1"]
    made = vars(cli.parser().parse_args(line))
    return argparse.Namespace(**{**made, **changes})


@pytest.fixture
def small_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = filled(tmp_path / "suite")
    for name, text in SMALL_SUITE.items():
        (folder / name).write_text(text)
    return folder


def test_a_run_tells_what_pytest_found(
    small_suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "told/result.json"
    assert run.run(options(suite_dir=small_suite, json=told)) == 1
    [record] = report.load(told.read_text())
    assert record.counts == {"collected": 3, "passed": 1, "failed": 1, "xfailed": 0, "skipped": 1}
    assert record.failed == ["array_api_tests/test_small.py::test_bad"]
    output = capsys.readouterr().out
    assert "FAILED array_api_tests/test_small.py::test_bad" in output
    assert "SKIPPED, though not by the suite's own rule" in output


def test_a_run_without_a_failure_exits_with_0(small_suite: Path) -> None:
    assert run.run(options(suite_dir=small_suite, selection="good")) == 0


@pytest.mark.parametrize("broken", [{"selection": "absent"}, {"compliance": Path("reports")}])
def test_a_run_that_cannot_be_made_exits_with_2(
    broken: dict[str, Any], small_suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.run(options(suite_dir=small_suite, **broken)) == 2
    assert "strata-api conformance: " in capsys.readouterr().err


# what counts as a success


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of expected failures: an empty one."""
    path = tmp_path / "expected.txt"
    path.write_text("")
    monkeypatch.setattr(run, "EXPECTED_FAILURES", path)
    return path


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("outcome", ["failed", "error", "xpassed", "skipped"])
def test_whatever_did_not_pass_is_a_complaint(outcome: str) -> None:
    assert len(run.complaints(SETTINGS, result(test_a="passed", test_b=outcome))) == 1


@pytest.mark.usefixtures("listed")
def test_the_suites_own_skips_are_no_complaint() -> None:
    assert run.complaints(SETTINGS, result(**{FLAKY: "skipped", "test_a": "passed"})) == []


@pytest.mark.usefixtures("listed")
def test_a_whole_run_of_ours_collects_the_whole_suite() -> None:
    short = result(test_a="passed")
    short.report["summary"]["collected"] = 12
    assert run.complaints(SETTINGS, short) == [
        f"COLLECTED 12 tests, where the pinned suite has {run.TESTS}"
    ]


def test_an_expected_failure_that_is_not_met_is_a_complaint(listed: Path) -> None:
    listed.write_text("# a reason\ntest_a\n")
    assert run.complaints(SETTINGS, result(test_a="xfailed")) == []
    assert run.complaints(SETTINGS, result(test_a="passed")) == [
        "EXPECTED TO FAIL, but did not: test_a"
    ]


def test_an_expected_failure_needs_a_reason_of_its_own() -> None:
    assert run.expected_failures("# why\n# still why\na\n\n# why b\nb\n") == ["a", "b"]
    for text in ("a\n", "# why\na\nb\n", "# a heading\n\na\n"):
        with pytest.raises(ValueError, match="expected a comment"):
            run.expected_failures(text)


def test_the_expected_failures_of_the_project_all_have_a_reason() -> None:
    listed = run.expected_failures(run.EXPECTED_FAILURES.read_text())
    assert all(name.startswith("array_api_tests/") for name in listed)


def test_the_public_form_has_the_fields_of_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "commit_of", lambda folder: "a" * 40)
    made = json.loads(json.dumps(run.compliance(SETTINGS, result(test_a="passed"))))
    assert set(made) == {
        *("schema", "name", "version", "api_version", "timestamp", "platform"),
        *("execution_target", "python", "test_suite", "data"),
    }
    assert set(made["platform"]) == {"description", "system", "release", "machine"}
    assert set(made["data"]) == {"duration", "exitcode", "summary", "tests"}
    assert (made["schema"], made["name"]) == ("v1", "strata-api")
    assert made["timestamp"] == "1970-01-01T00:00:00Z"
    assert made["execution_target"] == {"kind": "cpu"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("cpu", "cpu", ""), {"kind": "cpu", "backend": "xla"}),
        (("gpu", "H100", "CUDA 12"), {"kind": "gpu", "backend": "cuda", "device_model": "H100"}),
        (("gpu", "MI300", "rocm 6"), {"kind": "gpu", "backend": "rocm", "device_model": "MI300"}),
        (("METAL", "M4", ""), {"kind": "other", "backend": "metal", "device_model": "M4"}),
    ],
)
def test_the_device_is_named_as_the_schema_names_it(
    said: tuple[str, str, str], expected: dict[str, str]
) -> None:
    assert run.target_of(*said) == expected


# the record and the page


def made_record(**outcomes: str) -> Any:
    return run.record(SETTINGS, result(**outcomes))


def test_a_record_survives_its_file() -> None:
    records = [made_record(test_a="passed", test_b="failed")]
    assert report.load(report.dump(records)) == records


def test_a_record_does_not_change_with_time(tmp_path: Path) -> None:
    early, late = result(test_a="passed"), result(test_a="passed")
    late.report.update(created=1e9, duration=99.0)
    assert run.record(SETTINGS, early) == run.record(SETTINGS, late)


def test_a_record_names_as_many_failures_as_it_counts() -> None:
    entry = json.loads(report.dump([made_record(test_a="failed")]))
    entry[0]["failed"] = []
    with pytest.raises(ValueError, match="1 failed, but 0 are named"):
        report.load(json.dumps(entry))


def test_a_record_with_other_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a record"):
        report.load('[{"suite": "x"}]')


def test_the_page_shows_counts_failures_and_the_command() -> None:
    text = report.page([made_record(test_a="passed", test_b="failed")])
    assert "| `strata_api.numpy` | 1384 | 1 | 1 | 0 | 0 |" in text
    assert "- `test_b`" in text
    assert "$ strata-api conformance --backend numpy --max-examples 7" in text
    assert f"Claimed: {run.CLAIM}." in text


def test_a_part_of_a_run_is_not_published(tmp_path: Path) -> None:
    part = run.record(
        run.Settings(Path("s"), Path("c"), 7, 2, "linalg", None), result(test_a="passed")
    )
    (tmp_path / "part.json").write_text(report.dump([part]))
    with pytest.raises(ValueError, match="only whole runs"):
        report.saved(tmp_path)


def test_check_fails_when_the_page_would_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    assert report.main(["--check"]) == 1
    assert report.main([]) == 0
    assert report.main(["--check"]) == 0
    (tmp_path / "new.json").write_text(report.dump([made_record(test_a="passed")]))
    assert report.main(["--check"]) == 1
    assert "run conformance/report.py" in capsys.readouterr().err
