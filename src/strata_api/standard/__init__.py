"""The chapters of the array API standard, one module each, named as the standard names them."""
