"""Run data-apis/array-api-tests on our backends, each in pytest processes of its own.

``strata-api conformance`` imports this module from the checkout and calls ``run``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from conformance.array_api import checkout
from conformance.array_api.checkout import API_VERSION, CheckoutError
from conformance.report import Record, dump
from strata_api.backends import available

TOOLS = ("pytest", "xdist", "pytest_jsonreport", "hypothesis", "ndindex")
EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.txt")
PROJECT = str(Path(__file__).parents[2])  # where the plugin is imported from
# The suite marks this test as flaky and skips its five forms whatever the library is.
OWN_SKIPS = "array_api_tests/test_operators_and_elementwise_functions.py::test_remainder["
CLAIM = (
    f"all of the array API standard {API_VERSION}, both extensions included: no failure but where "
    "a test contradicts the standard's own text"
)
TESTS = 1384  # what the pinned suite collects


class BrokenRun(Exception):
    """The suite could not be run to its end; the text says why."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is told, the same for every namespace it tests."""

    suite: Path
    cache: Path
    max_examples: int
    jobs: int
    selection: str | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """What pytest reported of one namespace."""

    module: str
    report: Mapping[str, Any]
    log: Path

    def named(self, outcome: str) -> list[str]:
        """Return the tests with one outcome, sorted."""
        return sorted(t["nodeid"] for t in self.report["tests"] if t["outcome"] == outcome)

    @property
    def failed(self) -> list[str]:
        """Tests that failed, broke, or passed though expected to fail."""
        return sorted([*self.named("failed"), *self.named("error"), *self.named("xpassed")])

    @property
    def stray_skips(self) -> list[str]:
        """Tests that were skipped for another reason than the suite's own."""
        return [name for name in self.named("skipped") if not name.startswith(OWN_SKIPS)]


def run(options: argparse.Namespace) -> int:
    """Carry out ``strata-api conformance`` for this suite and return the exit code."""
    cache = checkout.cache_folder(os.environ)
    try:
        if options.fetch:
            checkout.fetch(options.source, cache / checkout.SUITE.name)
            print(f"{checkout.SUITE.name} is in {cache / checkout.SUITE.name}")
            return 0
        return _test(options, checkout.locate(options.suite_dir, os.environ), cache)
    except (CheckoutError, BrokenRun) as error:
        print(f"strata-api conformance: {error}", file=sys.stderr)
        return 2


def _test(options: argparse.Namespace, suite: Path, cache: Path) -> int:
    missing = [name for name in TOOLS if find_spec(name) is None]
    if missing:
        raise BrokenRun(
            f"needs {', '.join(missing)}: install the project's dependency group `test`"
        )
    if options.compliance and checkout.commit_of(suite) is None:
        raise BrokenRun(
            f"--compliance names the suite's commit, which git does not know in {suite}"
        )
    _make_folders(options)
    modules = [options.module] if options.module else _modules(options.backend)
    settings = Settings(
        suite, cache, options.max_examples, options.jobs, options.selection, options.seed
    )
    print("\n".join(_heading(settings)), flush=True)
    results = []
    for module in modules:
        results.append(_run_one(settings, module))
        print("\n".join(verdict(settings, results[-1])), flush=True)
    if options.json:
        options.json.write_text(dump([record(settings, result) for result in results]))
    if options.compliance:
        for result in results:
            text = json.dumps(compliance(settings, result), indent=1) + "\n"
            (options.compliance / f"{result.module}.json").write_text(text)
    return 1 if any(complaints(settings, result) for result in results) else 0


def _modules(backend: str) -> list[str]:
    if backend != "all":
        return [f"strata_api.{backend}"]
    if "jax" not in available():
        print('jax: not tested, not installed (pip install "strata-api[jax]")', file=sys.stderr)
    return [f"strata_api.{name}" for name in available()]


def _heading(settings: Settings) -> Iterator[str]:
    commit = checkout.commit_of(settings.suite)
    yield (
        f"{checkout.SUITE.name} {(commit or 'of unknown commit')[:17]}, array API {API_VERSION}, "
        f"{settings.max_examples} examples, {settings.jobs} workers"
    )
    if commit != checkout.SUITE.commit:
        yield f"  note: results are claimed against commit {checkout.SUITE.commit}"


def _make_folders(options: argparse.Namespace) -> None:
    """Make the folders of the reports before the tests run, not after."""
    folders = [options.json.parent] if options.json else []
    folders += [options.compliance] if options.compliance else []
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise BrokenRun(f"{folder} cannot be written to")


# one namespace


