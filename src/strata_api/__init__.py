"""The array API standard, with views and writes that mean the same everywhere."""

from strata_api._array import Array as Array
