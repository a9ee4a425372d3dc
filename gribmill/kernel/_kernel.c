/* The Python extension: `decode_field` for GRIB2 fields; `rotate_winds`, `summarize`, `requantize` and `encode_array`
   for their values; `inflate` for parts of encoded arrays; `decimal_rows` for values as text. Types are in
   _kernel.pyi. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "decode/decode_field.h"
#include "decode/rotate_winds.h"
#include "encode/encode_array.h"
#include "encode/inflate.h"
#include "encode/requantize.h"
#include "text/decimals.h"

/* Six integers make a window: first and last row, and twice first and last column. */
#define NUMBERS_PER_WINDOW 6
/* The same as MOST_WINDOWS in Python. */
#define MAX_WINDOWS 4096

static ByteSpan span_of(const Py_buffer *buffer) { return (ByteSpan){buffer->buf, (size_t)buffer->len}; }

/* 0 if the numbers are not a window, or the array does not have its size. */
static int to_window(const uint32_t *numbers, const Py_buffer *out, Window *window) {
    window->row = numbers[0];
    window->row_end = numbers[1];
    for (int i = 0; i < 2; i++) {
        window->column[i] = numbers[2 + 2 * i];
        window->column_end[i] = numbers[3 + 2 * i];
        if (window->column_end[i] < window->column[i]) return 0;
    }
    const uint64_t width =
        (uint64_t)(window->column_end[0] - window->column[0]) + (window->column_end[1] - window->column[1]);
    if (window->row_end < window->row || width > MAX_POINTS) return 0;
    window->width = (uint32_t)width;
    window->out = out->buf;
    return (uint64_t)out->len == (uint64_t)(window->row_end - window->row) * width * sizeof(float);
}

/* Gets the buffers of the arrays, one for each window; returns how many have to be released. */
static Py_ssize_t get_windows(PyObject *arrays, const uint32_t *numbers, Py_ssize_t count, Py_buffer *outs,
                              Window *windows) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *array = PyTuple_GetItem(arrays, i);
        if (!array || PyObject_GetBuffer(array, outs + i, PyBUF_WRITABLE) < 0) return i;
        if (!to_window(numbers + NUMBERS_PER_WINDOW * i, outs + i, windows + i)) {
            PyErr_SetString(PyExc_ValueError, "an array does not fit its window");
            return i + 1;
        }
    }
    return count;
}

static PyObject *decode_into(Field *field, PyObject *arrays, const Py_buffer *numbers) {
    const Py_ssize_t count = PyTuple_Size(arrays);
    if (count < 0) return NULL;
    if (count < 1 || count > MAX_WINDOWS || numbers->len != count * NUMBERS_PER_WINDOW * (Py_ssize_t)sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "windows and arrays do not match");
        return NULL;
    }
    Py_buffer *outs = PyMem_Calloc((size_t)count, sizeof *outs);
    Window *windows = PyMem_Calloc((size_t)count, sizeof *windows);
    uint32_t *aligned = PyMem_Malloc((size_t)numbers->len);
    DecodeStatus status = DECLINED_MEMORY;
    if (outs && windows && aligned) {
        memcpy(aligned, numbers->buf, (size_t)numbers->len);
        const Py_ssize_t held = get_windows(arrays, aligned, count, outs, windows);
        if (!PyErr_Occurred()) {
            field->windows = windows;
            field->window_count = (size_t)count;
            Py_BEGIN_ALLOW_THREADS
            status = decode_field(field);
            Py_END_ALLOW_THREADS
        }
        for (Py_ssize_t i = 0; i < held; i++) PyBuffer_Release(outs + i);
    }
    PyMem_Free(aligned);
    PyMem_Free(windows);
    PyMem_Free(outs);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(status);
}

static PyObject *py_decode_field(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer packing, bitmap, data, windows;
    unsigned int points, ny, nx, scanning_mode;
    PyObject *arrays;
    if (!PyArg_ParseTuple(arguments, "y*y*y*IIIIy*O!", &packing, &bitmap, &data, &points, &ny, &nx, &scanning_mode,
                          &windows, &PyTuple_Type, &arrays))
        return NULL;
    Field field = {span_of(&packing), span_of(&bitmap), span_of(&data), points, {ny, nx, scanning_mode}, NULL, 0};
    PyObject *result = decode_into(&field, arrays, &windows);
    PyBuffer_Release(&windows);
    PyBuffer_Release(&data);
    PyBuffer_Release(&bitmap);
    PyBuffer_Release(&packing);
    return result;
}

