"""What all tests share: the backend, the profiles of hypothesis, and the guard against tracers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import pytest
from hypothesis import settings

HAS_JAX = find_spec("jax") is not None
BACKENDS = ("numpy", "jax")

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=5000, deadline=None)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


def pytest_report_header() -> str:
    """Say which backends are tested, and loudly if JAX is not."""
    if HAS_JAX:
        return "backends: numpy, jax"
    return "backends: numpy -- JAX IS NOT INSTALLED: every test on the JAX backend is skipped"


def namespace(name: str) -> ModuleType:
    """Return the namespace bound to a backend; skip the test where JAX is not installed."""
    if name == "jax" and not HAS_JAX:
        pytest.skip("JAX is not installed")
    return import_module(f"strata_api.{name}")


@pytest.fixture(params=BACKENDS, scope="session")
def backend(request: pytest.FixtureRequest) -> ModuleType:
    """The namespace bound to each backend with data, in turn."""
    return namespace(request.param)


@pytest.fixture(scope="session")
def numpy_backend() -> ModuleType:
    """The namespace bound to NumPy."""
    return namespace("numpy")


@pytest.fixture(scope="session")
def jax_backend() -> ModuleType:
    """The namespace bound to JAX."""
    return namespace("jax")


@pytest.fixture
def no_leaked_tracers() -> Iterator[None]:
    """Fail the test if a tracer outlives its transformation."""
    if not HAS_JAX:
        pytest.skip("JAX is not installed")
    jax = import_module("jax")
    with jax.checking_leaks():
        yield
