/* Winds along the axes of the grid, rotated to east and north in double precision. */
#ifndef GRIBMILL_ROTATE_WINDS_H
#define GRIBMILL_ROTATE_WINDS_H

#include <stddef.h>

#include "../cpu.h"

typedef struct {
    const float *u, *v;
    const double *cosine, *sine;
    float *east, *north;
    size_t count;
} Winds;

static inline void rotate_portable(const Winds *self) {
    const float *restrict u = self->u, *restrict v = self->v;
    const double *restrict cosine = self->cosine, *restrict sine = self->sine;
    float *restrict east = self->east, *restrict north = self->north;
    for (size_t i = 0; i < self->count; i++) {
        east[i] = (float)(u[i] * cosine[i] + v[i] * sine[i]);
        north[i] = (float)(v[i] * cosine[i] - u[i] * sine[i]);
    }
}

#ifdef WITH_AVX2
AVX2 static void rotate_avx2(const Winds *self) { rotate_portable(self); }
#endif

static void rotate_winds(const Winds *self) {
#ifdef WITH_AVX2
    if (has_avx2()) {
        rotate_avx2(self);
        return;
    }
#endif
    rotate_portable(self);
}

#endif
