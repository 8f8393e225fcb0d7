"""The pinned checkout of the suite: where it is looked for, and how it is fetched.

Nothing of the suite is ever part of this project; it is run where it lies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

API_VERSION = "2025.12"


@dataclass(frozen=True, slots=True)
class Repository:
    """A public repository at the commit we test against."""

    name: str
    commit: str

    @property
    def url(self) -> str:
        """Where the public clones it from."""
        return f"https://github.com/data-apis/{self.name}"

    @property
    def places(self) -> tuple[str, ...]:
        """Where it may lie in a folder of repositories."""
        owned = f"data-apis+{self.name}"
        return (self.name, f"{self.name}.git", f"data-apis/{self.name}", owned, f"{owned}/repo")


SUITE = Repository("array-api-tests", "55fcc60179efa2680ddd6cd926ddf17b83530e2b")
STANDARD = Repository("array-api", "5f847a3858875c682ae901aa22b0413bf24be9da")

ADVICE = f"""\
the suite {SUITE.name} is not here. Any of these provides it:
  strata-api conformance --fetch              clone it into the cache folder (needs git)
  strata-api conformance --fetch --from PLACE clone it from a directory or another URL
  strata-api conformance --suite-dir DIR      use a checkout of commit {SUITE.commit[:12]},
                                              its submodule {STANDARD.name} filled
  ARRAY_API_TESTS_DIR=DIR                     the same, by the environment"""


class CheckoutError(Exception):
    """There is no usable checkout; the text says what to do."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return our own cache folder."""
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "strata-api"


def locate(given: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the checkout to run: the one given, the environment's, or the one in the cache.

    Raises: ``CheckoutError`` if there is none, or if the first of these is not a filled checkout.
    """
    named = environ.get("ARRAY_API_TESTS_DIR")
    cached = cache_folder(environ) / SUITE.name
    chosen = given or (Path(named) if named else cached)
    if chosen == cached and not cached.exists():
        raise CheckoutError(ADVICE)
    problem = fault(chosen)
    if problem:
        raise CheckoutError(f"{chosen}: {problem}\n{ADVICE}")
    return chosen.resolve()


def fault(folder: Path) -> str | None:
    """Return what a folder lacks to be a filled checkout of the suite, or None."""
    if not folder.is_dir():
        return "no such folder"
    if not (folder / "array_api_tests/stubs.py").is_file():
        return f"not a checkout of {SUITE.name}: it has no array_api_tests/stubs.py"
    if not (folder / STANDARD.name / "spec" / API_VERSION).is_dir():
        return f"its submodule {STANDARD.name} is not filled (git submodule update --init)"
    return None


def commit_of(folder: Path) -> str | None:
    """Return the commit checked out in a folder, or None where git does not know it."""
    if not (folder / ".git").exists():  # git would answer for a repository around it
        return None
    try:
        return _git("-C", str(folder), "rev-parse", "HEAD")
    except CheckoutError:
        return None


def fetch(source: str | None, into: Path) -> None:
    """Fill a folder with the pinned suite, from a place that ``sources`` understands.

    Raises: ``CheckoutError``; the folder is then as it was.
    """
    part = into.with_name(f"{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        _fill(source, part)
        shutil.rmtree(into, ignore_errors=True)
        part.rename(into)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fill(source: str | None, folder: Path) -> None:
    if source is not None and _is_pinned(Path(source)):
        shutil.copytree(source, folder, dirs_exist_ok=True, symlinks=True)
        return
    suite, standard = sources(source)
    _clone(suite, SUITE.commit, folder)
    _clone(standard, STANDARD.commit, folder / STANDARD.name)
    problem = fault(folder)
    if problem:
        raise CheckoutError(f"{source}: {problem}")


def _is_pinned(folder: Path) -> bool:
    """Tell whether a folder is a filled checkout of the pins, as far as git knows them."""
    return (
        fault(folder) is None
        and commit_of(folder) in (SUITE.commit, None)
        and commit_of(folder / STANDARD.name) in (STANDARD.commit, None)
    )


def sources(source: str | None) -> tuple[str, str]:
    """Return where to clone the suite and the standard from.

    The public repositories; or a folder that holds both; or one repository of the suite, whose
    standard lies inside it (a submodule) or at the same place under its own name.
    Raises: ``CheckoutError`` if the second place cannot be told from the first.
    """
    if source is None:
        return SUITE.url, STANDARD.url
    folder = Path(source)
    if not folder.is_dir():
        return source, _sibling(source)
    suite, standard = _member(folder, SUITE), _member(folder, STANDARD)
    if suite and standard:
        return suite, standard
    if not _is_repository(folder):
        raise CheckoutError(
            f"{source}: expected a git repository of {SUITE.name}, "
            f"or a folder with {SUITE.name} and {STANDARD.name} in it"
        )
    place = str(folder.resolve())
    return place, standard or _sibling(place)


def _member(folder: Path, repository: Repository) -> str | None:
    found = (folder / place for place in repository.places)
    return next((str(path.resolve()) for path in found if _is_repository(path)), None)


def _is_repository(folder: Path) -> bool:
    bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    return bare or (folder / ".git").exists()


def _sibling(place: str) -> str:
    before, name, after = place.rpartition(SUITE.name)
    if not name:
        raise CheckoutError(
            f"{place}: expected a place named {SUITE.name}, to find {STANDARD.name} beside it"
        )
    return f"{before}{STANDARD.name}{after}"


def _clone(source: str, commit: str, into: Path) -> None:
    """Check one commit out, alone; with all branches where a server will not give one commit."""
    _git("init", "--quiet", str(into))
    here = ("-C", str(into))
    try:
        _git(*here, "fetch", "--quiet", "--depth", "1", source, commit)
    except CheckoutError:
        _git(*here, "fetch", "--quiet", source, "+refs/heads/*:refs/remotes/origin/*")
    _git(*here, "checkout", "--quiet", "--detach", commit)


def _git(*arguments: str) -> str:
    # A hook or a rebase around us sets GIT_DIR and the like; this is about other repositories.
    environ = {k: v for k, v in os.environ.items() if k not in _REPOSITORY_VARIABLES}
    command = ["git", *arguments]
    try:
        done = subprocess.run(
            command,
            env=environ | {"GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise CheckoutError("git is needed to fetch the suite, and is not installed") from None
    if done.returncode:
        raise CheckoutError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


_REPOSITORY_VARIABLES = frozenset(
    ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
)
