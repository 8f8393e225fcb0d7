"""Elementwise functions: what NumPy, Python's own numbers and ``cmath`` say of their values."""

from __future__ import annotations

import cmath
import itertools
import math
import operator

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_api import _rules
from strata_api._array import Array
from strata_api._context import default_dtypes, strict
from strata_api.backends import available
from strata_api.standard import elementwise_functions as xp
from strata_api.standard.creation_functions import asarray

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of the oracle

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = [np.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
REALS = [np.dtype("f4"), np.dtype("f8")]
COMPLEX = [np.dtype("c8"), np.dtype("c16")]
HALVES = [np.dtype("f2"), BFLOAT16]

NAMES = {  # where NumPy's name is another
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "round": "rint",
}
SMOOTH = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "reciprocal",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]
EXACT = [
    "abs",
    "ceil",
    "conj",
    "floor",
    "imag",
    "negative",
    "positive",
    "real",
    "round",
    "sign",
    "trunc",
]
PREDICATES = ["isfinite", "isinf", "isnan", "signbit"]
ARITHMETIC = [
    "add",
    "atan2",
    "copysign",
    "divide",
    "hypot",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "subtract",
]
COMPARISONS = {
    "equal": operator.eq,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "not_equal": operator.ne,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, -0.5, math.inf, -math.inf, math.nan, 1e-3, 88.0]


@pytest.fixture(scope="module", params=["numpy", "jax"])
def backend(request):
    if request.param not in available():
        pytest.skip("JAX is not installed")
    return request.param


def rule(name):
    return getattr(_rules, name.upper())


def accepts(name, dtypes):
    return [dtype for dtype in dtypes if dtype in rule(name).accepts]


def oracle(name):
    return getattr(np, NAMES.get(name, name))


def made(values, dtype, backend):
    return asarray(np.array(values, dtype=dtype), device=backend)


def host(x):
    assert isinstance(x, Array)
    return np.asarray(x)


def check_close(ours, expected, ulps, what):
    """Compare real arrays: NaN, infinities and signs of zeros exactly, the rest within ulps."""
    assert ours.dtype == expected.dtype, what
    assert ours.shape == expected.shape, what
    info = ml_dtypes.finfo(ours.dtype)
    a, b = ours.astype(np.float64), expected.astype(np.float64)
    flushed = (np.abs(b) < float(info.smallest_normal)) & (a == 0)  # XLA may flush subnormals
    same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
    near = finite & (np.abs(a - b) <= ulps * float(info.eps) * np.abs(b))
    wrong = ~(same | near | flushed)
    assert not wrong.any(), f"{what}: {ours[wrong][:5]} is not {expected[wrong][:5]}"


def grid(dtype):
    if dtype.kind not in "iu":
        return np.array(SPECIAL).astype(dtype)
    info = np.iinfo(dtype)
    return np.unique(np.array([info.min, info.max, 0, 1, 2, 3, 7, 100], dtype=dtype))


# -- one operand -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_are_those_of_numpy(name, backend):
    for dtype in accepts(name, REALS):
        rng = np.random.default_rng(7)
        x = np.concatenate([grid(dtype), rng.normal(size=300).astype(dtype), -rng.random(200)])
        x = x.astype(dtype)
        expected = oracle(name)(x.astype(np.longdouble)).astype(dtype)
        check_close(host(getattr(xp, name)(made(x, dtype, backend))), expected, 8, name)


