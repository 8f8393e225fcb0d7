"""Fourier transforms against NumPy's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import strata_api.abstract as abstract
from oracle import array, check_equal, host, some
from strata_api import Dimension, default_dtypes, strict

NORMS = ["backward", "ortho", "forward"]
TO_COMPLEX = ["fft", "ifft"]
FROM_REAL = ["rfft", "ihfft"]
TO_REAL = ["irfft", "hfft"]
ONE = [*TO_COMPLEX, *FROM_REAL, *TO_REAL]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn"]
DOUBLE = {np.dtype("f4"): np.dtype("f8"), np.dtype("c8"): np.dtype("c16")}


def signal(shape: tuple[int, ...], name: str, precision: int = 8) -> Any:
    """Return numbers that the transform takes, with parts of so many bytes."""
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, shape)
    if name.startswith("r") or name == "ihfft":
        return x.astype(f"f{precision}")
    return (x + 1j * rng.uniform(-1, 1, shape)).astype(f"c{2 * precision}")


def check_near(have: Any, want: Any, what: object = "") -> None:
    have = host(have)
    assert have.dtype == want.dtype, f"{what}: expected {want.dtype}, got {have.dtype}"
    assert have.shape == want.shape, f"{what}: expected {want.shape}, got {have.shape}"
    tolerance = 64 * np.finfo(want.dtype).eps
    np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance, err_msg=str(what))


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("precision", [4, 8])
def test_transforms_along_an_axis(backend: ModuleType, name: str, precision: int) -> None:
    cases = [(n, axis, norm) for n in (None, 1, 3, 4, 7) for axis in (0, -1) for norm in NORMS]
    x = signal((4, 5), name, precision)
    for n, axis, norm in some(backend, cases, 8):
        check_near(
            getattr(backend.fft, name)(array(backend, x), n=n, axis=axis, norm=norm),
            getattr(np.fft, name)(x, n=n, axis=axis, norm=norm),
            what=(name, n, axis, norm),
        )


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("precision", [4, 8])
def test_transforms_along_axes(backend: ModuleType, name: str, precision: int) -> None:
    x = signal((2, 3, 2, 5), name, precision)
    cases = [
        (s, axes, norm)
        for s, axes in (
            (None, None),
            (None, (0, 1)),
            (None, [-1]),
            ((4, 3), (0, -1)),
            ((2, 6), (3, 1)),
            ((-1, 4), (1, 3)),
            ((3, -1), (1, 3)),
        )
        for norm in NORMS
    ]
    for s, axes, norm in some(backend, cases, 7):
        check_near(
            getattr(backend.fft, name)(array(backend, x), s=s, axes=axes, norm=norm),
            oracle(name, x, s, axes, norm),
            what=(name, s, axes, norm),
        )


def oracle(name: str, x: Any, s: Any, axes: Any, norm: str) -> Any:
    """Call NumPy's function; its -1 in the last place of ``irfftn`` is not the standard's."""
    if s is not None:
        s = [x.shape[k] if n == -1 else n for n, k in zip(s, axes, strict=True)]
        if name == "irfftn" and s == [3, 5]:
            s = [3, 8]
    return getattr(np.fft, name)(x, s=s, axes=axes, norm=norm)


def test_inverses_give_the_signal_again(backend: ModuleType) -> None:
    fft = backend.fft
    z, x = signal((3, 4), "fft"), signal((3, 4), "rfft")
    for norm in NORMS:
        ours, real = array(backend, z), array(backend, x)
        check_near(fft.ifft(fft.fft(ours, norm=norm), norm=norm), z)
        check_near(fft.ifftn(fft.fftn(ours, norm=norm), norm=norm), z)
        check_near(fft.irfft(fft.rfft(real, norm=norm), norm=norm), x)
        check_near(fft.irfftn(fft.rfftn(real, norm=norm), norm=norm), x)
        check_near(fft.hfft(fft.ihfft(real, norm=norm), norm=norm), x)


@pytest.mark.parametrize("name", [*TO_COMPLEX, *TO_REAL, "fftn", "ifftn", "irfftn"])
def test_real_input_is_accepted_beyond_the_standard(backend: ModuleType, name: str) -> None:
    function = getattr(backend.fft, name)
    for dtype in ("f4", "f8", "i4"):
        x = np.array([1, 2, 4]).astype(dtype)
        check_near(function(array(backend, x)), getattr(np.fft, name)(x), what=(name, dtype))
        with strict(), pytest.raises(TypeError, match=f"{name}: expected a complex"):
            function(array(backend, x))
    with default_dtypes(real="float32"):
        assert function(array(backend, np.array([1, 2, 4]))).dtype in (np.float32, np.complex64)


@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_dtypes_without_a_transform(backend: ModuleType, name: str) -> None:
    others = ["f2", ml_dtypes.bfloat16, "bool"]
    if name in (*FROM_REAL, "rfftn"):
        others.append("c16")
    for dtype in others:
        with pytest.raises(TypeError, match=f"{name}: expected a "):
            getattr(backend.fft, name)(array(backend, np.ones(3, dtype)))


@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_bad_arguments(backend: ModuleType, name: str) -> None:
    function = getattr(backend.fft, name)
    x = array(backend, signal((2, 3), name))
    bad = {"n": 0} if name in ONE else {"s": (0,), "axes": (0,)}
    with pytest.raises(ValueError, match=f"{name}.*: expected one element or more|fft: expected"):
        function(x, **bad)
    with pytest.raises(ValueError, match=f"{name}: expected norm"):
        function(x, norm="none")
    with pytest.raises(IndexError, match="out of range"):
        function(x, **({"axis": 2} if name in ONE else {"axes": (2,)}))
    with pytest.raises(ValueError, match="expected one element or more"):
        function(x[:, :0])
    if name in SEVERAL:
        with pytest.raises(ValueError, match="expected axes"):
            function(x, s=(2, 3))
        with pytest.raises(ValueError, match="an extent for each"):
            function(x, s=(2,), axes=(0, 1))
        with pytest.raises(ValueError, match="given twice"):
            function(x, axes=(0, 0))


def test_half_a_spectrum_of_one_element_has_no_signal(backend: ModuleType) -> None:
    x = array(backend, np.ones(1, complex))
    for name in TO_REAL:
        with pytest.raises(ValueError, match="expected one element or more"):
            getattr(backend.fft, name)(x)
        check_equal(getattr(backend.fft, name)(x, n=1), np.ones(1))


def test_no_axes_change_nothing_but_the_dtype(backend: ModuleType) -> None:
    x = signal((2, 3), "fft")
    check_equal(backend.fft.fftn(array(backend, x), axes=()), x)
    check_equal(backend.fft.fftn(array(backend, x[0, 0])), x[0, 0])
    with pytest.raises(ValueError, match="one axis or more"):
        backend.fft.irfftn(array(backend, x), axes=())


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(backend: ModuleType, name: str) -> None:
    function = getattr(backend.fft, name)
    for n in (1, 2, 5, 8):
        check_equal(function(n), getattr(np.fft, name)(n))
        check_equal(function(n, d=0.1), getattr(np.fft, name)(n, 0.1))
        result = function(n, dtype=np.dtype("float32"))
        check_equal(result, getattr(np.fft, name)(n).astype("float32"))
    with default_dtypes(real="float32"):
        assert function(3).dtype == np.float32
    assert function(3).device == backend.zeros(1).device
    with pytest.raises(ValueError, match="expected"):
        function(0)
    with pytest.raises(TypeError, match="real floating-point"):
        function(3, dtype=np.dtype("complex64"))


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(backend: ModuleType, name: str) -> None:
    function = getattr(backend.fft, name)
    for shape in ((5,), (2, 3), (0, 3), ()):
        x = signal(shape, "fft")
        for axes in (None, (), -1, (0, -1)) if shape else (None, ()):
            if axes == (0, -1) and len(shape) < 2:
                continue
            want = getattr(np.fft, name)(x, axes=axes) if axes != () and shape else x
            check_equal(function(array(backend, x), axes=axes), want, what=(shape, axes))
    check_equal(function(array(backend, np.arange(3))), getattr(np.fft, name)(np.arange(3)))
    with pytest.raises(IndexError, match="out of range"):
        function(array(backend, np.ones(3)), axes=1)
    with strict(), pytest.raises(TypeError, match="floating-point"):
        function(array(backend, np.arange(3)))


def test_shapes_of_unknown_extents() -> None:
    x = abstract.empty((3, Dimension(2, 5)), dtype=np.dtype("complex64"))
    fft = abstract.fft
    assert fft.fft(x).dims == x.dims
    assert fft.irfft(x).dims == (3, Dimension(2, 8))
    assert fft.irfft(x).dtype == np.float32
    real = abstract.empty((3, Dimension(2, 5)), dtype=np.dtype("float64"))
    assert fft.rfft(real).dims == (3, Dimension(2, 3))
    assert fft.rfft(real).dtype == np.complex128
    assert fft.rfftn(real, s=(4, -1), axes=(0, 1)).dims == (4, Dimension(2, 3))
    assert fft.fftn(x, s=(7,), axes=(1,)).dims == (3, 7)
    assert fft.irfftn(x).dims == (3, Dimension(2, 8))
    assert fft.fftshift(x).dims == x.dims
    assert fft.fftfreq(Dimension(1, 4)).dims == (Dimension(1, 4),)
    assert fft.rfftfreq(Dimension(1, 4)).dims == (Dimension(1, 3),)
    with pytest.raises(ValueError, match="expected one element or more"):
        fft.irfft(abstract.empty((Dimension(0, 1),), dtype=np.dtype("complex64")))
