"""Linear algebra: products and norms against NumPy's, decompositions by what they promise."""

from __future__ import annotations

from importlib import import_module
from math import inf, nan
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import strata_api.abstract as abstract
from oracle import array, check_equal, check_same, host, some
from strata_api import Dimension, strict
from strategies import counted, small_shapes

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
LAPACK = [np.dtype(name) for name in ("f4", "f8", "c8", "c16")]
OTHERS = ["i8", "f2", BFLOAT16, "bool"]
LinAlgError = np.linalg.LinAlgError


def matrices(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    """Return well-conditioned matrices with random elements."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.uniform(-1, 1, shape)
    return (x + 2 * np.eye(*shape[-2:])).astype(dtype)


def symmetric(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return positive-definite matrices."""
    x = matrices(shape, dtype)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1])).astype(dtype)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def check_near(have: Any, want: Any, what: object = "") -> None:
    """Check dtype and shape, and values up to some hundred units of rounding."""
    have, want = host(have), np.asarray(want)
    assert have.dtype == want.dtype, f"{what}: expected {want.dtype}, got {have.dtype}"
    assert have.shape == want.shape, f"{what}: expected {want.shape}, got {have.shape}"
    tolerance = 500 * np.finfo(want.dtype).eps
    np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance, err_msg=str(what))


# -- products --------------------------------------------------------------------------------------


def test_matmul_is_numpys_for_every_pair_of_small_shapes(backend: ModuleType) -> None:
    shapes = small_shapes(rank=3, most=2)
    cases = [(left, right) for left in shapes for right in shapes]
    for left, right in some(backend, cases, 60):
        x1, x2 = counted(left), counted(right)
        check_same(
            lambda x1=x1, x2=x2: backend.matmul(array(backend, x1), array(backend, x2)),
            lambda x1=x1, x2=x2: np.matmul(x1, x2),
            what=(left, right),
        )


def test_matmul_promotes_and_is_the_operator(backend: ModuleType) -> None:
    x, y = array(backend, matrices((3, 3), "f4")), array(backend, matrices((3, 3), "f8", 1))
    check_near(backend.matmul(x, y), host(x) @ host(y))
    check_equal(x @ y, host(backend.matmul(x, y)))
    x @= y[:, :3].mT
    assert x.dtype == np.float32
    with pytest.raises(TypeError, match="matmul: expected a numeric dtype"):
        backend.matmul(array(backend, np.ones((2, 2), bool)), array(backend, np.ones((2, 2), bool)))
    with pytest.raises(ValueError, match="the inner extents 3 and 2 differ"):
        backend.matmul(array(backend, np.ones((2, 3))), array(backend, np.ones((2, 3))))


@pytest.mark.parametrize("dtype", ["f2", BFLOAT16], ids=str)
def test_products_of_16_bit_numbers_are_rounded_once(backend: ModuleType, dtype: Any) -> None:
    x = array(backend, np.array([[256, 1, -256]], dtype))
    ones = array(backend, np.ones(3, dtype))
    check_equal(backend.matmul(x, ones), np.ones(1, dtype))
    check_equal(backend.vecdot(x, ones), np.ones(1, dtype))
    check_equal(backend.tensordot(x, ones, axes=1), np.ones(1, dtype))
    many = array(backend, np.ones(4096, dtype))
    check_equal(backend.matmul(many, many), np.asarray(4096, dtype))


def test_matmul_of_views_of_any_order_is_row_major(numpy_backend: ModuleType) -> None:
    x = numpy_backend.asarray(matrices((3, 4, 4), "f8"))
    for left, right in ((x.mT, x), (x[:, ::-1], x.mT), (x, x[0].T)):
        for _ in range(2):
            result = numpy_backend.matmul(left, right)
            check_near(result, host(left) @ host(right))
            assert np.asarray(result).flags.c_contiguous


def test_tensordot_is_numpys(backend: ModuleType) -> None:
    x1, x2 = counted((2, 3, 4)), counted((4, 3, 2))
    ours = array(backend, x1), array(backend, x2)
    for axes in (0, 1, ([1], [1]), ((0, 2), (2, 0)), ([-1, 0], [0, -1]), ((), ()), (2, 0)):
        check_equal(backend.tensordot(*ours, axes=axes), np.tensordot(x1, x2, axes), what=axes)
    for axes in (2, 3, 4, -1, ([0], [0]), ([0, 1], [2]), ([0, 0], [2, 2]), (0, 1, 2), "ab"):
        with pytest.raises((ValueError, TypeError)):
            backend.tensordot(*ours, axes=axes)
    with pytest.raises(IndexError, match="out of range"):
        backend.tensordot(*ours, axes=([3], [0]))


