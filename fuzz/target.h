/* The kernel behind one name for each build of it. */
#ifndef GRIBMILL_TARGET_H
#define GRIBMILL_TARGET_H

#include "../gribmill/tiles/native/field.h"

int unpack_vector(const Task *task);
int unpack_scalar(const Task *task);

#endif
