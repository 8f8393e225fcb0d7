"""The namespace bound to JAX: what it creates is JAX-backed. Importing it imports JAX."""

from strata_api import *  # noqa: F403  # the whole namespace, but for what is bound below
from strata_api import __all__ as __all__
from strata_api import fft as _fft
from strata_api._binding import bound, bound_module
from strata_api.backends import get_backend
from strata_api.standard import creation_functions as _creation
from strata_api.standard.info import Info

get_backend("jax")  # loads it, or says what is missing

arange = bound(_creation.arange, "jax", __name__)
asarray = bound(_creation.asarray, "jax", __name__)
empty = bound(_creation.empty, "jax", __name__)
eye = bound(_creation.eye, "jax", __name__)
from_dlpack = bound(_creation.from_dlpack, "jax", __name__)
full = bound(_creation.full, "jax", __name__)
linspace = bound(_creation.linspace, "jax", __name__)
ones = bound(_creation.ones, "jax", __name__)
zeros = bound(_creation.zeros, "jax", __name__)
fft = bound_module(_fft, ("fftfreq", "rfftfreq"), "jax", __name__)


def __array_namespace_info__() -> Info:  # type: ignore[no-redef]  # this one is bound
    """Return what the namespace can do.

    Source: the standard, ``__array_namespace_info__``.
    """
    return Info("jax")


def __dir__() -> list[str]:
    return list(__all__)