def test_vecdot_conjugates_the_first_and_broadcasts_the_rest(backend: ModuleType) -> None:
    x1 = matrices((2, 3), "c16")
    x2 = matrices((4, 1, 3), "c16", 1)
    check_near(
        backend.vecdot(array(backend, x1), array(backend, x2)), np.sum(np.conj(x1) * x2, axis=-1)
    )
    x3 = matrices((4, 2, 3), "f8")
    real = array(backend, x3), array(backend, x3[0])
    check_near(backend.vecdot(*real, axis=-2), np.sum(x3 * x3[0], axis=-2))
    check_near(backend.vecdot(real[0], real[0], axis=0), np.sum(x3 * x3, axis=0))
    with pytest.raises(ValueError, match="extents along axis -1 differ"):
        backend.vecdot(real[0], array(backend, np.ones(1)))
    with pytest.raises(ValueError, match="negative axis"):
        backend.vecdot(*real, axis=0)
    with strict(), pytest.raises(ValueError, match="negative axis"):
        backend.vecdot(real[0], real[0], axis=0)


def test_cross_and_outer_are_numpys(backend: ModuleType) -> None:
    x1, x2 = counted((2, 1, 3)), counted((4, 3), start=-5)
    ours = array(backend, x1), array(backend, x2)
    check_equal(backend.linalg.cross(*ours), np.linalg.cross(x1, x2))
    check_equal(
        backend.linalg.cross(ours[1].mT, ours[1].mT + 1, axis=-2),
        np.linalg.cross(x2.T, x2.T + 1, axis=-2),
    )
    with pytest.raises(ValueError, match="extents of 3"):
        backend.linalg.cross(array(backend, np.ones(2)), array(backend, np.ones(3)))
    v, w = counted((3,)), counted((2,), np.int32)
    check_equal(backend.linalg.outer(array(backend, v), array(backend, w)), np.outer(v, w))
    with pytest.raises(ValueError, match="one axis"):
        backend.linalg.outer(*ours)


# -- views -----------------------------------------------------------------------------------------


def test_every_diagonal_is_numpys_and_can_be_written(backend: ModuleType) -> None:
    cases = [
        (shape, offset)
        for shape in small_shapes(rank=3, most=3)
        if len(shape) >= 2
        for offset in range(-4, 5)
    ]
    for shape, offset in some(backend, cases, 30):
        x = counted(shape)
        ours = array(backend, x)
        want = np.diagonal(x, offset, -2, -1)
        check_equal(backend.linalg.diagonal(ours, offset=offset), want, what=(shape, offset))
        backend.linalg.diagonal(ours, offset=offset)[...] = -1
        mask = np.eye(*shape[-2:], k=offset, dtype=bool)
        check_equal(ours, np.where(mask, -1, x), what=(shape, offset))


def test_the_transpose_is_a_view(backend: ModuleType) -> None:
    x = array(backend, counted((2, 3, 4)))
    transposed = backend.matrix_transpose(x)
    check_equal(transposed, np.swapaxes(counted((2, 3, 4)), 1, 2))
    transposed[0, 3, 2] = -1
    assert int(x[0, 2, 3]) == -1
    with pytest.raises(ValueError, match="two axes or more"):
        backend.matrix_transpose(x[0, 0])


def test_trace_is_numpys(backend: ModuleType) -> None:
    for dtype in ("i1", "u2", "f4", "c16", "bool"):
        x = counted((2, 3, 4)).astype(dtype)
        for offset in (-3, -1, 0, 2, 5):
            check_equal(
                backend.linalg.trace(array(backend, x), offset=offset),
                np.linalg.trace(x, offset=offset),
                what=(dtype, offset),
            )
    x = array(backend, np.eye(2, dtype="u1"))
    assert backend.linalg.trace(x, dtype=np.dtype("float32")).dtype == np.float32


