"""Calls of every function of the namespace: one list, from which several tests draw.

An example has its arrays apart from its call, so that the same call runs on every backend, and on
arrays whose extents are not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from oracle import array


class Example(NamedTuple):
    """A call of one function, with arrays for its operands."""

    name: str  # with its extension in front: "add", "linalg.inv"
    call: Callable[..., Any]  # of the namespace and the arrays
    inputs: tuple[Any, ...]
    note: str
    is_view: bool = False  # the result looks at the data of an operand
    ulps: float = 4  # how far floating-point results may be apart on two backends
    by_largest: bool = False  # ... in units of the largest element of the result
    compares: bool = True  # whether values are determined at all
    counted: tuple[int, ...] = ()  # axes of operands that say how many results there are

    def __str__(self) -> str:
        return f"{self.name} {self.note}".strip()

    def run(self, xp: Any) -> Any:
        """Return what the call gives on a backend."""
        return self.call(xp, *[array(xp, a) for a in self.inputs])


F = np.array([[0.5, -1.25, 2.0], [0.0, 3.5, -0.75]])
G = np.array([[1.5, 0.25, -2.0], [-0.5, 1.0, 4.0]])
P = np.array([[0.125, 0.5, 0.75], [0.25, 0.9, 1.0]])  # between 0 and 1
Q = 1 + P
Z = F + 1j * G
W = G - 0.5j * P
I = np.array([[5, -3, 2], [0, 7, -6]])  # noqa: E741  # as the other kinds: by its first letter
J = np.array([[2, 3, -1], [4, 1, 2]])
U = np.array([[200, 3, 17], [0, 255, 9]], dtype=np.uint8)
B = np.array([[True, False, True], [False, False, True]])
S = np.array([3, 1, 2, 1])
SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
STACK = np.stack([SPD[:2, :2], SPD[1:, 1:]])
HERMITIAN = SPD + 1j * np.array([[0, 1, 0.5], [-1, 0, 0.25], [-0.5, -0.25, 0]])
RECT = np.array([[1.0, 2.0, 0.5], [0.25, -1.0, 3.0]])
ROW = np.array([1.0, -2.0, 3.0])
SIGNAL = np.array([[1.0, 2.0, 0.5, -1.0], [0.0, 0.25, -3.0, 1.5]])

EXAMPLES: list[Example] = []


def add(name: str, call: Callable[..., Any], *inputs: Any, note: str = "", **facts: Any) -> None:
    """Note an example."""
    EXAMPLES.append(Example(name, call, inputs, note, **facts))


def plain(name: str, *inputs: Any, note: str = "", **facts: Any) -> None:
    """Note a call with no more than arrays."""

    def call(xp: Any, *xs: Any) -> Any:
        for part in name.split("."):
            xp = getattr(xp, part)
        return xp(*xs)

    add(name, call, *inputs, note=note, **facts)


# -- elementwise functions ------------------------------------------------------------------------

for _name in ("acos", "asin", "atanh"):
    plain(_name, P * 0.9)
    plain(_name, Z, note="complex", ulps=32)
plain("acosh", Q)
plain("acosh", Z, note="complex", ulps=32)
for _name in ("asinh", "atan", "cos", "cosh", "exp", "expm1", "sin", "sinh", "tan", "tanh"):
    plain(_name, F)
    plain(_name, Z, note="complex", ulps=32)
for _name in ("log", "log2", "log10", "log1p", "sqrt", "reciprocal"):
    plain(_name, P)
    plain(_name, Z, note="complex", ulps=32)
for _name in ("abs", "negative", "positive", "sign", "square", "round", "conj", "real"):
    for _a in (F, I, Z):
        plain(_name, _a, note=_a.dtype.name)
for _name in ("isfinite", "isinf", "isnan"):
    plain(_name, np.array([1.0, np.inf, -np.inf, np.nan]))
    plain(_name, Z, note="complex")
    plain(_name, I, note="integer")
for _name in ("ceil", "floor", "trunc"):
    plain(_name, F)
    plain(_name, I, note="integer")
plain("imag", Z)
plain("signbit", F)
plain("bitwise_invert", I)
plain("bitwise_invert", B, note="bool")
plain("logical_not", B)

for _name in ("add", "subtract", "multiply", "equal", "not_equal"):
    for _a, _b in ((F, G), (I, J), (Z, W), (F, ROW)):
        plain(_name, _a, _b, note=f"{_a.dtype.name} {_b.shape}")
plain("equal", B, B[::-1], note="bool")
plain("not_equal", B, B[::-1], note="bool")
plain("divide", F, G)
plain("divide", Z, W, note="complex")
plain("pow", P, G)
plain("pow", I, abs(J), note="integer")
plain("pow", Z, W, note="complex", ulps=64)
for _name in ("floor_divide", "remainder"):
    plain(_name, F, G)
    plain(_name, I, J, note="integer")
    plain(_name, U, np.array(7, dtype=np.uint8), note="uint8 ()")
for _name in ("maximum", "minimum", "greater", "greater_equal", "less", "less_equal"):
    plain(_name, F, G)
    plain(_name, I, J[0], note="integer (3,)")
for _name in ("atan2", "copysign", "hypot", "logaddexp", "nextafter"):
    plain(_name, F, G)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    plain(_name, I, J)
    plain(_name, B, B[::-1], note="bool")
for _name in ("bitwise_left_shift", "bitwise_right_shift"):
    plain(_name, I, abs(J))
for _name in ("logical_and", "logical_or", "logical_xor"):
    plain(_name, B, B[::-1])
add("clip", lambda xp, x: xp.clip(x, -1.0, 1.0), F)
add("clip", lambda xp, x, lo, hi: xp.clip(x, lo, hi), F, P[:1], Q, note="arrays")
add("clip", lambda xp, x: xp.clip(x, max=2), I, note="no minimum")
add("add", lambda xp, x: xp.add(x, 2), F, note="scalar")
add("add", lambda xp, x: xp.add(1.5, x), F, note="scalar first")

# -- creation functions ---------------------------------------------------------------------------

add("arange", lambda xp: xp.arange(5))
add("arange", lambda xp: xp.arange(1, 9, 3, dtype=xp.int16), note="integer")
add("arange", lambda xp: xp.arange(1.0, -1.0, -0.3), note="float")
add("asarray", lambda xp: xp.asarray([[1, 2], [3, 4]], dtype=xp.float32), note="list")
add("asarray", lambda xp: xp.asarray(1.5), note="scalar")
add("asarray", lambda xp, x: xp.asarray(x), F, note="array", is_view=True)
add("asarray", lambda xp, x: xp.asarray(x, copy=True), F, note="copy")
add("empty", lambda xp: xp.empty((2, 3), dtype=xp.int8), compares=False)
add("empty_like", lambda xp, x: xp.empty_like(x), F, compares=False)
add("eye", lambda xp: xp.eye(3))
add("eye", lambda xp: xp.eye(2, 4, k=1, dtype=xp.int32), note="rectangle")
plain("from_dlpack", F, is_view=True)
add("full", lambda xp: xp.full((2, 3), 7))
add("full", lambda xp: xp.full(3, 1j), note="complex")
add("full_like", lambda xp, x: xp.full_like(x, 2, dtype=xp.float32), I)
add("linspace", lambda xp: xp.linspace(0, 1, 5))
add("linspace", lambda xp: xp.linspace(2, -1, 4, endpoint=False, dtype=xp.float32), note="open")
add("meshgrid", lambda xp, x, y: xp.meshgrid(x, y), ROW, S[:2])
add("meshgrid", lambda xp, x, y: xp.meshgrid(x, y, indexing="ij"), ROW, ROW[:2], note="ij")
add("ones", lambda xp: xp.ones((2, 3), dtype=xp.complex64))
add("ones_like", lambda xp, x: xp.ones_like(x), I)
add("tril", lambda xp, x: xp.tril(x, k=-1), SPD)
add("tril", lambda xp, x: xp.tril(x, k=1), RECT, note="rectangle")
add("triu", lambda xp, x: xp.triu(x), STACK)
add("zeros", lambda xp: xp.zeros(4))
add("zeros_like", lambda xp, x: xp.zeros_like(x), B)

# -- data type functions --------------------------------------------------------------------------

add("astype", lambda xp, x: xp.astype(x, xp.float32), I)
add("astype", lambda xp, x: xp.astype(x, xp.bool), F, note="to bool")
add("astype", lambda xp, x: xp.astype(x, x.dtype), F, note="to itself")
add("astype", lambda xp, x: xp.astype(x, x.dtype, copy=False), F, note="no copy", is_view=True)
add("can_cast", lambda xp, x: xp.can_cast(x, xp.float64), F.astype(np.float32))
add("finfo", lambda xp, x: xp.finfo(x.dtype).bits, F)
add("iinfo", lambda xp, x: xp.iinfo(x.dtype).max, I)
add("isdtype", lambda xp, x: xp.isdtype(x.dtype, ("integral", "bool")), I)
add("result_type", lambda xp, x, y: xp.result_type(x, y, 1.0), F.astype(np.float32), F)

# -- indexing functions ---------------------------------------------------------------------------

add("take", lambda xp, x, i: xp.take(x, i, axis=1), F, np.array([2, 0, 0, -1]))
add("take", lambda xp, x, i: xp.take(x, i), ROW, np.array([2, 0]), note="one axis")
add("take_along_axis", lambda xp, x, i: xp.take_along_axis(x, i), F, np.array([[2, 0], [1, -1]]))
add(
    "take_along_axis",
    lambda xp, x, i: xp.take_along_axis(x, i, axis=0),
    F,
    np.array([[1, 0, 1]]),
    note="first axis",
)

# -- inspection -----------------------------------------------------------------------------------

add("__array_namespace_info__", lambda xp: xp.__array_namespace_info__().default_dtypes())

# -- manipulation functions -----------------------------------------------------------------------

add("broadcast_arrays", lambda xp, x, y: xp.broadcast_arrays(x, y), F, ROW, is_view=True)
add("broadcast_shapes", lambda xp: xp.broadcast_shapes((2, 1), (3,)))
add("broadcast_to", lambda xp, x: xp.broadcast_to(x, (2, 2, 3)), ROW, is_view=True)
add("concat", lambda xp, x, y: xp.concat([x, y], axis=1), F, G[:, :2])
add("concat", lambda xp, x, y: xp.concat((x, y), axis=None), F, ROW, note="flat")
add("expand_dims", lambda xp, x: xp.expand_dims(x, axis=1), F, is_view=True)
add("flip", lambda xp, x: xp.flip(x), F, is_view=True)
add("flip", lambda xp, x: xp.flip(x, axis=-1), I, note="one axis", is_view=True)
add("moveaxis", lambda xp, x: xp.moveaxis(x, 0, -1), STACK, is_view=True)
add("permute_dims", lambda xp, x: xp.permute_dims(x, (2, 0, 1)), STACK, is_view=True)
add("repeat", lambda xp, x: xp.repeat(x, 2, axis=1), F)
add("repeat", lambda xp, x: xp.repeat(x, 3), I, note="flat")
add("repeat", lambda xp, x, n: xp.repeat(x, n, axis=1), F, np.array([1, 0, 2]), note="counts")
add("reshape", lambda xp, x: xp.reshape(x, (3, 2)), F, is_view=True)
add("reshape", lambda xp, x: xp.reshape(x, (-1,)), STACK, note="flat", is_view=True)
add("reshape", lambda xp, x: xp.reshape(x.mT, (-1,)), F, note="of a transpose")
add("reshape", lambda xp, x: xp.reshape(x, (6,), copy=True), F, note="copy")
add("roll", lambda xp, x: xp.roll(x, 2), F)
add("roll", lambda xp, x: xp.roll(x, (1, -1), axis=(0, 1)), F, note="two axes")
add("squeeze", lambda xp, x: xp.squeeze(x, axis=0), F[None], is_view=True)
add("stack", lambda xp, x, y: xp.stack([x, y], axis=1), F, G)
add("tile", lambda xp, x: xp.tile(x, (2, 1, 2)), F)
add("unstack", lambda xp, x: xp.unstack(x, axis=1), F, is_view=True, counted=(1,))

# -- searching functions --------------------------------------------------------------------------

for _name in ("argmax", "argmin"):
    plain(_name, F)
    add(_name, lambda xp, x, f=_name: getattr(xp, f)(x, axis=1, keepdims=True), I, note="axis")
plain("count_nonzero", I)
add("count_nonzero", lambda xp, x: xp.count_nonzero(x, axis=(0,), keepdims=True), B, note="axis")
plain("nonzero", I)
add("searchsorted", lambda xp, x, y: xp.searchsorted(x, y), np.array([1.0, 2.0, 4.0]), F)
add(
    "searchsorted",
    lambda xp, x, y: xp.searchsorted(x, y, side="right"),
    np.array([1, 2, 2, 4]),
    S,
    note="right",
)
plain("where", B, F, G)
add("where", lambda xp, c, x: xp.where(c, x, 0), B, ROW, note="scalar")

# -- set functions --------------------------------------------------------------------------------

plain("isin", I, J)
add("isin", lambda xp, x, y: xp.isin(x, y, invert=True), I, S, note="not in")
for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    plain(_name, S)
    plain(_name, np.array([[1.5, np.nan], [np.nan, 1.5]]), note="with nan")

# -- sorting functions ----------------------------------------------------------------------------

for _name in ("sort", "argsort"):
    plain(_name, S)
    add(_name, lambda xp, x, f=_name: getattr(xp, f)(x, axis=0, descending=True), F, note="down")

# -- statistical functions ------------------------------------------------------------------------

for _name in ("max", "min", "prod", "sum", "mean", "std", "var"):
    plain(_name, F, ulps=8)
    add(
        _name,
        lambda xp, x, f=_name: getattr(xp, f)(x, axis=(0, -1), keepdims=True),
        STACK,
        note="axes",
        ulps=8,
    )
    add(_name, lambda xp, x, f=_name: getattr(xp, f)(x, axis=0), F.astype(np.float32), note="f32")
for _name in ("max", "min", "prod", "sum"):
    plain(_name, I, note="integer")
    plain(_name, U, note="uint8")
for _name in ("prod", "sum", "mean"):
    plain(_name, Z, note="complex", ulps=16)
for _name in ("std", "var"):
    add(_name, lambda xp, x, f=_name: getattr(xp, f)(x, correction=1), F, note="corrected", ulps=8)
add("sum", lambda xp, x: xp.sum(x, axis=1, dtype=xp.int16), U, note="dtype")
for _name in ("cumulative_sum", "cumulative_prod"):
    plain(_name, ROW)
    add(
        _name,
        lambda xp, x, f=_name: getattr(xp, f)(x, axis=1, include_initial=True),
        I,
        note="initial",
    )

# -- utility functions ----------------------------------------------------------------------------

for _name in ("all", "any"):
    plain(_name, B)
    add(_name, lambda xp, x, f=_name: getattr(xp, f)(x, axis=1, keepdims=True), F, note="axis")
plain("diff", F)
add("diff", lambda xp, x: xp.diff(x, axis=0, n=1), I, note="axis")
add(
    "diff", lambda xp, x, y: xp.diff(x, n=2, prepend=y, append=y), F, P[:, :1], note="twice, padded"
)

# -- linear algebra -------------------------------------------------------------------------------


def linear(name: str, *inputs: Any, **facts: Any) -> None:
    """Note a call of linear algebra, whose errors are measured against the largest element."""
    plain(name, *inputs, ulps=64, by_largest=True, **facts)


def linear_with(name: str, call: Callable[..., Any], *inputs: Any, **facts: Any) -> None:
    add(name, call, *inputs, ulps=64, by_largest=True, **facts)


for _space in ("", "linalg."):
    linear(f"{_space}matmul", F, SPD)
    linear(f"{_space}matmul", I, J.T, note="integer")
    linear(f"{_space}matmul", STACK, ROW[:2], note="stack and vector")
    plain(f"{_space}matrix_transpose", STACK, is_view=True)
    linear(f"{_space}vecdot", F, G)
    linear(f"{_space}vecdot", Z, W[:1], note="complex")
linear_with("tensordot", lambda xp, x, y: xp.tensordot(x, y, axes=1), F, SPD)
linear_with("linalg.tensordot", lambda xp, x, y: xp.linalg.tensordot(x, y), F, G)
linear_with(
    "linalg.tensordot",
    lambda xp, x, y: xp.linalg.tensordot(x, y, axes=((0,), (1,))),
    F,
    STACK,
    note="named axes",
)
linear_with("vecdot", lambda xp, x, y: xp.vecdot(x, y, axis=-2), F, G, note="axis")
linear("linalg.cholesky", SPD)
linear_with("linalg.cholesky", lambda xp, x: xp.linalg.cholesky(x, upper=True), STACK, note="upper")
linear("linalg.cross", F, G)
linear_with("linalg.cross", lambda xp, x, y: xp.linalg.cross(x, y, axis=0), SPD, SPD.T @ SPD)
linear("linalg.det", STACK)
plain("linalg.diagonal", STACK, is_view=True)
add(
    "linalg.diagonal",
    lambda xp, x: xp.linalg.diagonal(x, offset=1),
    RECT,
    note="offset",
    is_view=True,
)
linear("linalg.eig", SPD + np.triu(SPD), compares=False)
linear("linalg.eigvals", SPD, compares=False)
linear("linalg.eigh", SPD, compares=False)
linear("linalg.eigh", HERMITIAN, note="complex", compares=False)
linear("linalg.eigvalsh", SPD)
linear("linalg.inv", SPD)
linear("linalg.inv", STACK, note="stack")
linear("linalg.matrix_norm", STACK)
for _ord in (1, -1, 2, -2, np.inf, -np.inf, "nuc"):
    linear_with(
        "linalg.matrix_norm",
        lambda xp, x, o=_ord: xp.linalg.matrix_norm(x, ord=o, keepdims=True),
        RECT,
        note=str(_ord),
    )
linear_with("linalg.matrix_power", lambda xp, x: xp.linalg.matrix_power(x, 3), SPD)
linear_with("linalg.matrix_power", lambda xp, x: xp.linalg.matrix_power(x, 0), STACK, note="zero")
linear_with("linalg.matrix_power", lambda xp, x: xp.linalg.matrix_power(x, -2), SPD, note="inverse")
linear("linalg.matrix_rank", STACK)
linear("linalg.outer", ROW, ROW[:2])
linear("linalg.pinv", RECT)
linear("linalg.qr", RECT, compares=False)
linear_with("linalg.qr", lambda xp, x: xp.linalg.qr(x, mode="complete"), SPD[:, :2], compares=False)
linear("linalg.slogdet", STACK)
linear("linalg.solve", SPD, ROW)
linear("linalg.solve", STACK, SPD[:2], note="stack and matrix")
linear("linalg.svd", RECT, compares=False)
linear_with(
    "linalg.svd",
    lambda xp, x: xp.linalg.svd(x, full_matrices=False),
    STACK,
    note="reduced",
    compares=False,
)
linear("linalg.svdvals", RECT)
linear("linalg.trace", STACK)
linear_with("linalg.trace", lambda xp, x: xp.linalg.trace(x, offset=-1), U, note="uint8, offset")
linear("linalg.vector_norm", F)
for _ord in (0, 1, 3, np.inf, -np.inf, -1):
    linear_with(
        "linalg.vector_norm",
        lambda xp, x, o=_ord: xp.linalg.vector_norm(x, ord=o, axis=1, keepdims=True),
        Q,
        note=str(_ord),
    )

# -- Fourier transforms ---------------------------------------------------------------------------

for _name in ("fft", "ifft", "hfft", "fftn", "ifftn", "irfft", "irfftn"):
    linear(f"fft.{_name}", SIGNAL + 1j * SIGNAL[::-1])
for _name in ("rfft", "ihfft", "rfftn"):
    linear(f"fft.{_name}", SIGNAL)
for _name in ("fft", "ifft", "hfft", "irfft", "rfft", "ihfft"):
    _real = _name in ("rfft", "ihfft")
    linear_with(
        f"fft.{_name}",
        lambda xp, x, f=_name: getattr(xp.fft, f)(x, n=3, axis=0, norm="ortho"),
        SIGNAL if _real else SIGNAL.astype(np.complex64),
        note="n, axis, norm",
    )
for _name in ("fftn", "ifftn", "irfftn", "rfftn"):
    _real = _name == "rfftn"
    linear_with(
        f"fft.{_name}",
        lambda xp, x, f=_name: getattr(xp.fft, f)(x, s=(3, 5), axes=(0, 1), norm="forward"),
        SIGNAL if _real else SIGNAL + 0j,
        note="s, axes, norm",
    )
for _name in ("fftshift", "ifftshift"):
    plain(f"fft.{_name}", SIGNAL)
    add(f"fft.{_name}", lambda xp, x, f=_name: getattr(xp.fft, f)(x, axes=1), F, note="axes")
for _name in ("fftfreq", "rfftfreq"):
    add(f"fft.{_name}", lambda xp, f=_name: getattr(xp.fft, f)(5, d=0.5))
    add(f"fft.{_name}", lambda xp, f=_name: getattr(xp.fft, f)(4, dtype=xp.float32), note="f32")
