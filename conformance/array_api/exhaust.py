"""A pytest plugin: a test that is expected to fail draws enough examples to be sure to do so.

Such a test fails for a few of its inputs only. With the number of examples of a short run it would
pass now and then, and count as an expected failure that does not fail.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from conformance.array_api.run import EXPECTED_FAILURES, expected_failures

EXAMPLES = 2000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the listed tests their number of examples."""
    listed = set(expected_failures(EXPECTED_FAILURES.read_text()))
    for item in items:
        if item.nodeid in listed and isinstance(item, pytest.Function):
            settings(max_examples=max(EXAMPLES, settings().max_examples))(item.obj)
