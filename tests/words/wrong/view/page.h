/* What is told of "those" is what these say. */
#define TEXT "/* what what */" /* strings do not count */
