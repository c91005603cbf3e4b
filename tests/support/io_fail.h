/* Makes the end of a file fail, as a full quota or a server that is gone does, for executables that link with the
 * target cw_test_io_fail (units.cmake). */
#ifndef CW_TESTS_IO_FAIL_H
#define CW_TESTS_IO_FAIL_H

/* The next fsync and the next close fail with these numbers of errno, once; 0: they do not. The file is closed. */
void cw_io_fail(int fsync_reason, int close_reason);

#endif