# -- decompositions --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", LAPACK, ids=str)
def test_inverses_solutions_and_determinants(backend: ModuleType, dtype: Any) -> None:
    for shape in ((3, 3), (2, 3, 3), (0, 0), (0, 3, 3), (1, 1)):
        x = matrices(shape, dtype)
        ours = array(backend, x)
        check_near(backend.linalg.inv(ours), np.linalg.inv(x), what=shape)
        check_near(backend.linalg.det(ours), np.linalg.det(x), what=shape)
        found = backend.linalg.slogdet(ours)
        assert type(found)._fields == ("sign", "logabsdet")
        for have, want in zip(found, np.linalg.slogdet(x), strict=True):
            check_near(have, want, what=shape)
        for n in (-2, 0, 1, 3):
            check_near(
                backend.linalg.matrix_power(ours, n), np.linalg.matrix_power(x, n), what=(shape, n)
            )


def test_solve_takes_a_vector_only_where_there_is_one_axis(backend: ModuleType) -> None:
    for left, right in (
        ((3, 3), (3,)),
        ((2, 3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3, 1)),
        ((3, 3), (2, 3, 1)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((2, 2, 2), (2, 2)),
        ((0, 0), (0,)),
        ((3, 3), (3, 0)),
        ((3, 3), (2,)),
        ((3, 3), ()),
        ((2, 3), (2,)),
        ((2, 3, 3), (3, 3, 2)),
    ):
        x1 = matrices(left, "f8")
        x2 = np.random.default_rng(8).uniform(-1, 1, right)
        try:
            want = np.linalg.solve(x1, x2)
        except ValueError:
            with pytest.raises(ValueError, match="solve: "):
                backend.linalg.solve(array(backend, x1), array(backend, x2))
        else:
            have = backend.linalg.solve(array(backend, x1), array(backend, x2))
            check_near(have, want, what=(left, right))


@pytest.mark.parametrize("dtype", LAPACK, ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 0), (0, 2, 2)], ids=str)
def test_symmetric_decompositions(backend: ModuleType, dtype: Any, shape: tuple[int, ...]) -> None:
    x = symmetric(shape, dtype)
    ours = array(backend, x)
    lower = host(backend.linalg.cholesky(ours))
    check_near(lower @ adjoint(lower), x)
    np.testing.assert_array_equal(lower, np.tril(lower))
    upper = host(backend.linalg.cholesky(ours, upper=True))
    check_near(adjoint(upper) @ upper, x)
    np.testing.assert_array_equal(upper, np.triu(upper))
    found = backend.linalg.eigh(ours)
    assert type(found)._fields == ("eigenvalues", "eigenvectors")
    vectors = host(found.eigenvectors)
    check_near(found.eigenvalues, np.linalg.eigvalsh(x))
    check_near((vectors * host(found.eigenvalues)[..., None, :]) @ adjoint(vectors), x)
    check_near(backend.linalg.eigvalsh(ours), np.linalg.eigvalsh(x))


def test_symmetric_functions_look_at_the_lower_triangle_alone(backend: ModuleType) -> None:
    x = symmetric((3, 3), "f8")
    spoilt = np.tril(x) + np.triu(np.full((3, 3), 99.0), 1)
    for name in ("cholesky", "eigvalsh"):
        function = getattr(backend.linalg, name)
        check_near(function(array(backend, spoilt)), host(function(array(backend, x))), what=name)


@pytest.mark.parametrize("dtype", LAPACK, ids=str)
def test_general_eigenvalues_are_always_complex(backend: ModuleType, dtype: Any) -> None:
    for shape in ((3, 3), (2, 2, 2), (0, 0)):
        x = matrices(shape, dtype)
        found = backend.linalg.eig(array(backend, x))
        values, vectors = host(found.eigenvalues), host(found.eigenvectors)
        expected = np.result_type(dtype, np.complex64)
        assert values.dtype == vectors.dtype == expected
        assert values.shape == shape[:-1]
        check_near(x.astype(expected) @ vectors, vectors * values[..., None, :])
        alone = host(backend.linalg.eigvals(array(backend, x)))
        assert alone.dtype == expected
        check_near(np.sort(alone), np.sort(values))


