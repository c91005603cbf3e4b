/* The mutator of the targets of one image format: half of the inputs are changed by chunks, with right checksums. */
#include "tests/fuzz/chunk_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak)); /* there with libFuzzer alone */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return LLVMFuzzerMutate && seed % 2 ? LLVMFuzzerMutate(data, size, room)
                                        : cw_chunk_mutate(data, size, room, seed / 2, LLVMFuzzerMutate);
}
