"""One line for each kernel: which dtypes it accepts, and which dtype comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strata_api import _dtypes as d
from strata_api._context import is_strict
from strata_api._dtypes import Category, DType


class Result:
    """How the dtype of a result follows from the promoted dtype of the operands."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: Callable[[DType], DType]) -> None:
        self.name = name
        self.dtype = dtype


def _accumulated(dtype: DType) -> DType:
    """Widen a small integer to the default integer's width, as the standard's ``sum`` does."""
    if dtype not in d.INTEGER_OR_BOOLEAN:
        return dtype
    integral = d.default_integral()
    if dtype.itemsize > integral.itemsize:
        return dtype
    unsigned = d.uint64 if integral == d.int64 else d.uint32
    return unsigned if dtype in d.UNSIGNED else integral


SAME = Result("promoted", lambda dtype: dtype)
BOOL = Result("boolean", lambda dtype: d.bool_)
REAL_PART = Result("the real dtype of the components", d.real_of)
COMPLEX_OF = Result("the complex dtype of the precision", d.complex_of)
INDEX = Result("the default index dtype", lambda dtype: d.default_integral())
ACCUMULATED = Result("accumulated", _accumulated)
FLOATED = Result(
    "promoted, of integers the default real dtype",
    lambda dtype: d.default_real() if dtype in d.INTEGER_OR_BOOLEAN else dtype,
)

_NOTHING = Category("no", ())


class Rule:
    """What a kernel accepts and returns.

    ``beyond`` is what it accepts beyond the standard, unless ``strict`` is on.

    ``direct`` and ``programs`` remember, for pairs of elements whose promotion consults no context,
    what the backend calls at once and the element that comes out.
    """

    __slots__ = ("accepts", "beyond", "direct", "name", "programs", "result")

    def __init__(
        self, name: str, accepts: Category, result: Result = SAME, beyond: Category = _NOTHING
    ) -> None:
        self.name = name
        self.accepts = accepts
        self.beyond = beyond
        self.result = result
        self.direct: dict[Any, Any] = {}
        self.programs: dict[Any, Any] = {}

    def check(self, dtype: DType) -> None:
        """Raise ``TypeError`` if the kernel does not take the dtype."""
        if dtype in self.accepts or (dtype in self.beyond and not is_strict()):
            return
        raise TypeError(f"{self.name}: expected a {self.accepts.name} dtype, got {dtype}")

    def __repr__(self) -> str:
        return f"Rule({self.name!r}, {self.accepts.name})"