@pytest.mark.parametrize("name", [*SMOOTH, "ceil", "floor", "round", "trunc", "abs", "negative"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_16_bit_number_gives_the_rounded_value(name, dtype, backend):
    x = np.arange(2**16, dtype=np.uint16).view(dtype)
    x = x[np.isfinite(x) & ((np.abs(x) >= 4 * ml_dtypes.finfo(dtype).smallest_normal) | (x == 0))]
    expected = oracle(name)(x.astype(np.float64)).astype(dtype)
    if name in ("cos", "sin", "tan"):
        x, expected = x[np.abs(x) < 1000], expected[np.abs(x) < 1000]
    check_close(host(getattr(xp, name)(made(x, dtype, backend))), expected, 1, name)


@pytest.mark.parametrize("name", [*EXACT, *PREDICATES])
def test_exact_functions_are_those_of_numpy_bit_for_bit(name, backend):
    for dtype in accepts(name, INTEGERS + REALS):
        x = grid(dtype)
        ours = host(getattr(xp, name)(made(x, dtype, backend)))
        if name in ("ceil", "floor", "round", "trunc") and dtype.kind in "iu":
            expected = x
        else:
            expected = oracle(name)(x)
        assert ours.dtype == (np.bool_ if name in PREDICATES else dtype)
        np.testing.assert_array_equal(ours, expected)
        if dtype.kind == "f" and name not in PREDICATES and name != "sign":
            numbers = ~np.isnan(x)
            assert (np.signbit(ours) == np.signbit(expected))[numbers].all()


def test_the_sign_of_zeros_is_zero_and_of_nan_is_nan(backend):
    for dtype in REALS + HALVES:
        signs = host(xp.sign(made([0.0, -0.0, math.nan, -3.0], dtype, backend)))
        assert signs.dtype == dtype
        assert not np.signbit(signs[:2]).any()
        assert np.isnan(signs[2])
        assert signs[3] == -1


def test_the_sign_of_a_complex_number_is_it_over_its_modulus(backend):
    x = [3 + 4j, -1e300 - 1e300j, 0j, -0.0 - 0.0j, complex(math.nan, 1), 1e-320j]
    ours = host(xp.sign(made(x, "c16", backend)))
    root = math.sqrt(0.5)
    np.testing.assert_allclose(ours[:4], [0.6 + 0.8j, -root - root * 1j, 0, 0], rtol=1e-15)
    assert np.isnan(ours[4].real)
    assert np.isnan(ours[4].imag)


def test_rounding_goes_to_the_even_one_of_two_in_both_parts(backend):
    ours = host(xp.round(made([0.5 + 1.5j, 2.5 - 2.5j, -0.5 + 3j], "c16", backend)))
    np.testing.assert_array_equal(ours, [0 + 2j, 2 - 2j, 0 + 3j])
    assert np.signbit(ours[2].real)


def test_the_parts_of_real_numbers_are_themselves_and_zero(backend):
    for dtype in (np.dtype("i4"), np.dtype("f4"), BFLOAT16):
        x = made([1, 2], dtype, backend)
        for ours, expected in (xp.real(x), [1, 2]), (xp.conj(x), [1, 2]), (xp.imag(x), [0, 0]):
            assert ours.dtype == dtype
            assert ours.tolist() == expected
    with strict(), pytest.raises(TypeError, match="imag: expected a complex"):
        xp.imag(made([1.0], "f8", backend))


@pytest.mark.parametrize("name", ["positive", "real", "conj", "floor", "round", "trunc", "clip"])
@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_a_result_that_equals_its_operand_is_still_fresh(name, dtype, backend):
    x = made([1, 2, 3], dtype, backend)
    result = getattr(xp, name)(x)
    result[0] = 7
    assert x.tolist() == [1, 2, 3]
    x[1] = 9
    assert result.tolist() == [7, 2, 3]


# -- complex numbers -------------------------------------------------------------------------------

CMATH = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "log",
    "log10",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
ODD = ["sin", "tan", "sinh", "tanh", "asin", "asinh", "atan", "atanh"]
PLANE = [complex(a, b) for a, b in itertools.product(SPECIAL, SPECIAL)]


def by_cmath(name, z):
    """Return what ``cmath`` says, or ``None`` where it raises instead."""
    try:
        return getattr(cmath, name)(z)
    except (ValueError, OverflowError):
        return None


def agree(a, b, size):
    """Compare a part; ``size`` is the modulus, or NaN where the sign of an infinity is open."""
    if math.isnan(b):
        return math.isnan(a)
    if math.isinf(b):
        return abs(a) == abs(b) if math.isnan(size) else a == b
    return abs(a - b) <= 1e-14 * (abs(b) if math.isnan(size) else max(size, abs(b)))


def unspecified(name, z, part):
    """Tell where the standard leaves a component open, and C libraries differ."""
    open_at_nan = {"acosh": z.real == 0, "tan": z.imag == 0, "tanh": z.real == 0}
    return math.isnan(z.real + z.imag) and open_at_nan.get(name, False)


@pytest.mark.parametrize("name", CMATH)
def test_complex_functions_are_those_of_c(name, backend):
    ours = host(getattr(xp, name)(made(PLANE, "c16", backend)))
    for z, w in zip(PLANE, ours.tolist(), strict=True):
        expected = by_cmath(name, z)
        if expected is None or unspecified(name, z, w):
            continue
        size = abs(expected) if cmath.isfinite(expected) else 0
        size = math.nan if cmath.isnan(expected) else size
        assert agree(w.real, expected.real, size), (z, w, expected)
        assert agree(w.imag, expected.imag, size), (z, w, expected)


@pytest.mark.parametrize("name", [*CMATH, "expm1", "log1p", "log2"])
def test_complex_functions_of_the_conjugate_are_conjugate(name, backend):
    points = [z for z in PLANE if math.isfinite(z.real) and math.isfinite(z.imag)]
    f = getattr(xp, name)
    ours = host(f(made(points, "c16", backend)))
    mirrored = host(f(made(np.conj(points), "c16", backend)))
    check_close(mirrored.real, ours.real, 4, name)
    check_close(mirrored.imag, -ours.imag, 4, name)


@pytest.mark.parametrize("name", ODD)
def test_odd_complex_functions_are_odd_in_their_signed_zeros_too(name, backend):
    points = [z for z in PLANE if math.isfinite(z.real) and math.isfinite(z.imag)]
    ours = host(getattr(xp, name)(made(points, "c16", backend)))
    turned = host(getattr(xp, name)(made(np.negative(points), "c16", backend)))
    check_close(turned.real, -ours.real, 4, name)
    check_close(turned.imag, -ours.imag, 4, name)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_expm1_and_log1p_are_exact_near_zero(dtype, backend):
    eps = np.finfo(dtype).eps
    z = np.array([1e-5 + 1e-6j, -1e-4 + 1e-7j, 3e-6 - 2e-6j]).astype(dtype)
    wide = z.astype(np.clongdouble)
    series = {
        "expm1": wide + wide**2 / 2 + wide**3 / 6 + wide**4 / 24,
        "log1p": wide - wide**2 / 2 + wide**3 / 3 - wide**4 / 4,
    }
    for name, expected in series.items():
        ours = host(getattr(xp, name)(made(z, dtype, backend)))
        assert (np.abs(ours.real - expected.real) <= 8 * eps * np.abs(expected.real)).all()
        assert (np.abs(ours.imag - expected.imag) <= 8 * eps * np.abs(expected.imag)).all()


def test_complex_special_cases_where_numpy_departs_from_the_standard(backend):
    inf, nan = math.inf, math.nan
    frozen = {
        ("expm1", complex(-0.0, 0.0)): complex(0.0, 0.0),
        ("expm1", complex(inf, 0.0)): complex(inf, 0.0),
        ("expm1", complex(-inf, inf)): complex(-1, 0),
        ("expm1", complex(inf, nan)): complex(inf, nan),
        ("expm1", complex(nan, 0.0)): complex(nan, 0.0),
        ("tanh", complex(inf, 2.0)): complex(1, 0.0),
        ("tanh", complex(0.0, nan)): complex(0, nan),
        ("tan", complex(2.0, inf)): complex(0.0, 1),
        ("abs", complex(inf, nan)): inf,
        ("abs", complex(nan, -inf)): inf,
    }
    for (name, z), expected in frozen.items():
        value = host(getattr(xp, name)(made(z, "c16", backend)))
        parts = complex(abs(complex(expected).real), abs(complex(expected).imag))
        assert repr(complex(np.abs(value.real), np.abs(value.imag))) == repr(parts), name
        if name in ("tanh", "tan"):
            assert not np.signbit(value.real), name
            assert not np.signbit(value.imag), name


def test_complex_powers_of_small_integers_are_products(backend):
    x = made([1 + 1j, 3 - 2j], "c16", backend)
    assert (x**2).tolist() == [2j, 5 - 12j]
    assert xp.pow(x, 0).tolist() == [1, 1]
    assert xp.pow(made([0j], "c16", backend), 2).tolist() == [0]


# -- two operands ----------------------------------------------------------------------------------


def pairs(dtype):
    a, b = np.meshgrid(grid(dtype), grid(dtype))
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_that_of_numpy(name, backend):
    for dtype in accepts(name, INTEGERS + REALS):
        a, b = pairs(dtype)
        ours = host(getattr(xp, name)(made(a, dtype, backend), made(b, dtype, backend)))
        expected = oracle(name)(a, b)
        if dtype.kind in "iu":
            assert ours.dtype == dtype
            np.testing.assert_array_equal(ours, expected)
        elif name in ("maximum", "minimum"):
            np.testing.assert_array_equal(ours, expected)
        else:
            check_close(ours, expected, 4, name)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS, BFLOAT16], ids=str)
