/* Device memory without a GPU, for saving it by what changed: the driver's calls for it, and the two kernels of
 * mirror.cu in C. Memory of the device is the test's own, at its own addresses. */
#ifndef CW_TEST_FAKE_DEVICE_H
#define CW_TEST_FAKE_DEVICE_H

#include "tests/support/fake_driver.h"

struct fake_device {
    size_t on_device, on_host;            /* bytes that the library has allocated */
    size_t saved, put_back;               /* bytes that kernels copied to slots, and back */
    size_t copied, cleared;               /* bytes of copies on the device, and of sets */
    uint32_t kernels, copies;             /* launched; copies and sets of more than one word */
    CUresult fails;                       /* what a launch returns */
    CUresult (*run)(CUfunction function); /* launches of the program's kernels that are repeated */
    const int *counting;    /* while it is not 0, none of the library's kernels may be launched; or NULL */
    bool busy;              /* the context does not come to rest */
    uint64_t graph_bytes;   /* memory that graphs hold */
    CUmodule module_of_all; /* the module of every function */
    const char *variable;   /* a variable of that module, NULL for none */
    void *variable_at;
    size_t variable_size;
    uint8_t *arena; /* allocations on the device follow one another from here on; or NULL */
};
extern struct fake_device fake_device;

/* Begins anew, behind fake_driver() or fake_profiler_begin(), with `unused` bytes of the device left. */
void fake_device_begin(size_t unused);
/* The program allocates or frees memory, as the library is told. */
void fake_device_allocate(void *memory, size_t size);
void fake_device_free(void *memory);
void fake_device_call(CUpti_CallbackId id, const void *params);
/* Frees what the library has left. */
void fake_device_end(void);

#endif