# elementwise functions
ABS = Rule("abs", d.NUMERIC, REAL_PART)
ACOS = Rule("acos", d.FLOATING)
ACOSH = Rule("acosh", d.FLOATING)
ADD = Rule("add", d.NUMERIC)
ASIN = Rule("asin", d.FLOATING)
ASINH = Rule("asinh", d.FLOATING)
ATAN = Rule("atan", d.FLOATING)
ATAN2 = Rule("atan2", d.REAL_FLOATING)
ATANH = Rule("atanh", d.FLOATING)
BITWISE_AND = Rule("bitwise_and", d.INTEGER_OR_BOOLEAN)
BITWISE_INVERT = Rule("bitwise_invert", d.INTEGER_OR_BOOLEAN)
BITWISE_LEFT_SHIFT = Rule("bitwise_left_shift", d.INTEGER)
BITWISE_OR = Rule("bitwise_or", d.INTEGER_OR_BOOLEAN)
BITWISE_RIGHT_SHIFT = Rule("bitwise_right_shift", d.INTEGER)
BITWISE_XOR = Rule("bitwise_xor", d.INTEGER_OR_BOOLEAN)
CEIL = Rule("ceil", d.REAL)
CLIP = Rule("clip", d.REAL)
CONJ = Rule("conj", d.NUMERIC)
COPYSIGN = Rule("copysign", d.REAL_FLOATING)
COS = Rule("cos", d.FLOATING)
COSH = Rule("cosh", d.FLOATING)
DIVIDE = Rule("divide", d.FLOATING)
EQUAL = Rule("equal", d.STANDARD, BOOL)
EXP = Rule("exp", d.FLOATING)
EXPM1 = Rule("expm1", d.FLOATING)
FLOOR = Rule("floor", d.REAL)
FLOOR_DIVIDE = Rule("floor_divide", d.REAL)
GREATER = Rule("greater", d.REAL, BOOL)
GREATER_EQUAL = Rule("greater_equal", d.REAL, BOOL)
HYPOT = Rule("hypot", d.REAL_FLOATING)
IMAG = Rule("imag", d.NUMERIC, REAL_PART)
ISFINITE = Rule("isfinite", d.NUMERIC, BOOL)
ISINF = Rule("isinf", d.NUMERIC, BOOL)
ISNAN = Rule("isnan", d.NUMERIC, BOOL)
LESS = Rule("less", d.REAL, BOOL)
LESS_EQUAL = Rule("less_equal", d.REAL, BOOL)
LOG = Rule("log", d.FLOATING)
LOG1P = Rule("log1p", d.FLOATING)
LOG2 = Rule("log2", d.FLOATING)
LOG10 = Rule("log10", d.FLOATING)
LOGADDEXP = Rule("logaddexp", d.REAL_FLOATING)
LOGICAL_AND = Rule("logical_and", d.BOOLEAN)
LOGICAL_NOT = Rule("logical_not", d.BOOLEAN)
LOGICAL_OR = Rule("logical_or", d.BOOLEAN)
LOGICAL_XOR = Rule("logical_xor", d.BOOLEAN)
MAXIMUM = Rule("maximum", d.REAL)
MINIMUM = Rule("minimum", d.REAL)
MULTIPLY = Rule("multiply", d.NUMERIC)
NEGATIVE = Rule("negative", d.NUMERIC)
NEXTAFTER = Rule("nextafter", d.REAL_FLOATING)
NOT_EQUAL = Rule("not_equal", d.STANDARD, BOOL)
POSITIVE = Rule("positive", d.NUMERIC)
POW = Rule("pow", d.NUMERIC)
REAL = Rule("real", d.NUMERIC, REAL_PART)
RECIPROCAL = Rule("reciprocal", d.FLOATING)
REMAINDER = Rule("remainder", d.REAL)
ROUND = Rule("round", d.NUMERIC)
SIGN = Rule("sign", d.NUMERIC)
SIGNBIT = Rule("signbit", d.REAL_FLOATING, BOOL)
SIN = Rule("sin", d.FLOATING)
SINH = Rule("sinh", d.FLOATING)
SQRT = Rule("sqrt", d.FLOATING)
SQUARE = Rule("square", d.NUMERIC)
SUBTRACT = Rule("subtract", d.NUMERIC)
TAN = Rule("tan", d.FLOATING)
TANH = Rule("tanh", d.FLOATING)
TRUNC = Rule("trunc", d.REAL)

# creation functions
ARANGE = Rule("arange", d.REAL)
EMPTY = Rule("empty", d.ANY)
EYE = Rule("eye", d.STANDARD)
FULL = Rule("full", d.ANY)
LINSPACE = Rule("linspace", d.FLOATING, beyond=d.INTEGER)
ZEROS = Rule("zeros", d.ANY)

# data type functions
ASTYPE = Rule("astype", d.ANY)

# indexing functions
TAKE = Rule("take", d.ANY)
TAKE_ALONG_AXIS = Rule("take_along_axis", d.ANY)

# manipulation functions
CONCAT = Rule("concat", d.ANY)
COPY = Rule("copy", d.ANY)
REPEAT = Rule("repeat", d.ANY)  # by counts in an array
REPEAT_KNOWN = Rule("repeat_known", d.ANY)
RESHAPE = Rule("reshape", d.ANY)
ROLL = Rule("roll", d.ANY)
TILE = Rule("tile", d.ANY)
TRIL = Rule("tril", d.STANDARD)
TRIU = Rule("triu", d.STANDARD)

# searching functions
ARGMAX = Rule("argmax", d.REAL, INDEX, beyond=d.BOOLEAN)
ARGMIN = Rule("argmin", d.REAL, INDEX, beyond=d.BOOLEAN)
COUNT_NONZERO = Rule("count_nonzero", d.STANDARD, INDEX)
NONZERO = Rule("nonzero", d.STANDARD, INDEX)
SEARCHSORTED = Rule("searchsorted", d.REAL, INDEX)
WHERE = Rule("where", d.ANY)

# set functions
ISIN = Rule("isin", d.STANDARD, BOOL)
UNIQUE = Rule("unique", d.STANDARD)

# sorting functions
ARGSORT = Rule("argsort", d.REAL, INDEX, beyond=d.BOOLEAN)
SORT = Rule("sort", d.REAL, beyond=d.BOOLEAN)

