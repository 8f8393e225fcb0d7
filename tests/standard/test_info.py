"""Inspection: what the namespaces say of themselves."""

from __future__ import annotations

import itertools
from types import ModuleType

import pytest

import strata_api
from strata_api import abstract

STANDARD = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
STANDARD += ["float32", "float64", "complex64", "complex128"]


def test_dtypes_are_the_standards_by_name_and_no_others(backend: ModuleType) -> None:
    dtypes = backend.__array_namespace_info__().dtypes()
    assert dtypes == {name: getattr(backend, name) for name in STANDARD}


def test_dtypes_of_kinds_are_those_that_isdtype_tells(backend: ModuleType) -> None:
    info = backend.__array_namespace_info__()
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
    kinds += ["complex floating", "numeric"]
    for pair in [*[(kind,) for kind in kinds], *itertools.product(kinds, kinds)]:
        want = {n: t for n, t in info.dtypes().items() if backend.isdtype(t, pair)}
        assert info.dtypes(kind=pair) == want
        assert info.dtypes(kind=pair[0]) == info.dtypes(kind=pair[:1])
    with pytest.raises(ValueError, match="floats"):
        info.dtypes(kind="floats")


def test_default_dtypes_are_those_that_creation_uses(backend: ModuleType) -> None:
    info = backend.__array_namespace_info__()

    def made() -> dict[str, object]:
        return {
            "real floating": backend.zeros(1).dtype,
            "complex floating": backend.asarray(1j).dtype,
            "integral": backend.arange(1).dtype,
            "indexing": backend.nonzero(backend.ones(2))[0].dtype,
        }

    assert info.default_dtypes() == made()
    with strata_api.default_dtypes(real="float32", integral="int32"):
        assert info.default_dtypes(device=info.default_device()) == made()


def test_devices_of_a_bound_namespace_are_its_backends_alone(backend: ModuleType) -> None:
    info = backend.__array_namespace_info__()
    name = backend.__name__.rpartition(".")[2]
    devices = info.devices()
    assert isinstance(devices, tuple)
    assert info.default_device() in devices
    for device in devices:
        assert device.backend == name
        assert backend.zeros(1, device=device).device == device
        assert info.dtypes(device=device) == info.dtypes()


def test_the_unbound_namespace_lists_the_devices_of_all_backends(backend: ModuleType) -> None:
    info = strata_api.__array_namespace_info__()
    assert set(backend.__array_namespace_info__().devices()) <= set(info.devices())
    with strata_api.default_backend(backend.__name__.rpartition(".")[2]):
        assert info.default_device() == strata_api.zeros(1).device


def test_unknown_devices_are_refused(backend: ModuleType) -> None:
    info = backend.__array_namespace_info__()
    for call in (info.dtypes, info.default_dtypes):
        with pytest.raises(ValueError, match="device"):
            call(device="moon")


def test_capabilities_are_real(backend: ModuleType) -> None:
    capabilities = backend.__array_namespace_info__().capabilities()
    assert set(capabilities) == {
        "boolean indexing",
        "data-dependent shapes",
        "max dimensions",
    }
    x = backend.arange(4)
    assert capabilities["boolean indexing"] is (x[x > 1].tolist() == [2, 3])
    assert capabilities["data-dependent shapes"] is (backend.nonzero(x)[0].tolist() == [1, 2, 3])
    rank = capabilities["max dimensions"]
    assert backend.zeros((1,) * rank).ndim == rank


def test_the_abstract_namespace_has_its_one_device() -> None:
    info = abstract.__array_namespace_info__()
    assert [str(device) for device in info.devices()] == ["abstract:spec"]
    assert info.default_device() == abstract.zeros(3).device