@pytest.mark.parametrize("dtype", LAPACK, ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 3), (3, 0)], ids=str)
def test_orthogonal_decompositions(backend: ModuleType, dtype: Any, shape: tuple[int, ...]) -> None:
    x = matrices(shape, dtype)
    ours = array(backend, x)
    *stack, m, n = shape
    k = min(m, n)
    for mode, inner in (("reduced", k), ("complete", m)):
        q, r = backend.linalg.qr(ours, mode=mode)
        assert (q.shape, r.shape) == ((*stack, m, inner), (*stack, inner, n))
        check_near(host(q) @ host(r), x)
        check_near(
            adjoint(host(q)) @ host(q),
            np.broadcast_to(np.eye(inner, dtype=dtype), (*stack, inner, inner)),
        )
    for full, left, right in ((True, m, n), (False, k, k)):
        u, s, vh = backend.linalg.svd(ours, full_matrices=full)
        assert (u.shape, s.shape, vh.shape) == ((*stack, m, left), (*stack, k), (*stack, right, n))
        check_near((host(u)[..., :k] * host(s)[..., None, :]) @ host(vh)[..., :k, :], x)
    check_near(backend.linalg.svdvals(ours), np.linalg.svdvals(x))
    inverse = host(backend.linalg.pinv(ours))
    check_near(inverse, np.linalg.pinv(x))
    with pytest.raises(ValueError, match="mode"):
        backend.linalg.qr(ours, mode="raw")


def test_rank_and_pseudo_inverse_take_a_tolerance_in_every_form(backend: ModuleType) -> None:
    x = np.stack([np.diag([4.0, 1.0, 0.1]), np.diag([4.0, 4.0, 0.0])])
    ours = array(backend, x)
    rank = backend.linalg.matrix_rank
    check_equal(rank(ours), np.array([3, 2]))
    check_equal(rank(ours, rtol=0.05), np.array([2, 2]))
    check_equal(rank(ours, rtol=array(backend, np.array(0.5))), np.array([1, 2]))
    check_equal(rank(ours, rtol=array(backend, np.array([0.5, 0.0]))), np.array([1, 2]))
    check_equal(rank(array(backend, np.zeros((2, 0, 3)))), np.array([0, 0]))
    check_equal(rank(array(backend, np.zeros((2, 2), "f4"))), np.int64(0))
    for rtol in (0.05, np.array([0.5, 0.01])):
        given = rtol if isinstance(rtol, float) else array(backend, rtol)
        check_near(backend.linalg.pinv(ours, rtol=given), np.linalg.pinv(x, rtol=rtol))
    with pytest.raises(TypeError, match="real floating-point rtol"):
        rank(ours, rtol=array(backend, np.array(1)))


# -- norms -----------------------------------------------------------------------------------------

ORDERS = [0, 1, 2, 3, -1, -2, -3, 0.5, -0.5, inf, -inf]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the oracle's, of zeros
@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.parametrize("dtype", LAPACK, ids=str)
def test_vector_norms_are_numpys(backend: ModuleType, dtype: Any, ord: float) -> None:
    x = matrices((2, 3, 4), dtype)
    x[0, 0, 0] = 0
    for axis, keepdims in ((None, False), (None, True), (1, True), ((0, -1), False), ((), False)):
        check_near(
            backend.linalg.vector_norm(array(backend, x), axis=axis, keepdims=keepdims, ord=ord),
            np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
            if axis != ()
            else np.linalg.vector_norm(x[..., None], axis=-1, ord=ord),
            what=(axis, keepdims),
        )


def test_vector_norms_of_halves_and_of_nothing(backend: ModuleType) -> None:
    norm = backend.linalg.vector_norm
    check_equal(norm(array(backend, np.full(4, 300, "f2"))), np.float16(600))  # squares overflow
    empty = array(backend, np.zeros((2, 0)))
    check_equal(norm(empty, axis=1), np.zeros(2))
    with pytest.raises(ValueError, match="no elements"):
        norm(empty, ord=inf)
    with pytest.raises(ValueError, match="expected a number as ord"):
        norm(empty, ord="fro")
    with pytest.raises(ValueError, match="expected a number as ord"):
        norm(empty, ord=nan)
    with pytest.raises(TypeError, match="floating-point"):
        norm(array(backend, np.ones(2, int)))


@pytest.mark.parametrize("ord", [1, -1, 2, -2, inf, -inf, "fro", "nuc", None])
@pytest.mark.parametrize("dtype", LAPACK, ids=str)
def test_matrix_norms_are_numpys(backend: ModuleType, dtype: Any, ord: Any) -> None:
    x = matrices((2, 3, 4), dtype)
    for keepdims in (False, True):
        check_near(
            backend.linalg.matrix_norm(array(backend, x), keepdims=keepdims, ord=ord),
            np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord or "fro"),
        )


def test_matrix_norms_that_are_none(backend: ModuleType) -> None:
    norm = backend.linalg.matrix_norm
    with pytest.raises(ValueError, match="expected ord"):
        norm(array(backend, np.eye(2)), ord=3)
    tall = array(backend, np.zeros((3, 0)))
    check_equal(norm(tall), np.float64(0))
    check_equal(norm(tall, ord="nuc"), np.float64(0))
    check_equal(norm(tall, ord=inf), np.float64(0))
    for ord in (1, 2, -2):
        with pytest.raises(ValueError, match="no elements"):
            norm(tall, ord=ord)


