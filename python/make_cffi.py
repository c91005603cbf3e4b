"""Declares the libraries' functions for cffi, from counterworks.h and collect.h of include/counterworks: the headers alone
say what they take. As a program it writes the module that the package imports: make_cffi.py counterworks.h MODULE.py"""

import pathlib
import re
import sys

import cffi

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = (HERE / "counterworks.h", HERE.parent / "include" / "counterworks" / "counterworks.h")
LIBC = """
FILE *open_memstream(char **text, size_t *size);
int fclose(FILE *file);
void free(void *memory);
"""


def declarations(text):
    """The header without comments, lines of the preprocessor, and parts for C++."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", " ", text, flags=re.DOTALL)
    return re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)


def make(header):
    made = cffi.FFI()
    for path in (header, header.with_name("collect.h")):
        made.cdef(declarations(path.read_text(encoding="utf-8")))
    made.cdef(LIBC)
    made.set_source("counterworks._cffi", None)
    return made


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1])).emit_python_code(sys.argv[2])
else:
    found = [path for path in HEADERS if path.exists()]
    if not found:
        sys.exit(f"found no {HEADERS[1]}, expected the folder python within the whole source tree: pip install "
                 "TREE/python, or a wheel that was built there")
    ffi = make(found[0])
