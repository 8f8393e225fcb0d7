"""Linear algebra: the extension, and with it the four functions of the main namespace.

Matrices are the last two axes; the axes before them are a stack of matrices. Products of 16-bit
floating-point numbers are computed in float32 and rounded once. A matrix that cannot be inverted or
decomposed raises ``LinAlgError``, a ``ValueError``; under a JAX transformation, where it cannot be
looked at, the result is NaN or infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan
from operator import index
from typing import Any, Literal, NamedTuple

from strata_api import _dtypes as d
from strata_api import _rules as rules
from strata_api._apply import (
    apply,
    apply_many,
    arrays_of,
    as_array,
    binary,
    cast,
    converted,
    filled,
    operands,
    viewed,
)
from strata_api._apply import matmul as _matmul
from strata_api._array import Array
from strata_api._context import is_strict
from strata_api._dimension import Extent, extent, maximum, minimum
from strata_api._dtypes import DType
from strata_api._rules import Rule
from strata_api._shape import (
    Shape,
    broadcast,
    may_be,
    merge,
    normalize_axes,
    normalize_axis,
    reduced,
    replaced,
    shown,
)
from strata_api._view import block_of, diagonal_of, permuted, with_new_axes
from strata_api.backends.protocol import Spec

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class EigResult(NamedTuple):
    """What ``eig`` returns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """What ``eigh`` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What ``qr`` returns."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What ``slogdet`` returns."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What ``svd`` returns."""

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return the lower triangular ``L`` with ``L @ conj(L).mT`` equal to ``x``, or its adjoint.

    Shape: that of ``x``, square matrices.
    Dtype: float32, float64 or complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square or not
    positive-definite.
    Source: the standard, ``linalg.cholesky``.
    """
    array, shape = _square(x, rules.CHOLESKY)
    return apply(rules.CHOLESKY, (array,), shape, None, upper=bool(upper))


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return the cross product of vectors of 3 elements along an axis.

    Shape: broadcast of both.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` unless both extents along the axis are 3
    and the others broadcast, ``AxisError`` for an axis out of range.
    Source: the standard, ``linalg.cross``.
    """
    (a, b), dtype = arrays_of("cross", (x1, x2))
    rules.CROSS.check(dtype)
    along = _axis_from_end(a.dims, b.dims, axis, "cross")
    if not (may_be(a.dims[along], 3) and may_be(b.dims[along], 3)):
        raise ValueError(
            f"cross: expected extents of 3 along axis {axis}, got shapes {shown(a.dims)} "
            f"and {shown(b.dims)}"
        )
    joint = broadcast(a.dims, b.dims, what="cross")
    shape = replaced(joint, len(joint) + along, 3)
    return apply(rules.CROSS, (a, b), shape, dtype, axis=along, dtype=d.working(dtype))


