"""Makes counterworks/_cffi.py, which declares the functions of the library, from its header."""

import setuptools

setuptools.setup(cffi_modules=["make_cffi.py:ffi"])
