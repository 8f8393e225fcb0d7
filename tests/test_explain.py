"""What `explain` lists: programs compiled, arrays copied, writes not done in place, and where."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import strata_api
from conftest import HAS_JAX
from oracle import array
from strata_api import explain, jit

needs_jax = pytest.mark.skipif(not HAS_JAX, reason="JAX is not installed")


def test_a_reshape_that_copies_is_listed_with_its_line(backend: Any) -> None:
    x = array(backend, np.ones((2, 3)))
    with explain(io.StringIO()) as report:
        backend.reshape(x, (6,))
        backend.reshape(x.T, (6,))  # this line
    (note,) = report.of("copy")
    assert "reshape" in note.what
    assert note.file == __file__
    assert "this line" in str(note)


def test_nothing_is_listed_outside_of_the_block(backend: Any) -> None:
    x = array(backend, np.ones((2, 3)))
    with explain(io.StringIO()) as report:
        pass
    backend.reshape(x.T, (6,))
    assert len(report) == 0


def test_blocks_nest(backend: Any) -> None:
    x = array(backend, np.ones((2, 3)))
    with explain(io.StringIO()) as outer:
        backend.reshape(x.T, (6,))
        with explain(io.StringIO()) as inner:
            backend.reshape(x.T, (3, 2, 1))  # a view
            backend.reshape(x.T, (2, 3))
    assert len(inner.of("copy")) == 1
    assert len(outer.of("copy")) == 2


def test_the_list_is_printed_at_the_end_even_after_an_error(
    backend: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    x = array(backend, np.ones((2, 3)))
    with pytest.raises(ValueError, match="reshape"), explain():
        backend.reshape(backend.reshape(x.T, (6,)), (5,))
    assert "copy: reshape" in capsys.readouterr().out
    file = io.StringIO()
    with explain(file):
        pass
    assert file.getvalue() == "compilation: 0, copy: 0, refused donation: 0\n"


@needs_jax
def test_a_program_is_listed_when_it_is_compiled_and_not_again() -> None:
    @jit
    def shifted(x: Any) -> None:
        x[1:] = x[:-1]

    x = array(strata_api.jax, np.ones(37))
    with explain(io.StringIO()) as first:
        shifted(x)
    with explain(io.StringIO()) as second:
        shifted(x)
        shifted(x)
    assert sum("shifted" in note.what for note in first.of("compilation")) == 1
    assert all(note.file == __file__ for note in first)
    assert second.of("compilation") == []


@needs_jax
def test_a_loop_of_writes_compiles_for_its_first_steps_alone() -> None:
    x = array(strata_api.jax, np.ones(41))
    for i in range(2):
        x[i] = x[i + 1]
        x[i : i + 3] += 1.0
    with explain(io.StringIO()) as report:
        for i in range(2, 30):
            x[i] = x[i + 1]
            x[i : i + 3] += 1.0
    assert list(report) == []


@needs_jax
def test_a_write_says_why_it_copies() -> None:
    import jax

    x = array(strata_api.jax, np.ones(8))
    x[0] = 0.0
    with explain(io.StringIO()) as report:
        x[0] = 1.0
    assert not report.of("copy")
    assert not report.of("refused donation")

    held = np.asarray(x)
    with explain(io.StringIO()) as report:
        x[0] = 2.0
    assert len(report.of("refused donation")) == 1
    del held

    leaves = jax.tree_util.tree_leaves(x)
    with explain(io.StringIO()) as report:
        jit(lambda x: x.__setitem__(0, 3.0))(x)
        x[0] = 4.0
    assert ["handed out" in note.what for note in report.of("copy")] == [True]
    assert np.asarray(leaves[0])[0] == 2

    taken = strata_api.asarray(jax.numpy.ones(8))
    with explain(io.StringIO()) as report:
        taken[0] = 5.0
        taken[0] = 6.0
    assert len(report.of("copy")) == 1