/* The largest output buffer that is kept for the next array. */
#define MAX_KEPT_BYTES ((size_t)4 << 20)
/* Compression methods of ZIP. */
#define METHOD_STORED 0
#define METHOD_DEFLATED 8

/* A workspace that is reused: allocating one would cost more than deflating a small array. Taken and
   returned under the interpreter's lock; a second thread meanwhile gets its own. */
static Workspace *spare_workspace;

static void free_workspace(Workspace *work) {
    if (work) PyMem_Free(work->out);
    PyMem_Free(work);
}

static void return_workspace(Workspace *work) {
    if (spare_workspace || work->capacity > MAX_KEPT_BYTES)
        free_workspace(work);
    else
        spare_workspace = work;
}

static Workspace *take_workspace(size_t capacity) {
    Workspace *found = spare_workspace ? spare_workspace : PyMem_Calloc(1, sizeof *found);
    spare_workspace = NULL;
    if (!found || found->capacity >= capacity) return found;
    PyMem_Free(found->out);
    found->out = PyMem_Malloc(capacity);
    found->capacity = found->out ? capacity : 0;
    if (found->out) return found;
    free_workspace(found);
    return NULL;
}

static PyObject *stored_bytes(const Array *array) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)array_size(array));
    char *at = bytes ? PyBytes_AsString(bytes) : NULL;
    if (!at) return bytes;
    memcpy(at, array->header.bytes, array->header.size);
    memcpy(at + array->header.size, array->body.bytes, array->body.size);
    return bytes;
}

static PyObject *summary_tuple(const Summary *summary) {
    const double least = (double)summary->least, greatest = (double)summary->greatest;
    return Py_BuildValue("dddn", least, greatest, total_of(summary), (Py_ssize_t)summary->missing);
}

static PyObject *encode(const Array *array) {
    const size_t size = array_size(array);
    if (array->header.size == 0 || array->header.size > BLOCK_BYTES || array->body.size == 0 ||
        array->mode > FAST_INTEGERS || size > MAX_RAW_BYTES) {
        PyErr_SetString(PyExc_ValueError, "not an array, or too large a one");
        return NULL;
    }
    Workspace *work = take_workspace(max_encoded_size(array));
    if (!work) return PyErr_NoMemory();
    int deflated;
    uint8_t list[RESTART_LIST_BOUND];
    Py_BEGIN_ALLOW_THREADS
    deflated = encode_array(work, array);
    Py_END_ALLOW_THREADS
    const size_t list_size = put_restart_list(work, array, deflated, list);
    const unsigned long crc = work->checksums[(size - 1) / SEGMENT_BYTES];
    PyObject *summary = array->mode == FAST_INTEGERS ? Py_BuildValue("") : summary_tuple(&work->summary);
    PyObject *data =
        deflated ? PyBytes_FromStringAndSize((const char *)work->out, (Py_ssize_t)work->size) : stored_bytes(array);
    return_workspace(work);
    const int method = deflated ? METHOD_DEFLATED : METHOD_STORED;
    if (data && summary)
        return Py_BuildValue("iknNy#N", method, crc, (Py_ssize_t)size, data, list, (Py_ssize_t)list_size, summary);
    Py_XDECREF(summary);
    Py_XDECREF(data);
    return NULL;
}

static PyObject *py_encode_array(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer header, body;
    int mode;
    if (!PyArg_ParseTuple(arguments, "y*y*i", &header, &body, &mode)) return NULL;
    const Array array = {span_of(&header), span_of(&body), (Mode)mode};
    PyObject *result = encode(&array);
    PyBuffer_Release(&body);
    PyBuffer_Release(&header);
    return result;
}

