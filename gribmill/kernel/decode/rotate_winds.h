/* Winds along a grid's axes turned to east and north, in double precision. */
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

static inline void turn_portable(const Winds *self) {
    const float *restrict u = self->u, *restrict v = self->v;
    const double *restrict cosine = self->cosine, *restrict sine = self->sine;
    float *restrict east = self->east, *restrict north = self->north;
    for (size_t i = 0; i < self->count; i++) {
        east[i] = (float)(u[i] * cosine[i] + v[i] * sine[i]);
        north[i] = (float)(v[i] * cosine[i] - u[i] * sine[i]);
    }
}

#ifdef WITH_AVX2
AVX2 static void turn_avx2(const Winds *self) { turn_portable(self); }
#endif

static void turn_winds(const Winds *self) {
#ifdef WITH_AVX2
    if (has_avx2()) {
        turn_avx2(self);
        return;
    }
#endif
    turn_portable(self);
}

#endif
