"""The command ``strata-api``: what is installed, a demonstration, conformance, completion.

Exit codes: 0, all is well; 1, the answer is no (results differ, a test failed); 2, the command
could not be carried out (wrong usage, or something it needs is missing); 130, interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import strata_api
from strata_api import _context, backends

BACKENDS = ("numpy", "jax")
# The suites that `conformance` knows, and the folder under conformance/ whose run.py runs each.
SUITES = {"array-api": "array_api"}

_JAX_MISSING = 'not installed (pip install "strata-api[jax]")'
_EXIT_CODES = (
    "exit codes: 0 all is well; 1 the answer is no (results differ, a test failed); "
    "2 it could not be carried out (wrong usage, something missing); 130 interrupted"
)

Run: TypeAlias = Callable[[argparse.Namespace], int]
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command line and return its exit code."""
    options = parser().parse_args(argv)
    run: Run = options.run
    try:
        code = run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader went away; what is left to flush at exit goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return code


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="strata-api",
        description="The array API on NumPy and JAX, where views and writes mean the same.",
        epilog=_EXIT_CODES,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"strata-api {version('strata-api')}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_info(commands)
    _add_demo(commands)
    _add_conformance(commands)
    _add_completion(commands)
    return top


def _add_command(commands: Commands, name: str, run: Run, summary: str) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=_EXIT_CODES,
        allow_abbrev=False,
    )
    command.set_defaults(run=run)
    return command


# info


@dataclass(frozen=True, slots=True)
class Info:
    """What `strata-api info` tells: versions, defaults, and each backend's devices or its lack."""

    versions: dict[str, str]
    default_backend: str
    default_dtypes: dict[str, str]
    devices: dict[str, list[str]]
    unavailable: dict[str, str]


def _add_info(commands: Commands) -> None:
    command = _add_command(
        commands, "info", _info, "show versions, backends, devices and default dtypes"
    )
    command.add_argument("--json", action="store_true", help="print it as JSON")


def _info(options: argparse.Namespace) -> int:
    info = gather_info()
    print(json.dumps(asdict(info), indent=2) if options.json else "\n".join(_info_lines(info)))
    return 0


def gather_info() -> Info:
    """Return what is installed and what holds in this process."""
    devices: dict[str, list[str]] = {}
    unavailable: dict[str, str] = {}
    for backend in BACKENDS:
        if backend not in backends.available():
            unavailable[backend] = _JAX_MISSING
            continue
        try:
            info = backends.namespace(backend).__array_namespace_info__()
            devices[backend] = [str(device) for device in info.devices()]
        except (ImportError, RuntimeError) as error:  # a broken installation is news, not a crash
            unavailable[backend] = f"{type(error).__name__}: {error}"
    dtypes = strata_api.__array_namespace_info__().default_dtypes()
    return Info(
        versions=_versions(),
        default_backend=_context.backend_now(),
        default_dtypes={kind: str(dtype) for kind, dtype in dtypes.items()},
        devices=devices,
        unavailable=unavailable,
    )