# -- errors ----------------------------------------------------------------------------------------

SQUARE = ["cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet"]
RECTANGULAR = ["matrix_norm", "matrix_rank", "pinv", "qr", "svd", "svdvals"]


@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices_are_asked_for(backend: ModuleType, name: str) -> None:
    for shape in ((2, 3), (3,), ()):
        with pytest.raises(ValueError, match=f"{name}: expected"):
            getattr(backend.linalg, name)(array(backend, np.ones(shape)))


@pytest.mark.parametrize("name", [*SQUARE, *RECTANGULAR])
@pytest.mark.parametrize("dtype", OTHERS, ids=str)
def test_dtypes_that_the_standard_leaves_out_are_refused(
    backend: ModuleType, name: str, dtype: Any
) -> None:
    x = array(backend, np.eye(2).astype(dtype))
    with pytest.raises(TypeError, match=f"{name}: expected a float32, float64 or complex dtype"):
        getattr(backend.linalg, name)(x)


def test_singular_matrices_raise_on_every_backend(backend: ModuleType) -> None:
    singular = array(backend, np.array([[1.0, 2.0], [2.0, 4.0]]) * 0)
    indefinite = array(backend, np.array([[1.0, 2.0], [2.0, 1.0]]))
    spoilt = array(backend, np.array([[np.nan, 1.0], [1.0, 1.0]]))
    linalg = backend.linalg
    for call in (
        lambda: linalg.inv(singular),
        lambda: linalg.solve(singular, singular[0]),
        lambda: linalg.matrix_power(singular, -1),
        lambda: linalg.cholesky(indefinite),
        lambda: linalg.eig(spoilt),
        lambda: linalg.eigvals(spoilt),
        lambda: linalg.svd(spoilt),
        lambda: linalg.svdvals(spoilt),
        lambda: linalg.matrix_rank(spoilt),
        lambda: linalg.pinv(spoilt),
    ):
        with pytest.raises(LinAlgError):
            call()
    assert float(linalg.det(singular)) == 0
    sign, logarithm = linalg.slogdet(singular)
    assert float(sign) == 0
    assert float(logarithm) == -inf


def test_a_singular_matrix_under_a_trace_gives_no_number(jax_backend: ModuleType) -> None:
    jax = import_module("jax")
    result = jax.jit(jax_backend.linalg.inv)(jax_backend.zeros((2, 2)))
    assert not np.isfinite(host(result)).any()


# -- unknown extents -------------------------------------------------------------------------------


def test_shapes_of_unknown_extents() -> None:
    n = Dimension(2, 5)
    x = abstract.empty((4, n, 3))
    linalg = abstract.linalg
    assert abstract.matmul(x, abstract.empty((3, n))).dims == (4, n, n)
    assert abstract.matrix_transpose(x).dims == (4, 3, n)
    assert linalg.inv(x).dims == (4, 3, 3)
    assert linalg.svd(x, full_matrices=False).U.dims == (4, n, Dimension(2, 3))
    assert linalg.svd(x).S.dims == (4, Dimension(2, 3))
    assert linalg.qr(x, mode="complete").Q.dims == (4, n, n)
    assert linalg.pinv(x).dims == (4, 3, n)
    assert linalg.diagonal(x, offset=-1).dims == (4, Dimension(1, 3))
    assert linalg.diagonal(x, offset=2).dims == (4, 1)
    assert linalg.trace(x).dims == (4,)
    assert linalg.matrix_norm(x, keepdims=True).dims == (4, 1, 1)
    assert linalg.vector_norm(x, axis=1).dims == (4, 3)
    assert linalg.matrix_rank(x).dims == (4,)
    assert linalg.solve(x, abstract.empty((3,))).dims == (4, 3)
    assert abstract.tensordot(x, x, axes=((0, 1), (0, 1))).dims == (3, 3)
    assert abstract.vecdot(x, abstract.empty((1, 3))).dims == (4, n)
    with pytest.raises(ValueError, match="expected square matrices"):
        linalg.inv(abstract.empty((Dimension(4, 5), 3)))
    with pytest.raises(ValueError, match="do not match"):
        abstract.matmul(x, abstract.empty((Dimension(4, 5), 3)))