def det(x: Array, /) -> Array:
    """Return the determinant.

    Shape: that of the stack.
    Dtype: float32, float64 or complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square.
    Source: the standard, ``linalg.det``.
    """
    array, shape = _square(x, rules.DET)
    return apply(rules.DET, (array,), shape[:-2])


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Return a diagonal of each matrix: a view, through which the matrix can be written.

    Shape: that of the stack, and the length of the diagonal.
    Dtype: any, that of ``x``.
    Raises: ``ValueError`` for fewer than two axes.
    Source: the standard, ``linalg.diagonal``.
    """
    array, shape = _matrices(as_array(x, "diagonal"), "diagonal")
    right = index(offset)
    corner = (_at_most(max(-right, 0), shape[-2]), _at_most(max(right, 0), shape[-1]))
    n = minimum(_less(shape[-2], corner[0]), _less(shape[-1], corner[1]))
    sizes = (*shape[:-2], n, n)
    block = viewed(array, block_of(shape, sizes, (*(0,) * (len(shape) - 2), *corner)))
    return viewed(block, diagonal_of(sizes, (len(shape) - 2, len(shape) - 1), n))


def eig(x: Array, /) -> EigResult:
    """Return the eigenvalues of a square matrix, and its eigenvectors in columns.

    Shape: of the eigenvalues that of ``x`` without the last axis, of the eigenvectors that of
    ``x``.
    Dtype: float32, float64 or complex; the complex dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square or not
    finite.
    Source: the standard, ``linalg.eig``.
    """
    array, shape = _square(x, rules.EIG)
    dtype = rules.EIG.result.dtype(array._element.dtype)
    specs = (Spec(shape[:-1], dtype), Spec(shape, dtype))
    return EigResult(*apply_many(rules.EIG, (array,), specs))


def eigh(x: Array, /) -> EighResult:
    """Return the eigenvalues of a symmetric or Hermitian matrix, rising, and its eigenvectors.

    Only the lower triangle is looked at.

    Shape: of the eigenvalues that of ``x`` without the last axis, of the eigenvectors that of
    ``x``.
    Dtype: float32, float64 or complex; the eigenvalues real, the eigenvectors that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square.
    Source: the standard, ``linalg.eigh``.
    """
    array, shape = _square(x, rules.EIGH)
    dtype = array._element.dtype
    specs = (Spec(shape[:-1], d.real_of(dtype)), Spec(shape, dtype))
    return EighResult(*apply_many(rules.EIGH, (array,), specs))


def eigvals(x: Array, /) -> Array:
    """Return the eigenvalues of a square matrix.

    Shape: that of ``x`` without the last axis.
    Dtype: float32, float64 or complex; the complex dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square or not
    finite.
    Source: the standard, ``linalg.eigvals``.
    """
    array, shape = _square(x, rules.EIGVALS)
    return apply(rules.EIGVALS, (array,), shape[:-1])


def eigvalsh(x: Array, /) -> Array:
    """Return the eigenvalues of a symmetric or Hermitian matrix, rising.

    Only the lower triangle is looked at.

    Shape: that of ``x`` without the last axis.
    Dtype: float32, float64 or complex; the real dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square.
    Source: the standard, ``linalg.eigvalsh``.
    """
    array, shape = _square(x, rules.EIGVALSH)
    return apply(rules.EIGVALSH, (array,), shape[:-1])


def inv(x: Array, /) -> Array:
    """Return the inverse of a square matrix.

    Shape: that of ``x``.
    Dtype: float32, float64 or complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square or
    singular.
    Source: the standard, ``linalg.inv``.
    """
    array, shape = _square(x, rules.INV)
    return apply(rules.INV, (array,), shape)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Return the matrix product. An operand with one axis is a vector.

    Shape: broadcast of the stacks, then the rows of ``x1`` and the columns of ``x2``.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for an operand without axes, for inner
    extents that differ and stacks that do not broadcast.
    Source: the standard, ``matmul``.
    """
    return _matmul(x1, x2)


def matrix_norm(
    x: Array,
    /,
    *,
    keepdims: bool = False,
    ord: float | Literal["fro", "nuc"] | None = "fro",
) -> Array:
    """Return the norm of each matrix.

    Shape: that of the stack; with ``keepdims``, two axes of extent 1 behind it.
    Dtype: float32, float64 or complex; the real dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for another ``ord``, for fewer than two
    axes, and for a norm that is not defined without elements.
    Source: the standard, ``linalg.matrix_norm``.
    """
    array, shape = _matrices(x, rules.MATRIX_NORM)
    kind = "fro" if ord is None else ord
    if kind not in ("fro", "nuc", 1, -1, 2, -2, inf, -inf):
        raise ValueError(
            f"matrix_norm: expected ord 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}"
        )
    looked_at = {1: shape[-1:], 2: shape[-2:], inf: shape[-2:-1]}
    if not isinstance(kind, str) and _is_empty(looked_at[abs(kind)]):
        raise ValueError(f"matrix_norm: no elements for ord={ord} in shape {shown(shape)}")
    result = reduced(shape, (len(shape) - 2, len(shape) - 1), keepdims)
    return apply(rules.MATRIX_NORM, (array,), result, None, keepdims=bool(keepdims), ord=kind)