def test_comparisons_are_those_of_numpy(name, dtype, backend):
    a, b = pairs(dtype)
    ours = host(getattr(xp, name)(made(a, dtype, backend), made(b, dtype, backend)))
    np.testing.assert_array_equal(ours, oracle(name)(a, b))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_is_that_of_python(name, backend):
    table = {"logical_and": operator.and_, "logical_or": operator.or_, "logical_xor": operator.xor}
    a, b = [True, True, False, False], [True, False, True, False]
    ours = getattr(xp, name)(made(a, "?", backend), made(b, "?", backend))
    assert ours.tolist() == [table[name](p, q) for p, q in zip(a, b, strict=True)]


def wrapped(value, dtype):
    bits = dtype.itemsize * 8
    value %= 2**bits
    return value - 2**bits if dtype.kind == "i" and value >= 2 ** (bits - 1) else value


@pytest.mark.parametrize("dtype", [np.dtype("i1"), np.dtype("u1")], ids=str)
def test_every_shift_of_8_bits_is_that_of_python(dtype, backend):
    info = np.iinfo(dtype)
    x = np.arange(info.min, info.max + 1).astype(dtype)
    counts = np.array([*range(20), info.max], dtype=dtype)
    a, b = np.meshgrid(x, counts)
    left = host(xp.bitwise_left_shift(made(a, dtype, backend), made(b, dtype, backend)))
    right = host(xp.bitwise_right_shift(made(a, dtype, backend), made(b, dtype, backend)))
    for p, q, r, s in zip(a.flat, b.flat, left.flat, right.flat, strict=True):
        assert int(r) == wrapped(int(p) << int(q), dtype)
        assert int(s) == int(p) >> int(q)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_shifts_by_the_width_or_a_negative_count_have_one_answer(dtype, backend):
    width = dtype.itemsize * 8
    counts = [width, width + 1] if dtype.kind == "u" else [width, -1] if width < 128 else []
    x = made([1, 5], dtype, backend)
    low = made([np.iinfo(dtype).min] * 2, dtype, backend)
    assert xp.bitwise_left_shift(x, made(counts, dtype, backend)).tolist() == [0, 0]
    expected = 0 if dtype.kind == "u" else -1
    shifted = xp.bitwise_right_shift(low, made(counts, dtype, backend))
    assert shifted.tolist() == [expected, expected]