static PyObject *py_requantize(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer values, out;
    Py_ssize_t width;
    Quantization quantization;
    if (!PyArg_ParseTuple(arguments, "y*ndddw*", &values, &width, &quantization.reference, &quantization.scale,
                          &quantization.factor, &out))
        return NULL;
    const size_t count = (size_t)values.len / sizeof(float);
    int exact = 0;
    uint16_t *row = width > 0 ? PyMem_Malloc((size_t)width * sizeof *row) : NULL;
    if (width <= 0 || count % (size_t)width || (size_t)out.len != count * sizeof(uint16_t)) {
        PyErr_SetString(PyExc_ValueError, "rows, values and integers do not match");
    } else if (!row) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS
        exact = requantize(values.buf, count / (size_t)width, (size_t)width, &quantization, row, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(row);
    PyBuffer_Release(&out);
    PyBuffer_Release(&values);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(exact);
}

static PyObject *py_summarize(PyObject *module, PyObject *array) {
    (void)module;
    Py_buffer values;
    if (PyObject_GetBuffer(array, &values, PyBUF_SIMPLE) < 0) return NULL;
    Summary summary = empty_summary();
    Py_BEGIN_ALLOW_THREADS
    summarize(&summary, values.buf, (size_t)values.len / sizeof(float));
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&values);
    return summary_tuple(&summary);
}

static PyObject *py_rotate_winds(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer u, v, cosine, sine, east, north;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*w*w*", &u, &v, &cosine, &sine, &east, &north)) return NULL;
    const Py_ssize_t size = u.len;
    const int match =
        v.len == size && east.len == size && north.len == size && cosine.len == 2 * size && sine.len == 2 * size;
    if (match) {
        const Winds winds = {u.buf, v.buf, cosine.buf, sine.buf, east.buf, north.buf, (size_t)size / sizeof(float)};
        Py_BEGIN_ALLOW_THREADS
        rotate_winds(&winds);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "components, angles and results do not match");
    }
    PyBuffer_Release(&north);
    PyBuffer_Release(&east);
    PyBuffer_Release(&sine);
    PyBuffer_Release(&cosine);
    PyBuffer_Release(&v);
    PyBuffer_Release(&u);
    if (!match) return NULL;
    Py_RETURN_NONE;
}

/* Three integers make a segment: the byte of its block, its own bit, its raw size. */
#define NUMBERS_PER_SEGMENT 3
/* The same as MOST_PARTS in Python. */
#define MAX_SEGMENTS_PER_CALL 65536

/* Gets the buffers of the streams; returns how many have to be released. */
static Py_ssize_t get_segments(PyObject *streams, const uint8_t *numbers, Py_ssize_t count, Py_buffer *ins,
                               Segment *segments) {
    uint32_t own[NUMBERS_PER_SEGMENT];
    for (Py_ssize_t i = 0; i < count; i++, numbers += sizeof own) {
        PyObject *stream = PyTuple_GetItem(streams, i);
        if (!stream || PyObject_GetBuffer(stream, ins + i, PyBUF_SIMPLE) < 0) return i;
        memcpy(own, numbers, sizeof own);
        segments[i] = (Segment){span_of(ins + i), own[0], own[1], own[2]};
    }
    return count;
}

static int fill_exactly(const Segment *segments, Py_ssize_t count, Py_ssize_t size) {
    uint64_t sum = 0;
    for (Py_ssize_t i = 0; i < count; i++) sum += segments[i].size;
    return sum == (uint64_t)size;
}

static PyObject *inflate_into(PyObject *streams, const Py_buffer *numbers, const Py_buffer *out) {
    const Py_ssize_t count = PyTuple_Size(streams);
    if (count < 0) return NULL;
    if (count > MAX_SEGMENTS_PER_CALL || numbers->len != count * NUMBERS_PER_SEGMENT * (Py_ssize_t)sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "streams and segments do not match");
        return NULL;
    }
    Py_buffer *ins = PyMem_Calloc((size_t)count, sizeof *ins);
    Segment *segments = PyMem_Calloc((size_t)count, sizeof *segments);
    CachedTables *cache = PyMem_Malloc(2 * sizeof *cache);
    int done = 0;
    if (ins && segments && cache) {
        const Py_ssize_t held = get_segments(streams, numbers->buf, count, ins, segments);
        if (!PyErr_Occurred() && !fill_exactly(segments, count, out->len))
            PyErr_SetString(PyExc_ValueError, "the segments do not fill the output");
        if (!PyErr_Occurred()) {
            Py_BEGIN_ALLOW_THREADS
            done = inflate_segments(segments, (size_t)count, out->buf, cache);
            Py_END_ALLOW_THREADS
        }
        for (Py_ssize_t i = 0; i < held; i++) PyBuffer_Release(ins + i);
    }
    PyMem_Free(cache);
    PyMem_Free(segments);
    PyMem_Free(ins);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(done);
}

