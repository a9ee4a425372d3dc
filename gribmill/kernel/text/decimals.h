/* Numbers as decimal text with at most some digits after the point, rounded exactly as Python's round() does. */
#ifndef GRIBMILL_DECIMALS_H
#define GRIBMILL_DECIMALS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_DECIMALS 6
/* A sign, 16 digits, a point and a comma. */
#define MAX_NUMBER_BYTES 20
/* Below this, products with the scale are off by less than a quarter. */
#define MAX_SCALED 0x1p50
/* Splits a double into two halves of at most 26 bits (Veltkamp). */
#define SPLITTER 134217729.0

typedef struct {
    int decimals;
    uint32_t scale; /* ten to the power of `decimals` */
} DecimalForm;

static DecimalForm decimal_form(int decimals) {
    DecimalForm form = {decimals, 1};
    for (int i = 0; i < decimals; i++) form.scale *= 10;
    return form;
}

/* Whether every value can be written; those that are not finite are null. */
static int can_be_written(const double *values, size_t count, const DecimalForm *form) {
    const double limit = MAX_SCALED / form->scale;
    int all = 1;
    for (size_t i = 0; i < count; i++) all &= !isfinite(values[i]) | (fabs(values[i]) < limit);
    return all;
}

/* The integer nearest to the exact product of the value and the scale; the even one if two are equally near. */
static int64_t nearest_scaled(double value, double scale) {
    const double product = value * scale;
    double nearest = nearbyint(product);
    const double beyond = product - nearest;
    if (fabs(beyond) == 0.5) {
        /* The product itself was rounded: what it lacks decides. */
        const double high = SPLITTER * value - (SPLITTER * value - value);
        const double lacking = (high * scale - product) + (value - high) * scale;
        if (lacking != 0) nearest = product + copysign(0.5, lacking);
    }
    return (int64_t)nearest;
}

static char *put_digits(char *at, uint64_t number, int least) {
    char reversed[20];
    int count = 0;
    for (; number || count < least; number /= 10) reversed[count++] = (char)('0' + number % 10);
    while (count) *at++ = reversed[--count];
    return at;
}

/* As JSON: without zeros at the end, but with one digit after the point unless there are no decimals. */
static char *put_decimal(char *at, double value, const DecimalForm *form) {
    if (!isfinite(value)) {
        memcpy(at, "null", 4);
        return at + 4;
    }
    const int64_t scaled = nearest_scaled(value, form->scale);
    const uint64_t size = scaled < 0 ? 0 - (uint64_t)scaled : (uint64_t)scaled;
    if (scaled < 0) *at++ = '-';
    at = put_digits(at, size / form->scale, 1);
    if (!form->decimals) return at;
    *at++ = '.';
    at = put_digits(at, size % form->scale, form->decimals);
    for (int i = 1; i < form->decimals && at[-1] == '0'; i++) at--;
    return at;
}

/* The values with commas between them; returns the end. */
static char *put_decimals(char *at, const double *values, size_t count, const DecimalForm *form) {
    for (size_t i = 0; i < count; i++) {
        if (i) *at++ = ',';
        at = put_decimal(at, values[i], form);
    }
    return at;
}

#endif