@pytest.mark.parametrize("dtype", [np.dtype("i1"), np.dtype("u1")], ids=str)
def test_every_division_of_8_bits_is_that_of_python_and_by_zero_gives_zero(dtype, backend):
    info = np.iinfo(dtype)
    a, b = np.meshgrid(*[np.arange(info.min, info.max + 1).astype(dtype)] * 2)
    quotient = host(made(a, dtype, backend) // made(b, dtype, backend)).astype(int)
    rest = host(made(a, dtype, backend) % made(b, dtype, backend)).astype(int)
    p, q = a.astype(int), b.astype(int)
    by = np.where(q == 0, 1, q)
    expected = np.where(q == 0, 0, p // by)
    expected = (expected - info.min) % 256 + info.min  # the smallest by -1 wraps
    np.testing.assert_array_equal(quotient, expected)
    np.testing.assert_array_equal(rest, np.where(q == 0, 0, p % by))


FLOATS = st.floats(width=32, allow_subnormal=False)


@given(x=FLOATS, y=FLOATS)
def test_the_remainder_has_the_sign_of_the_divisor_and_is_pythons(x, y):
    ours = host(asarray([x], device="numpy") % asarray([y], device="numpy"))[0]
    if y == 0 or math.isnan(x) or math.isnan(y) or math.isinf(x):
        assert math.isnan(ours)
        return
    assert np.signbit(ours) == np.signbit(np.float64(y))
    assert ours == x % y


def test_floor_division_at_infinities_and_zeros(backend):
    inf = math.inf
    frozen = [  # dividend, divisor, quotient
        (inf, 2.0, inf),
        (inf, -2.0, -inf),
        (-inf, 2.0, -inf),
        (-inf, -2.0, inf),
        (2.0, inf, 0.0),
        (2.0, -inf, -0.0),
        (-2.0, inf, -0.0),
        (-2.0, -inf, 0.0),
        (1.0, 0.0, inf),
        (1.0, -0.0, -inf),
        (-1.0, 0.0, -inf),
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (0.0, -3.0, -0.0),
        (0.0, 0.0, math.nan),
        (inf, inf, math.nan),
        (1.0, 0.1, 9.0),
        (-1.0, 0.1, -10.0),
    ]
    for dtype in REALS + HALVES:
        x, y, q = (np.array(column) for column in zip(*frozen, strict=True))
        if dtype != np.float64:
            x, y, q = x[:16], y[:16], q[:16]
        check_close(
            host(made(x, dtype, backend) // made(y, dtype, backend)), q.astype(dtype), 0, "//"
        )


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_powers_wrap_as_pythons_do(dtype, backend):
    x = grid(dtype)
    y = np.array([0, 1, 2, 3, 7, 63, 64, 65, 100], dtype=dtype)
    a, b = np.meshgrid(x, y)
    ours = host(xp.pow(made(a, dtype, backend), made(b, dtype, backend)))
    for p, q, r in zip(a.flat, b.flat, ours.flat, strict=True):
        assert int(r) == wrapped(int(p) ** int(q), dtype), (p, q)


def test_integers_to_a_negative_power_are_refused_and_nothing_is_written(backend):
    x = made([2, 3], "i4", backend)
    for exponent in (-1, made([1, -2], "i4", backend), made([1, -2], "i8", backend)):
        with pytest.raises(ValueError, match=r"pow: expected exponents of 0 or more .* got -"):
            xp.pow(x, exponent)
        with pytest.raises(ValueError, match="pow: expected exponents"):
            x **= exponent
        assert x.tolist() == [2, 3]
    assert (x**2).tolist() == [4, 9]
    assert (x ** made([3, 0], "i4", backend)).tolist() == [8, 1]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", ["add", "divide", "hypot", "multiply", "pow", "logaddexp"])
def test_16_bit_pairs_are_rounded_from_wider_numbers(name, dtype, backend):
    rng = np.random.default_rng(3)
    a, b = (np.exp(rng.normal(size=500)).astype(dtype) for _ in range(2))
    expected = oracle(name if name != "pow" else "power")(a.astype("f8"), b.astype("f8"))
    ours = host(getattr(xp, name)(made(a, dtype, backend), made(b, dtype, backend)))
    check_close(ours, expected.astype(dtype), 1, name)


# -- scalars ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_comparisons_with_any_python_integer_are_those_of_the_numbers(name, dtype, backend):
    info = np.iinfo(dtype)
    values = [int(info.min), 0, int(info.max)]
    x = made(values, dtype, backend)
    compare = COMPARISONS[name]
    for n in (-(2**70), int(info.min) - 1, int(info.min), 0, int(info.max), 300, 2**64, 2**70):
        assert getattr(xp, name)(x, n).tolist() == [compare(v, n) for v in values]
        assert getattr(xp, name)(n, x).tolist() == [compare(n, v) for v in values]
        assert compare(x, n).tolist() == [compare(v, n) for v in values]


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "maximum", "bitwise_and", "floor_divide", "pow"]
)
def test_arithmetic_with_an_integer_that_does_not_fit_is_refused(name, backend):
    x = made([1, 2], "i1", backend)
    for n in (128, -129):
        with pytest.raises(OverflowError, match=r"expected an integer in -128\.\.127 for int8"):
            getattr(xp, name)(n, x)
    with pytest.raises(OverflowError):
        xp.add(made([1.0], "f8", backend), 10**400)


@pytest.mark.parametrize("name", ["atan2", "copysign", "hypot", "logaddexp", "nextafter", "pow"])
def test_a_python_scalar_takes_the_dtype_of_the_array_on_either_side(name, backend):
    x = made([0.5, 2.0], "f4", backend)
    for scalar in (2, 1.5):
        other = made(scalar, "f4", backend)
        f = getattr(xp, name)
        for ours, expected in (f(x, scalar), f(x, other)), (f(scalar, x), f(other, x)):
            assert ours.dtype == np.float32
            assert ours.tolist() == expected.tolist()


def test_two_integers_divide_as_default_real_numbers(backend):
    x, y = made([1, 2, 3], "i4", backend), made([2, 2, 2], "i8", backend)
    for ours in (x / y, xp.divide(x, y), x / 2):
        assert ours.dtype == np.float64
        assert ours.tolist() == [0.5, 1.0, 1.5]
    assert (600 / made([2], "i1", backend)).tolist() == [300.0]
    with default_dtypes(real="float32"):
        assert (x / y).dtype == np.float32
    with strict(), pytest.raises(TypeError, match="divide: expected a floating-point dtype"):
        xp.divide(x, x)
    with pytest.raises(TypeError):
        x /= 2


def test_what_is_no_array_is_refused(backend):
    x = made([1.0], "f8", backend)
    for bad in ("a", None, object(), [1.0]):
        with pytest.raises(TypeError, match="add: expected an array"):
            xp.add(x, bad)
        for name in ("__add__", "__truediv__", "__rtruediv__", "__pow__", "__lt__", "__eq__"):
            assert getattr(x, name)(bad) is NotImplemented
    with pytest.raises(TypeError, match="expected at least one array"):
        xp.add(1, 2)
    with pytest.raises(TypeError, match="abs: expected an array, got int 3"):
        xp.abs(3)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("add", "?"), ("abs", "?"), ("sin", "i8"), ("less", "c16"), ("bitwise_and", "f8"),
     ("logical_and", "i4"), ("hypot", "c8"), ("floor", "c8"), ("signbit", "i4")],
)  # fmt: skip
def test_a_dtype_that_the_function_does_not_take_is_refused(name, dtype, backend):
    x = made([1], dtype, backend)
    f = getattr(xp, name)
    with pytest.raises(TypeError, match=f"^{name}: expected a .* dtype, got {x.dtype}"):
        f(x) if name in ("abs", "sin", "floor", "signbit") else f(x, x)


