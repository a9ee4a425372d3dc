/* The kernel without any vector instructions. */
#define GRIBMILL_PORTABLE 1
#include "target.h"

int unpack_scalar(const Task *task) { return unpack_field(task); }