def _run_one(settings: Settings, module: str) -> Result:
    folder = settings.cache / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    report, log = folder / f"{module}.json", folder / f"{module}.log"
    report.unlink(missing_ok=True)
    command = arguments(settings, module, report)
    environ = environment(settings, module, os.environ)
    bar = Bar(module, sys.stderr)
    with log.open("w") as copy, _started(command, settings.suite, environ) as process:
        try:
            for line in process.stdout or ():
                copy.write(line)
                bar.see(line)
        except BaseException:  # above all an interruption: no test goes on without us
            process.terminate()
            raise
        finally:
            bar.close()
    code = process.returncode
    if code == 5:
        raise BrokenRun(f"{module}: no test of the suite matches -k {settings.selection!r}")
    if code not in (0, 1) or not report.is_file():
        tail = "".join(log.read_text().splitlines(keepends=True)[-25:])
        raise BrokenRun(f"{module}: pytest stopped with code {code}; the end of {log}:\n{tail}")
    return Result(module, json.loads(report.read_text()), log)


def _started(command: list[str], folder: Path, environ: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def arguments(settings: Settings, module: str, report: Path) -> list[str]:
    """Return the command that tests one namespace."""
    command = [sys.executable, "-m", "pytest", "array_api_tests", "--rootdir=.", "-v"]
    command += [
        "--tb=short",
        "-n",
        str(settings.jobs),
        "-p",
        "no:cacheprovider",
        "-p",
        "no:benchmark",
    ]
    command += ["--max-examples", str(settings.max_examples), "--disable-deadline"]
    command += ["--json-report", f"--json-report-file={report}", "--skips-file", os.devnull]
    if settings.selection is not None:
        command += ["-k", settings.selection]
    if settings.seed is not None:
        command += ["--hypothesis-seed", str(settings.seed)]
    if not _is_ours(module):
        return [*command, "--xfails-file", os.devnull]
    command += ["-p", "conformance.array_api.exhaust"]
    return [*command, "--xfails-file", str(EXPECTED_FAILURES), "-o", "xfail_strict=true"]


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "strata_api"


def environment(settings: Settings, module: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the processes that test one namespace."""
    own = {
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": API_VERSION,
        "PYTHONPATH": os.pathsep.join(filter(None, [PROJECT, environ.get("PYTHONPATH")])),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(settings.cache / "examples" / module),
    }
    if "jax" in module:  # every new shape compiles; the test processes keep what they compiled
        own |= {
            "JAX_COMPILATION_CACHE_DIR": str(settings.cache / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    # Variables of these names would skip dtypes or tests behind our back.
    kept = {
        name: text
        for name, text in environ.items()
        if not name.startswith(("ARRAY_API_TESTS_", "PYTEST_"))
    }
    return {**kept, **own}


_TEST_LINE = re.compile(r"^\[gw\d+\] \[ *\d+%\] ([A-Z]+) ")
_TOTAL_LINE = re.compile(r"^\d+ workers? \[(\d+) items?\]")


class Bar:
    """A line on a terminal that shows how far pytest is; nothing anywhere else."""

    def __init__(self, label: str, stream: TextIO) -> None:
        self._label = label
        self._stream = stream
        self._shown = stream.isatty()
        self._start = time.monotonic()
        self._counts: dict[str, int] = {}
        self._total = 0

    def see(self, line: str) -> None:
        """Take one line of pytest's output into account."""
        if test := _TEST_LINE.match(line):
            outcome = test[1].lower()
            self._counts[outcome] = self._counts.get(outcome, 0) + 1
        elif total := _TOTAL_LINE.match(line):
            self._total = int(total[1])
        else:
            return
        if self._shown:
            self._stream.write(f"\r{self.text()}\x1b[K")
            self._stream.flush()

    def text(self) -> str:
        """Return the bar as it stands."""
        done = sum(self._counts.values())
        filled = 30 * done // self._total if self._total else 0
        failed = self._counts.get("failed", 0) + self._counts.get("error", 0)
        minutes, seconds = divmod(int(time.monotonic() - self._start), 60)
        return (
            f"{self._label} [{'#' * filled}{'.' * (30 - filled)}] {done} of {self._total}, "
            f"{failed} failed, {minutes}:{seconds:02}"
        )

    def close(self) -> None:
        """Leave the line empty."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


# what came of it


def expected_failures(text: str) -> list[str]:
    """Return the test ids of an expected-failures file; ``ValueError`` for one without a reason."""
    entries: list[str] = []
    explained = False
    for line in text.splitlines():
        if line.startswith("#"):
            explained = True
        elif not line.strip():
            explained = False
        elif explained:
            entries.append(line)
            explained = False
        else:
            raise ValueError(f"expected a comment with the reason above {line!r}")
    return entries


def complaints(settings: Settings, result: Result) -> list[str]:
    """Return all that keeps a run from being a success, one line each."""
    found = [f"FAILED {name}" for name in result.failed]
    found += [f"SKIPPED, though not by the suite's own rule: {name}" for name in result.stray_skips]
    if settings.selection is None and _is_ours(result.module):
        collected = result.report["summary"].get("collected", 0)
        if collected != TESTS:
            found.append(f"COLLECTED {collected} tests, where the pinned suite has {TESTS}")
        met = result.named("xfailed")
        listed = expected_failures(EXPECTED_FAILURES.read_text())
        found += [f"EXPECTED TO FAIL, but did not: {name}" for name in listed if name not in met]
    return found


def verdict(settings: Settings, result: Result) -> Iterator[str]:
    """Yield the lines that tell a reader what came of one namespace."""
    summary = dict(result.report["summary"])
    collected = summary.pop("collected", 0)
    summary.pop("total", None)
    summary.pop("deselected", None)
    counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(summary.items()))
    if "failed" not in summary:
        counts += ", 0 failed"
    yield f"{result.module}: {collected} collected: {counts} in {result.report['duration']:.0f} s"
    found = complaints(settings, result)
    yield from (f"  {line}" for line in found)
    if found:
        yield f"  the whole output: {result.log}"


def record(settings: Settings, result: Result) -> Record:
    """Return the short form of a result, for conformance/report.py."""
    summary = result.report["summary"]
    counts = {
        "collected": summary.get("collected", 0),
        "passed": summary.get("passed", 0),
        "failed": len(result.failed),
        "xfailed": summary.get("xfailed", 0),
        "skipped": summary.get("skipped", 0),
    }
    return Record(
        suite=checkout.SUITE.name,
        revision=checkout.commit_of(settings.suite) or "unknown",
        claim=CLAIM if _is_ours(result.module) else "",
        subject=result.module,
        command=_command(settings, result.module),
        whole=settings.selection is None,
        versions=_versions(result.module),
        counts=counts,
        failed=result.failed,
        expected=result.named("xfailed"),
        skipped=result.named("skipped"),
    )


def _command(settings: Settings, module: str) -> str:
    backend = module.rpartition(".")[2]
    tested = ["--backend", backend] if _is_ours(module) else ["--module", module]
    words = ["strata-api", "conformance", *tested, "--max-examples", str(settings.max_examples)]
    if settings.selection is not None:
        words += ["-k", settings.selection]
    if settings.seed is not None:
        words += ["--seed", str(settings.seed)]
    return shlex.join(words)


def _versions(module: str) -> dict[str, str]:
    names = dict.fromkeys([_distribution(module), "numpy", "ml_dtypes"])
    if "jax" in module:
        names |= dict.fromkeys(["jax", "jaxlib"])
    found = {name: version(name) for name in names}
    return {**found, "Python": platform.python_version(), "hypothesis": version("hypothesis")}


def _distribution(module: str) -> str:
    if _is_ours(module):  # an editable installation does not list its packages
        return "strata-api"
    return packages_distributions()[module.partition(".")[0]][0]


def compliance(settings: Settings, result: Result) -> dict[str, object]:
    """Return a result in the schema of data-apis/array-api-tests-compliance-data, version 1."""
    distribution = _distribution(result.module)
    created = time.gmtime(result.report["created"])
    return {
        "schema": "v1",
        "name": distribution,
        "version": version(distribution),
        "api_version": API_VERSION,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", created),
        "platform": {
            "description": platform.platform(),
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
        },
        "execution_target": execution_target(result.module),
        "python": platform.python_version(),
        "test_suite": checkout.commit_of(settings.suite),
        "data": {key: result.report[key] for key in ("duration", "exitcode", "summary", "tests")},
    }


_ASK_JAX = """
import json, jax
device = jax.devices()[0]
client = device.client
print(json.dumps([device.platform, device.device_kind, client.platform_version]))
"""


def execution_target(module: str) -> dict[str, str]:
    """Return on what the tests of a namespace ran, asking JAX in a process of its own."""
    if "jax" not in module:
        return {"kind": "cpu"}
    asked = subprocess.run(
        [sys.executable, "-c", _ASK_JAX], capture_output=True, text=True, check=True
    )
    return target_of(*json.loads(asked.stdout.splitlines()[-1]))


def target_of(platform_name: str, device: str, runtime: str) -> dict[str, str]:
    """Return the schema's execution target for what JAX says of its first device."""
    if platform_name in ("cpu", "tpu"):
        return {"kind": platform_name, "backend": "xla"}
    if platform_name not in ("gpu", "cuda", "rocm"):
        return {"kind": "other", "backend": platform_name.lower(), "device_model": device}
    backend = "rocm" if "rocm" in f"{platform_name} {runtime}".lower() else "cuda"
    return {"kind": "gpu", "backend": backend, "device_model": device}