def test_shapes_that_do_not_broadcast_are_refused_by_name(backend):
    x, y = made(np.zeros((2, 3)), "f8", backend), made(np.zeros(4), "f8", backend)
    for _ in range(2):  # the second call takes the short way
        with pytest.raises(ValueError, match=r"add: shapes \(2, 3\) and \(4,\) do not broadcast"):
            xp.add(x, y)
        xp.add(x, x)


# -- clip ------------------------------------------------------------------------------------------

BOUND = st.none() | st.integers(-300, 300)


@given(x=st.lists(st.integers(-128, 127), min_size=1, max_size=5), low=BOUND, high=BOUND)
def test_clip_keeps_integers_between_any_python_integers(x, low, high):
    array = asarray(np.array(x, dtype=np.int8), device="numpy")
    unreachable = (low is not None and low > 127) or (high is not None and high < -128)
    if unreachable:
        with pytest.raises(OverflowError, match="clip: expected an integer"):
            xp.clip(array, low, high)
        return
    ours = xp.clip(array, low, high)
    assert ours.dtype == np.int8
    lowest = -128 if low is None else low
    highest = 127 if high is None else high
    assert ours.tolist() == [min(max(v, lowest), highest) for v in x]


def test_clip_takes_arrays_broadcasts_and_lets_nan_win(backend):
    x = made([[1.0, 5.0, math.nan], [2.0, 8.0, -1.0]], "f4", backend)
    low = made([0.0, math.nan, 0.0], "f4", backend)
    ours = host(xp.clip(x, low, max=3))
    np.testing.assert_array_equal(ours, np.array([[1, np.nan, np.nan], [2, np.nan, 0]], "f4"))
    assert xp.clip(made(4.0, "f8", backend), low, None).shape == (3,)
    assert xp.clip(x, 4.0, 2.0).tolist()[1] == [2.0, 2.0, 2.0]  # the upper bound is the last word