static PyObject *py_inflate(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer numbers, out;
    PyObject *streams;
    if (!PyArg_ParseTuple(arguments, "O!y*w*", &PyTuple_Type, &streams, &numbers, &out)) return NULL;
    PyObject *result = inflate_into(streams, &numbers, &out);
    PyBuffer_Release(&out);
    PyBuffer_Release(&numbers);
    return result;
}

/* A list with the text of each row. */
static PyObject *rows_of_text(const double *values, size_t count, size_t width, const DecimalForm *form) {
    const Py_ssize_t rows = (Py_ssize_t)(count / width);
    char *text = PyMem_Malloc(width * MAX_NUMBER_BYTES);
    if (!text) return PyErr_NoMemory();
    PyObject *found = PyList_New(rows);
    for (Py_ssize_t row = 0; found && row < rows; row++) {
        const char *end = put_decimals(text, values + (size_t)row * width, width, form);
        PyObject *bytes = PyBytes_FromStringAndSize(text, end - text);
        if (!bytes || PyList_SetItem(found, row, bytes) < 0) {
            Py_DECREF(found);
            found = NULL;
        }
    }
    PyMem_Free(text);
    return found;
}

static PyObject *py_decimal_rows(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer values;
    Py_ssize_t width;
    int decimals;
    if (!PyArg_ParseTuple(arguments, "y*ni", &values, &width, &decimals)) return NULL;
    const size_t count = (size_t)values.len / sizeof(double);
    PyObject *result = NULL;
    if (width <= 0 || count % (size_t)width || (size_t)values.len % sizeof(double) || decimals < 0 ||
        decimals > MAX_DECIMALS) {
        PyErr_SetString(PyExc_ValueError, "values, rows and decimals do not match");
    } else {
        const DecimalForm form = decimal_form(decimals);
        const int possible = can_be_written(values.buf, count, &form);
        result = possible ? rows_of_text(values.buf, count, (size_t)width, &form) : Py_BuildValue("");
    }
    PyBuffer_Release(&values);
    return result;
}

static PyMethodDef methods[] = {
    {"decode_field", py_decode_field, METH_VARARGS,
     "decode_field(section5, section6, section7, points, ny, nx, scanning_mode, windows, arrays)\n\n"
     "Fill the arrays with the values of their windows; return 0, or a number that says why the field was declined."},
    {"decimal_rows", py_decimal_rows, METH_VARARGS,
     "decimal_rows(values, width, decimals)\n\n"
     "Return the text of each row of float64: rounded numbers with commas between them, null where not finite; None "
     "if a number is too large."},
    {"encode_array", py_encode_array, METH_VARARGS,
     "encode_array(header, body, mode)\n\n"
     "Return method, CRC-32, raw size, data, list of restart points and summary of a ZIP member. Mode 0 is for "
     "float32, "
     "1 for uint16, which has no summary, 2 for float32 that is to be small."},
    {"inflate", py_inflate, METH_VARARGS,
     "inflate(streams, segments, out)\n\n"
     "Fill `out` with one segment of each stream, given as byte of the block, bit of the segment and raw size; return "
     "whether it was filled: streams of other encoders are declined."},
    {"requantize", py_requantize, METH_VARARGS,
     "requantize(values, width, reference, scale, factor, integers)\n\n"
     "Fill `integers` with differences of packed integers along each row; return whether they give back every value."},
    {"rotate_winds", py_rotate_winds, METH_VARARGS,
     "rotate_winds(u, v, cosine, sine, east, north)\n\nFill `east` and `north`."},
    {"summarize", py_summarize, METH_O,
     "summarize(values)\n\nReturn the least value, the greatest, the sum, and how many are NaN."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_kernel",
    .m_doc = "The native kernel.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernel(void) {
    init_crc_tables();
    init_preset_header();
    init_compress_shuffles();
    init_lane_layouts();
    return PyModuleDef_Init(&definition);
}
