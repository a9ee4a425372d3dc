/* CPU dispatch: vector instructions are detected at run time, so that one binary works on every processor. */
#ifndef GRIBMILL_CPU_H
#define GRIBMILL_CPU_H

#if defined(__GNUC__) && defined(__x86_64__) && !defined(GRIBMILL_PORTABLE)
#define WITH_AVX2 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,bmi,bmi2,fma")))
static inline int has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
}
#endif

/* Keeps rarely executed code out of the hot path. */
#define UNLIKELY(condition) __builtin_expect(condition, 0)

#endif
