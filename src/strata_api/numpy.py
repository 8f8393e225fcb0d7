"""The namespace bound to NumPy: what it creates is NumPy-backed."""

from strata_api import *  # noqa: F403  # the whole namespace, but for what is bound below
from strata_api import __all__ as __all__
from strata_api import fft as _fft
from strata_api._binding import bound, bound_module
from strata_api.backends import get_backend
from strata_api.standard import creation_functions as _creation
from strata_api.standard.info import Info

get_backend("numpy")  # loads it, or says what is missing

arange = bound(_creation.arange, "numpy", __name__)
asarray = bound(_creation.asarray, "numpy", __name__)
empty = bound(_creation.empty, "numpy", __name__)
eye = bound(_creation.eye, "numpy", __name__)
from_dlpack = bound(_creation.from_dlpack, "numpy", __name__)
full = bound(_creation.full, "numpy", __name__)
linspace = bound(_creation.linspace, "numpy", __name__)
ones = bound(_creation.ones, "numpy", __name__)
zeros = bound(_creation.zeros, "numpy", __name__)
fft = bound_module(_fft, ("fftfreq", "rfftfreq"), "numpy", __name__)


def __array_namespace_info__() -> Info:  # type: ignore[no-redef]  # this one is bound
    """Return what the namespace can do.

    Source: the standard, ``__array_namespace_info__``.
    """
    return Info("numpy")


def __dir__() -> list[str]:
    return list(__all__)
