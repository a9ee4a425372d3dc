/* Why a field was not decoded. */
#ifndef GRIBMILL_DECODE_STATUS_H
#define GRIBMILL_DECODE_STATUS_H

/* Everything but DECODED means that ecCodes must decode the field. The number is for developers. */
typedef enum {
    DECODED = 0,
    DECLINED_TEMPLATE =
        1, /* a data representation template that is not covered, or a section that is too short for it */
    DECLINED_SCALING = 2,   /* a reference value or scale factor beyond any real field */
    DECLINED_POINTS = 3,    /* the numbers of points, rows, columns and packed values do not agree */
    DECLINED_SCANNING = 4,  /* rows that are offset from each other */
    DECLINED_BITMAP = 5,    /* a bitmap that is too short, or marks more values than are packed */
    DECLINED_TRUNCATED = 6, /* section 7 is shorter than its values need */
    DECLINED_GROUPS = 7,    /* groups that do not add up, or are wider than the kernel's integers */
    DECLINED_RANGE = 8,     /* differences that add up to more than 30 bits */
    DECLINED_CCSDS = 9,     /* a CCSDS stream that ends early, or that no encoder writes */
    DECLINED_WINDOW = 10,   /* a window that is not on the grid */
    DECLINED_MEMORY = 11    /* no memory */
} DecodeStatus;

#endif