# statistical functions
CUMULATIVE_PROD = Rule("cumulative_prod", d.NUMERIC, ACCUMULATED, beyond=d.BOOLEAN)
CUMULATIVE_SUM = Rule("cumulative_sum", d.NUMERIC, ACCUMULATED, beyond=d.BOOLEAN)
MAX = Rule("max", d.REAL, beyond=d.BOOLEAN)
MEAN = Rule("mean", d.FLOATING, FLOATED, beyond=d.INTEGER_OR_BOOLEAN)
MIN = Rule("min", d.REAL, beyond=d.BOOLEAN)
PROD = Rule("prod", d.NUMERIC, ACCUMULATED, beyond=d.BOOLEAN)
STD = Rule("std", d.REAL_FLOATING, FLOATED, beyond=d.INTEGER_OR_BOOLEAN)
SUM = Rule("sum", d.NUMERIC, ACCUMULATED, beyond=d.BOOLEAN)
VAR = Rule("var", d.REAL_FLOATING, FLOATED, beyond=d.INTEGER_OR_BOOLEAN)

# utility functions
ALL = Rule("all", d.STANDARD, BOOL)
ANY = Rule("any", d.STANDARD, BOOL)
DIFF = Rule("diff", d.NUMERIC)

# linear algebra
CHOLESKY = Rule("cholesky", d.LAPACK)
CROSS = Rule("cross", d.NUMERIC)
DET = Rule("det", d.LAPACK)
EIG = Rule("eig", d.LAPACK, COMPLEX_OF)
EIGH = Rule("eigh", d.LAPACK)
EIGVALS = Rule("eigvals", d.LAPACK, COMPLEX_OF)
EIGVALSH = Rule("eigvalsh", d.LAPACK, REAL_PART)
INV = Rule("inv", d.LAPACK)
MATMUL = Rule("matmul", d.NUMERIC)
MATRIX_NORM = Rule("matrix_norm", d.LAPACK, REAL_PART)
MATRIX_POWER = Rule("matrix_power", d.LAPACK)
MATRIX_RANK = Rule("matrix_rank", d.LAPACK, INDEX)
PINV = Rule("pinv", d.LAPACK)
QR = Rule("qr", d.LAPACK)
SLOGDET = Rule("slogdet", d.LAPACK)
SOLVE = Rule("solve", d.LAPACK)
SVD = Rule("svd", d.LAPACK)
SVDVALS = Rule("svdvals", d.LAPACK, REAL_PART)
TENSORDOT = Rule("tensordot", d.NUMERIC)
TRACE = Rule("trace", d.NUMERIC, ACCUMULATED, beyond=d.BOOLEAN)
VECDOT = Rule("vecdot", d.NUMERIC)
VECTOR_NORM = Rule("vector_norm", d.FLOATING, REAL_PART)

# Fourier transforms; beyond the standard, real input where it says complex
FFT = Rule("fft", d.COMPLEX, COMPLEX_OF, beyond=d.TRANSFORMABLE)
FFTFREQ = Rule("fftfreq", d.REAL_FLOATING)
FFTN = Rule("fftn", d.COMPLEX, COMPLEX_OF, beyond=d.TRANSFORMABLE)
FFTSHIFT = Rule("fftshift", d.FLOATING, beyond=d.ANY)
HFFT = Rule("hfft", d.COMPLEX, REAL_PART, beyond=d.TRANSFORMABLE)
IFFT = Rule("ifft", d.COMPLEX, COMPLEX_OF, beyond=d.TRANSFORMABLE)
IFFTN = Rule("ifftn", d.COMPLEX, COMPLEX_OF, beyond=d.TRANSFORMABLE)
IFFTSHIFT = Rule("ifftshift", d.FLOATING, beyond=d.ANY)
IHFFT = Rule("ihfft", d.TRANSFORMABLE, COMPLEX_OF)
IRFFT = Rule("irfft", d.COMPLEX, REAL_PART, beyond=d.TRANSFORMABLE)
IRFFTN = Rule("irfftn", d.COMPLEX, REAL_PART, beyond=d.TRANSFORMABLE)
RFFT = Rule("rfft", d.TRANSFORMABLE, COMPLEX_OF)
RFFTFREQ = Rule("rfftfreq", d.REAL_FLOATING)
RFFTN = Rule("rfftn", d.TRANSFORMABLE, COMPLEX_OF)
