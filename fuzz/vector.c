/* The kernel as it is built: AVX2 where the processor has it. */
#include "target.h"

int unpack_vector(const Task *task) { return unpack_field(task); }
