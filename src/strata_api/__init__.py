"""The array API standard, with views and writes that mean the same everywhere."""