def _versions() -> dict[str, str]:
    found = {
        "strata-api": version("strata-api"),
        "array API": strata_api.__array_api_version__,
        "Python": platform.python_version(),
    }
    for name in ("numpy", "ml_dtypes", "array-api-compat", "jax", "jaxlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _info_lines(info: Info) -> Iterator[str]:
    yield "versions"
    yield from (f"  {name:<20}{text}" for name, text in info.versions.items())
    yield "backends"
    for backend in BACKENDS:
        text = info.unavailable.get(backend) or ", ".join(info.devices[backend])
        default = "  (default)" if backend == info.default_backend else ""
        yield f"  {backend:<20}{text}{default}"
    yield "default dtypes"
    yield from (f"  {kind:<20}{dtype}" for kind, dtype in info.default_dtypes.items())


# demo


def relax_plate(xp: ModuleType) -> strata_api.Array:
    """Relax a plate with one hot edge in place, then write through views of views."""
    plate: strata_api.Array = xp.zeros((7, 7))
    plate[0, :] = 64
    inner = plate[1:-1, 1:-1]
    up, down, left, right = plate[:-2, 1:-1], plate[2:, 1:-1], plate[1:-1, :-2], plate[1:-1, 2:]
    for row, column in ((0, 0), (1, 1), (0, 1), (1, 0)) * 3:  # red points, then black ones
        at = (slice(row, None, 2), slice(column, None, 2))
        inner[at] = (up[at] + down[at] + left[at] + right[at]) / 4
    xp.linalg.diagonal(inner)[...] = -1
    turned = plate.T
    turned[turned > 48] = 48
    plate[-2:, :] += plate[-3:-1, :]
    return plate


def aliasing(xp: ModuleType) -> dict[str, bool]:
    """Return what must hold of views, writes and copies, and whether it does."""
    base = xp.arange(12.0)
    table = xp.reshape(base, (3, 4))
    block = table[1:, ::2]
    copy = xp.asarray(table, copy=True)
    block.T[...] = -1
    shown = base[4:].tolist() == [-1.0, 5.0, -1.0, 7.0, -1.0, 9.0, -1.0, 11.0]
    base[1:] = base[:-1]
    return {
        "a write through a view of a view reaches the base": shown,
        "a write to the base shows in a reshaped view": table[0, :2].tolist() == [0.0, 0.0],
        "a copy keeps its values": copy.tolist()[1] == [4.0, 5.0, 6.0, 7.0],
        "x[1:] = x[:-1] reads before it writes": base[1:4].tolist() == [0.0, 1.0, 2.0],
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the demonstration gave on one backend."""

    backend: str
    device: str
    dtype: str
    values: list[list[float]]
    facts: dict[str, bool]
    first_ms: float
    again_ms: float


def _add_demo(commands: Commands) -> None:
    command = _add_command(
        commands, "demo", _demo, "run one mutating, view-writing program on every backend there is"
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")


def _demo(options: argparse.Namespace) -> int:
    outcomes = [outcome_on(backend) for backend in backends.available()]
    same = agree(outcomes)
    if options.json:
        print(json.dumps({"same": same, "runs": [asdict(each) for each in outcomes]}, indent=2))
    else:
        print("\n".join(_demo_lines(outcomes, same)))
    return 0 if same else 1


def outcome_on(backend: str) -> Outcome:
    """Run the demonstration on one backend."""
    xp = backends.namespace(backend)
    first_ms, _ = _timed(xp)
    again_ms, plate = _timed(xp)
    return Outcome(
        backend=backend,
        device=str(plate.device),
        dtype=str(plate.dtype),
        values=plate.tolist(),
        facts=aliasing(xp),
        first_ms=round(first_ms, 2),
        again_ms=round(again_ms, 2),
    )


def _timed(xp: ModuleType) -> tuple[float, strata_api.Array]:
    start = time.perf_counter()
    plate = relax_plate(xp)
    plate.tolist()  # waits for a backend that computes behind our back
    return (time.perf_counter() - start) * 1e3, plate


def agree(outcomes: Sequence[Outcome]) -> bool:
    """Tell whether all backends gave the first one's dtype and values, and every fact holds."""
    first = outcomes[0]
    return all(
        each.dtype == first.dtype and each.values == first.values and all(each.facts.values())
        for each in outcomes
    )


def _demo_lines(outcomes: Sequence[Outcome], same: bool) -> Iterator[str]:
    first = outcomes[0]
    yield "One program, written as for NumPy, run on every backend:\n"
    yield from (f"    {line}" for line in inspect.getsource(relax_plate).splitlines())
    yield f"\nWhat it returns, on {first.backend}:\n"
    yield from ("    " + " ".join(f"{value:8.3f}" for value in row) for row in first.values)
    yield ""
    yield f"{'':52}" + "".join(f"{each.backend:>14}" for each in outcomes)
    yield _row("device", [each.device for each in outcomes])
    yield _row("dtype", [each.dtype for each in outcomes])
    for fact in first.facts:
        yield _row(fact, ["yes" if each.facts[fact] else "NO" for each in outcomes])
    for each in outcomes[1:]:
        equal = each.values == first.values
        yield _row(
            f"values equal to {first.backend}'s, bit for bit", ["", "yes" if equal else "NO"]
        )
    yield _row("time, first run", [f"{each.first_ms:.2f} ms" for each in outcomes])
    yield _row("time, again", [f"{each.again_ms:.2f} ms" for each in outcomes])
    yield ""
    yield from (f"{name}: {_JAX_MISSING}" for name in BACKENDS if name not in backends.available())
    names = " and ".join(each.backend for each in outcomes)
    yield f"Result: the same on {names}." if same else f"Result: {names} DIFFER."


def _row(label: str, cells: Sequence[str]) -> str:
    return f"{label:52}" + "".join(f"{cell:>14}" for cell in cells)


# conformance


def _add_conformance(commands: Commands) -> None:
    command = _add_command(
        commands, "conformance", _conformance, "run other people's test suites on our backends"
    )
    command.add_argument(
        "--suite",
        default="array-api",
        metavar="SUITE|DIR",
        help=f"which suite: {', '.join(SUITES)} (default: array-api); "
        "a directory means array-api, from there",
    )
    command.add_argument(
        "--suite-dir", type=Path, metavar="DIR", help="the checkout of the suite to run"
    )
    command.add_argument(
        "--backend",
        choices=(*BACKENDS, "all"),
        default="all",
        help="the backends to test (default: all that are installed)",
    )
    command.add_argument(
        "--module", metavar="NAME", help="test this namespace instead, to compare with a peer"
    )
    command.add_argument("-k", dest="selection", metavar="EXPR", help="as pytest's -k")
    command.add_argument(
        "--max-examples",
        type=_positive,
        default=100,
        metavar="N",
        help="examples for each test (default: 100)",
    )
    command.add_argument("--seed", type=int, metavar="N", help="draw the same examples each time")
    command.add_argument(
        "--jobs",
        type=_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="worker processes (default: one for each core)",
    )
    command.add_argument(
        "--json", type=Path, metavar="FILE", help="write counts and failing tests to FILE"
    )
    command.add_argument(
        "--compliance",
        type=Path,
        metavar="DIR",
        help="write for each backend DIR/NAME.json, in the schema of the public dashboard",
    )
    command.add_argument(
        "--fetch", action="store_true", help="fetch the pinned suite into the cache, and stop"
    )
    command.add_argument(
        "--from",
        dest="source",
        metavar="DIR|URL",
        help="where --fetch clones from: a checkout, a git repository, a folder of repositories",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {value}")
    return value


def _conformance(options: argparse.Namespace) -> int:
    if options.suite not in SUITES and Path(options.suite).is_dir():
        options.suite_dir, options.suite = Path(options.suite), "array-api"
    if options.suite not in SUITES:
        return _refuse(f"--suite: expected {', '.join(SUITES)} or a directory, got {options.suite}")
    if options.source is not None and not options.fetch:
        return _refuse("--from says where --fetch clones from, and --fetch was not given")
    if options.backend not in ("all", *backends.available()):
        return _refuse(f"--backend {options.backend}: {_JAX_MISSING}")
    project = project_folder()
    if project is None:
        return _refuse(
            "conformance runs from a source checkout of strata-api, since its runners live in the "
            "folder conformance/; clone the project and run the command inside it"
        )
    run: Run = suite_module(project, options.suite).run
    return run(options)


def _refuse(message: str) -> int:
    print(f"strata-api: {message}", file=sys.stderr)
    return 2


def project_folder() -> Path | None:
    """Return the source checkout: the one this package lies in, or the one we stand in."""
    here = Path.cwd()
    for folder in (*Path(__file__).resolve().parents, here, *here.parents):
        if (folder / "conformance/array_api/run.py").is_file():
            return folder
    return None


def suite_module(project: Path, suite: str) -> ModuleType:
    """Import the runner of a suite from the checkout's folder ``conformance``."""
    if str(project) not in sys.path:
        sys.path.insert(0, str(project))
    return importlib.import_module(f"conformance.{SUITES[suite]}.run")


# completion


@dataclass(frozen=True, slots=True)
class Words:
    """What may follow one command: words with their help, and the choices of its options."""

    path: tuple[str, ...]
    words: dict[str, str]
    choices: dict[str, tuple[str, ...]]


def _add_completion(commands: Commands) -> None:
    command = _add_command(
        commands, "completion", _completion, "print a script that completes this command in a shell"
    )
    command.add_argument("shell", choices=tuple(_SCRIPTS), help="the shell to print it for")


def _completion(options: argparse.Namespace) -> int:
    print(completion_script(options.shell))
    return 0


def completion_script(shell: str) -> str:
    """Return the completion script of one shell, made from the parser."""
    table = sorted(_vocabulary(parser(), ()), key=lambda entry: -len(entry.path))
    return "\n".join(_SCRIPTS[shell](table))


def _vocabulary(command: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[Words]:
    words: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for action in command._actions:  # argparse offers no public way to list them
        if isinstance(action, argparse._SubParsersAction):
            words |= {each.dest: each.help or "" for each in action._choices_actions}
            for name, below in action.choices.items():
                yield from _vocabulary(below, (*path, name))
            continue
        named = tuple(str(choice) for choice in action.choices or ())
        if not action.option_strings:
            words |= dict.fromkeys(named, "")
        for option in action.option_strings:
            words[option] = action.help or ""
            if named:
                choices[option] = named
    yield Words(path, words, choices)


def _bash(table: Sequence[Words]) -> Iterator[str]:
    yield "_strata_api() {"
    yield '  local current=${COMP_WORDS[COMP_CWORD]} line="${COMP_WORDS[*]:1:COMP_CWORD-1} " next'
    yield from _cases(table)
    yield '  mapfile -t COMPREPLY < <(compgen -W "$next" -- "$current")'
    yield "}"
    yield "complete -o default -F _strata_api strata-api"


def _zsh(table: Sequence[Words]) -> Iterator[str]:
    yield "#compdef strata-api"
    yield "_strata_api() {"
    yield '  local line="${words[2,CURRENT-1]} " next'
    yield from _cases(table)
    yield "  compadd -- ${=next} || _files"
    yield "}"
    yield "compdef _strata_api strata-api"


def _cases(table: Sequence[Words]) -> Iterator[str]:
    yield '  case "$line" in'
    for entry in table:
        before = "".join(f"{word} " for word in entry.path)
        for option, named in entry.choices.items():
            yield f'    "{before}"*"{option} ") next="{" ".join(named)}" ;;'
        yield f'    "{before}"*) next="{" ".join(entry.words)}" ;;'
    yield "  esac"


def _fish(table: Sequence[Words]) -> Iterator[str]:
    for entry in table:
        seen = [f"__fish_seen_subcommand_from {word}" for word in entry.path]
        condition = "; and ".join(seen) or "__fish_use_subcommand"
        for word, text in entry.words.items():
            named = " ".join(entry.choices.get(word, ()))
            argument = f" -x -a '{named}'" if named else ""
            offered = f"{_fish_word(word)}{argument} -d {text!r}"
            yield f"complete -c strata-api -n '{condition}' {offered}"


def _fish_word(word: str) -> str:
    if word.startswith("--"):
        return f"-l {word[2:]}"
    return f"-s {word[1:]}" if word.startswith("-") else f"-f -a {word}"


_SCRIPTS: dict[str, Callable[[Sequence[Words]], Iterator[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