def test_clip_keeps_the_dtype_of_its_first_operand(backend):
    x = made([-5, 5, 100], "i1", backend)
    wide = made([-1000, 1000], "i8", backend)
    assert xp.clip(x, wide[0], wide[1]).tolist() == [-5, 5, 100]
    assert xp.clip(x, wide[1]).tolist() == [127, 127, 127]
    assert xp.clip(x, max=made(3, "u1", backend)).dtype == "i1"
    assert xp.clip(made([0.3], "f4", backend), made(0.5, "f8", backend)).dtype == np.float32
    with pytest.raises(TypeError, match=r"clip: expected bounds that go into int8, got 0\.5"):
        xp.clip(x, 0.5)
    with pytest.raises(TypeError, match="clip: expected bounds of dtype int8, got float64"):
        xp.clip(x, made(0.5, "f8", backend))
    with strict(), pytest.raises(TypeError, match="clip: expected bounds of dtype int8, got int64"):
        xp.clip(x, wide[0])


# -- derivatives -----------------------------------------------------------------------------------


def test_corrected_kernels_of_jax_have_the_derivatives_of_the_functions():
    jax = pytest.importorskip("jax")
    if "jax" not in available():
        pytest.skip("JAX is not installed")

    step = 1e-6
    for name in [*CMATH, "expm1", "log1p", "log2", "reciprocal"]:
        f = getattr(xp, name)
        for z in (0.3 + 0.4j, 1.7 - 0.6j, 0.5 + 0j):
            x = asarray(np.array(z), device="jax")
            one = asarray(np.array(1 + 0j), device="jax")
            value, slope = jax.jvp(f, (x,), (one,))
            ahead = f(asarray(np.array(z + step), device="jax"))
            behind = f(asarray(np.array(z - step), device="jax"))
            quotient = complex(host(ahead) - host(behind)) / (2 * step)
            assert cmath.isclose(complex(value), complex(f(x)), rel_tol=1e-14)
            assert abs(complex(slope) - quotient) < 1e-7 * max(1, abs(quotient)), (name, z)