def matrix_power(x: Array, n: int, /) -> Array:
    """Return the product of ``n`` square matrices, of inverses if ``n`` is negative.

    Shape: that of ``x``.
    Dtype: float32, float64 or complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square, or
    singular where ``n`` is negative.
    Source: the standard, ``linalg.matrix_power``.
    """
    array, shape = _square(x, rules.MATRIX_POWER)
    return apply(rules.MATRIX_POWER, (array,), shape, None, n=index(n))


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Return how many singular values are above ``rtol`` times the largest.

    ``rtol`` is by default the larger extent times the spacing of numbers at 1.

    Shape: that of the stack.
    Dtype: float32, float64 or complex; the default integer dtype.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than two axes.
    Source: the standard, ``linalg.matrix_rank``.
    """
    array, shape = _matrices(x, rules.MATRIX_RANK)
    arrays = _with_tolerance(array, rtol, "matrix_rank")
    return apply(rules.MATRIX_RANK, arrays, _stack(shape, arrays))


def matrix_transpose(x: Array, /) -> Array:
    """Return the transposes of a stack of matrices: a view.

    Shape: that of ``x`` with the last two axes exchanged.
    Dtype: any, that of ``x``.
    Raises: ``ValueError`` for fewer than two axes.
    Source: the standard, ``matrix_transpose``.
    """
    array, shape = _matrices(as_array(x, "matrix_transpose"), "matrix_transpose")
    n = len(shape)
    return viewed(array, permuted(shape, (*range(n - 2), n - 1, n - 2)))


def outer(x1: Array, x2: Array, /) -> Array:
    """Return the products of each element of one vector with each of another.

    Shape: the extents of both.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` unless both have one axis.
    Source: the standard, ``linalg.outer``.
    """
    (a, b), dtype = arrays_of("outer", (x1, x2))
    rules.MULTIPLY.check(dtype)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(
            f"outer: expected arrays with one axis, got shapes {shown(a.dims)} and {shown(b.dims)}"
        )
    column = viewed(a, with_new_axes(a.dims, (1,)))
    return binary(rules.MULTIPLY, column, viewed(b, with_new_axes(b.dims, (0,))))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Return the pseudo-inverse; singular values up to ``rtol`` times the largest count as 0.

    ``rtol`` is by default the larger extent times the spacing of numbers at 1.

    Shape: that of ``x`` with the last two axes exchanged.
    Dtype: float32, float64 or complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than two axes.
    Source: the standard, ``linalg.pinv``.
    """
    array, shape = _matrices(x, rules.PINV)
    arrays = _with_tolerance(array, rtol, "pinv")
    return apply(rules.PINV, arrays, (*_stack(shape, arrays), shape[-1], shape[-2]))


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return an orthonormal ``Q`` and an upper triangular ``R`` whose product is ``x``.

    Shape: of M rows and N columns and K the smaller of both, ``(M, K)`` and ``(K, N)``; where
    complete, ``(M, M)`` and ``(M, N)``.
    Dtype: float32, float64 or complex, that of ``x``.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for another mode or fewer than two axes.
    Source: the standard, ``linalg.qr``.
    """
    array, shape = _matrices(x, rules.QR)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: expected mode 'reduced' or 'complete', got {mode!r}")
    rows, columns = shape[-2:]
    inner = rows if mode == "complete" else minimum(rows, columns)
    dtype = array._element.dtype
    specs = (Spec((*shape[:-1], inner), dtype), Spec((*shape[:-2], inner, columns), dtype))
    return QRResult(*apply_many(rules.QR, (array,), specs, mode=mode))


def slogdet(x: Array, /) -> SlogdetResult:
    """Return the sign of the determinant, and the logarithm of its absolute value.

    Shape: that of the stack.
    Dtype: float32, float64 or complex, that of ``x``; the logarithm the real dtype.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square.
    Source: the standard, ``linalg.slogdet``.
    """
    array, shape = _square(x, rules.SLOGDET)
    dtype = array._element.dtype
    specs = (Spec(shape[:-2], dtype), Spec(shape[:-2], d.real_of(dtype)))
    return SlogdetResult(*apply_many(rules.SLOGDET, (array,), specs))


def solve(x1: Array, x2: Array, /) -> Array:
    """Return what ``x1`` must be multiplied with to give ``x2``. One axis alone is a vector.

    Shape: that of ``x2``, its stack broadcast with that of ``x1``.
    Dtype: float32, float64 or complex, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for matrices that are not square or
    singular and shapes that do not match.
    Source: the standard, ``linalg.solve``.
    """
    (a, b), dtype = arrays_of("solve", (x1, x2))
    rules.SOLVE.check(dtype)
    stack, n = _square_shape(a.dims, "solve")
    right = b.dims
    rows = right[-1] if len(right) == 1 else right[-2] if right else 0
    if not right or not may_be(n, rows):
        raise ValueError(f"solve: shapes {shown(a.dims)} and {shown(right)} do not match")
    n = merge(n, rows)
    if len(right) == 1:
        shape: Shape = (*stack, n)
    else:
        shape = (*broadcast(stack, right[:-2], what="solve"), n, right[-1])
    return apply(rules.SOLVE, (cast(a, dtype), cast(b, dtype)), shape, dtype)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decomposition, its values falling.

    Shape: of M rows and N columns and K the smaller of both, ``(M, M)``, ``(K,)`` and ``(N, N)``;
    without ``full_matrices``, ``(M, K)``, ``(K,)`` and ``(K, N)``.
    Dtype: float32, float64 or complex, that of ``x``; the values the real dtype.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than two axes or matrices that
    are not finite.
    Source: the standard, ``linalg.svd``.
    """
    array, shape = _matrices(x, rules.SVD)
    *stack, rows, columns = shape
    least = minimum(rows, columns)
    left, right = (rows, columns) if full_matrices else (least, least)
    dtype = array._element.dtype
    specs = (
        Spec((*stack, rows, left), dtype),
        Spec((*stack, least), d.real_of(dtype)),
        Spec((*stack, right, columns), dtype),
    )
    return SVDResult(*apply_many(rules.SVD, (array,), specs, full_matrices=bool(full_matrices)))


def svdvals(x: Array, /) -> Array:
    """Return the singular values, falling.

    Shape: that of the stack, and the smaller of the last two extents.
    Dtype: float32, float64 or complex; the real dtype of that precision.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than two axes or matrices that
    are not finite.
    Source: the standard, ``linalg.svdvals``.
    """
    array, shape = _matrices(x, rules.SVDVALS)
    return apply(rules.SVDVALS, (array,), (*shape[:-2], minimum(shape[-2], shape[-1])))


def tensordot(
    x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """Return the sums of products over axes of both: so many last and first ones, or those given.

    Shape: the other extents of ``x1``, then those of ``x2``.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for axes that do not match in number or
    extent, ``AxisError`` for an axis out of range.
    Source: the standard, ``tensordot``.
    """
    (a, b), dtype = arrays_of("tensordot", (x1, x2))
    rules.TENSORDOT.check(dtype)
    left, right = _contracted(axes, a.ndim, b.ndim)
    if len(left) != len(right) or not all(
        may_be(a.dims[i], b.dims[k]) for i, k in zip(left, right, strict=True)
    ):
        raise ValueError(
            f"tensordot: axes {left} of shape {shown(a.dims)} do not match axes {right} "
            f"of shape {shown(b.dims)}"
        )
    shape = reduced(a.dims, left, False) + reduced(b.dims, right, False)
    working = d.working(dtype)
    pair = (cast(a, working), cast(b, working))
    return apply(rules.TENSORDOT, pair, shape, dtype, axes=(left, right))


def trace(x: Array, /, *, offset: int = 0, dtype: DType | None = None) -> Array:
    """Return the sum of a diagonal of each matrix.

    Shape: that of the stack.
    Dtype: numeric; that of ``x``, of a small integer the default integer dtype, or ``dtype``.
    Beyond the standard, booleans count as integers.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for fewer than two axes.
    Source: the standard, ``linalg.trace``.
    """
    array, shape = _matrices(x, rules.TRACE)
    if dtype is None:
        result = rules.TRACE.result.dtype(array._element.dtype)
    else:
        result = d.as_dtype(dtype)
        rules.TRACE.check(result)
        if not d.can_cast(array._element.dtype, result):
            array = converted(array, result, "trace")
    working = d.working(result)
    return apply(rules.TRACE, (array,), shape[:-2], result, offset=index(offset), dtype=working)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return the dot product of vectors along an axis, the first ones conjugated.

    Shape: broadcast of both without the axis.
    Dtype: numeric, promoted.
    Raises: ``TypeError`` for another dtype, ``ValueError`` unless the extents along the axis are
    the same and the others broadcast, ``AxisError`` for an axis out of range.
    Source: the standard, ``vecdot``.
    """
    (a, b), dtype = arrays_of("vecdot", (x1, x2))
    rules.VECDOT.check(dtype)
    along = _axis_from_end(a.dims, b.dims, axis, "vecdot")
    if not may_be(a.dims[along], b.dims[along]):
        raise ValueError(
            f"vecdot: extents along axis {axis} differ in shapes {shown(a.dims)} "
            f"and {shown(b.dims)}"
        )
    left, right = [replaced(x.dims, x.ndim + along, 1) for x in (a, b)]
    joint = broadcast(left, right, what="vecdot")
    shape = reduced(joint, (len(joint) + along,), False)
    working = d.working(dtype)
    return apply(rules.VECDOT, (cast(a, working), cast(b, working)), shape, dtype, axis=along)


def vector_norm(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """Return the norm of the elements along axes.

    Shape: that of ``x`` without the axes, or with extent 1 in their place.
    Dtype: floating-point; the real dtype of the components.
    Raises: ``TypeError`` for another dtype, ``ValueError`` for an ``ord`` that is no number and for
    the largest or smallest of no elements, ``AxisError`` for an axis out of range.
    Source: the standard, ``linalg.vector_norm``.
    """
    array = as_array(x, "vector_norm")
    rules.VECTOR_NORM.check(array._element.dtype)
    shape = array.dims
    axes = normalize_axes(axis, len(shape), "vector_norm")
    order = _order(ord)
    if abs(order) == inf and _is_empty([shape[k] for k in axes]):
        raise ValueError(f"vector_norm: no elements for ord={ord} in shape {shown(shape)}")
    dtype = rules.VECTOR_NORM.result.dtype(array._element.dtype)
    return apply(
        rules.VECTOR_NORM,
        (array,),
        reduced(shape, axes, keepdims),
        dtype,
        axis=axes,
        keepdims=bool(keepdims),
        ord=order,
        dtype=d.working(dtype),
    )


# -- matrices and their shapes ---------------------------------------------------------------------


def _matrices(x: object, rule: Rule | str) -> tuple[Array, Shape]:
    """Return a stack of matrices and its shape. Raises: ``TypeError``, ``ValueError``."""
    if isinstance(rule, Rule):
        array, what = as_array(x, rule.name), rule.name
        rule.check(array._element.dtype)
    else:
        array, what = as_array(x, rule), rule
    shape = array.dims
    if len(shape) < 2:
        raise ValueError(f"{what}: expected two axes or more, got shape {shown(shape)}")
    return array, shape


def _square(x: object, rule: Rule) -> tuple[Array, Shape]:
    array, shape = _matrices(x, rule)
    stack, n = _square_shape(shape, rule.name)
    return array, (*stack, n, n)


def _square_shape(shape: Shape, what: str) -> tuple[Shape, Extent]:
    if len(shape) < 2 or not may_be(shape[-2], shape[-1]):
        raise ValueError(f"{what}: expected square matrices, got shape {shown(shape)}")
    return shape[:-2], merge(shape[-2], shape[-1])


def _is_empty(extents: Sequence[Extent]) -> bool:
    return any(type(n) is int and n == 0 for n in extents)


def _at_most(start: int, n: Extent) -> int:
    """Return a start, but no later than the end of an axis whose extent is known."""
    return min(start, n) if type(n) is int else start


def _less(n: Extent, start: int) -> Extent:
    return maximum(n - start, 0) if type(n) is int else extent(n - start)


def _axis_from_end(a: Shape, b: Shape, axis: int, what: str) -> int:
    """Return an axis of both, counted from the end, as it must be where their ranks differ."""
    rank = min(len(a), len(b))
    position = index(axis)
    if position >= 0 and (is_strict() or len(a) != len(b)):
        raise ValueError(
            f"{what}: expected a negative axis for shapes {shown(a)} and {shown(b)}, got {axis}"
        )
    return normalize_axis(position, rank, what) - rank


def _with_tolerance(x: Array, rtol: object, what: str) -> tuple[Array, ...]:
    """Return the operands of a kernel that takes a tolerance or uses its own."""
    if rtol is None:
        return (x,)
    real = d.real_of(x._element.dtype)
    if isinstance(rtol, int | float):
        return x, filled(float(rtol), real, x._element.backend, what)
    _, tolerance = operands(what, x, rtol)
    if not isinstance(tolerance, Array) or tolerance._element.dtype not in d.REAL_FLOATING:
        raise TypeError(f"{what}: expected a real floating-point rtol, got {rtol!r}")
    return x, cast(tolerance, real)


def _stack(shape: Shape, arrays: Sequence[Array]) -> Shape:
    return broadcast(shape[:-2], *[x.dims for x in arrays[1:]], what="rtol")


def _contracted(axes: Any, left: int, right: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes of both that ``tensordot`` sums over."""
    if hasattr(axes, "__index__"):
        n = index(axes)
        if not 0 <= n <= min(left, right):
            raise ValueError(
                f"tensordot: expected a number of axes from 0 to {min(left, right)}, got {n}"
            )
        return tuple(range(left - n, left)), tuple(range(n))
    if not isinstance(axes, tuple | list) or len(axes) != 2:
        raise ValueError(f"tensordot: expected an integer or two sequences of axes, got {axes!r}")
    first, second = axes
    return normalize_axes(first, left, "tensordot"), normalize_axes(second, right, "tensordot")


def _order(ord: object) -> float:
    if not isinstance(ord, int | float) or isnan(ord):
        raise ValueError(f"vector_norm: expected a number as ord, got {ord!r}")
    return float(ord)
