/* The native kernel: `unpack` over the sections of a GRIB2 field; `turn`, `summarize`, `pack` and `encode` over its
   values, and `inflate` for the way back. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "decode/decode_field.h"
#include "encode/inflate.h"
#include "encode/requantize.h"
#include "encode/encode_array.h"
#include "decode/rotate_winds.h"

/* Six numbers tell a window: rows, columns, and columns beyond the seam. */
#define NUMBERS_PER_WINDOW 6
#define MOST_WINDOWS 4096

static Octets octets_of(const Py_buffer *buffer) { return (Octets){buffer->buf, (size_t)buffer->len}; }

static int to_pane(const uint32_t *numbers, const Py_buffer *out, Pane *pane) {
    pane->row = numbers[0];
    pane->row_end = numbers[1];
    for (int i = 0; i < 2; i++) {
        pane->column[i] = numbers[2 + 2 * i];
        pane->column_end[i] = numbers[3 + 2 * i];
        if (pane->column_end[i] < pane->column[i]) return 0;
    }
    const uint64_t width = (uint64_t)(pane->column_end[0] - pane->column[0]) + (pane->column_end[1] - pane->column[1]);
    if (pane->row_end < pane->row || width > MOST_POINTS) return 0;
    pane->width = (uint32_t)width;
    pane->out = out->buf;
    return (uint64_t)out->len == (uint64_t)(pane->row_end - pane->row) * width * sizeof(float);
}

/* Buffers of the arrays to fill, one for each window; returns how many were got. */
static Py_ssize_t get_panes(PyObject *arrays, const uint32_t *numbers, Py_ssize_t count, Py_buffer *outs, Pane *panes) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *array = PyTuple_GetItem(arrays, i);
        if (!array || PyObject_GetBuffer(array, outs + i, PyBUF_WRITABLE) < 0) return i;
        if (!to_pane(numbers + NUMBERS_PER_WINDOW * i, outs + i, panes + i)) {
            PyErr_SetString(PyExc_ValueError, "an array does not fit its window");
            return i + 1;
        }
    }
    return count;
}

static PyObject *run(Task *task, PyObject *arrays, const Py_buffer *windows) {
    const Py_ssize_t count = PyTuple_Size(arrays);
    if (count < 0) return NULL;
    if (count < 1 || count > MOST_WINDOWS ||
        windows->len != count * NUMBERS_PER_WINDOW * (Py_ssize_t)sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "windows and arrays do not match");
        return NULL;
    }
    Py_buffer *outs = PyMem_Calloc((size_t)count, sizeof *outs);
    Pane *panes = PyMem_Calloc((size_t)count, sizeof *panes);
    uint32_t *numbers = PyMem_Malloc((size_t)windows->len);
    Verdict verdict = DECLINED_MEMORY;
    if (outs && panes && numbers) {
        memcpy(numbers, windows->buf, (size_t)windows->len);
        const Py_ssize_t got = get_panes(arrays, numbers, count, outs, panes);
        if (!PyErr_Occurred()) {
            task->panes = panes;
            task->pane_count = (size_t)count;
            Py_BEGIN_ALLOW_THREADS
            verdict = unpack_field(task);
            Py_END_ALLOW_THREADS
        }
        for (Py_ssize_t i = 0; i < got; i++) PyBuffer_Release(outs + i);
    }
    PyMem_Free(numbers);
    PyMem_Free(panes);
    PyMem_Free(outs);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(verdict);
}

static PyObject *decode_field(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer packing, bitmap, data, windows;
    unsigned int points, ny, nx, scanning;
    PyObject *arrays;
    if (!PyArg_ParseTuple(arguments, "y*y*y*IIIIy*O!", &packing, &bitmap, &data, &points, &ny, &nx, &scanning, &windows,
                          &PyTuple_Type, &arrays))
        return NULL;
    Task task = {octets_of(&packing), octets_of(&bitmap), octets_of(&data), points, {ny, nx, scanning}, NULL, 0};
    PyObject *result = run(&task, arrays, &windows);
    PyBuffer_Release(&windows);
    PyBuffer_Release(&data);
    PyBuffer_Release(&bitmap);
    PyBuffer_Release(&packing);
    return result;
}

/* Room for a stream that is kept for the next one. */
#define MOST_KEPT ((size_t)4 << 20)
/* As ZIP calls them. */
#define METHOD_STORED 0
#define METHOD_DEFLATED 8

/* Memory that is used again and again: fresh one would cost small arrays more than deflating them. Taken and given back
   under the interpreter's lock; a second thread meanwhile gets its own. */
static Bench *spare;

static void free_bench(Bench *bench) {
    if (bench) PyMem_Free(bench->out);
    PyMem_Free(bench);
}

static void give_back(Bench *bench) {
    if (spare || bench->room > MOST_KEPT)
        free_bench(bench);
    else
        spare = bench;
}

static Bench *take_bench(size_t room) {
    Bench *found = spare ? spare : PyMem_Calloc(1, sizeof *found);
    spare = NULL;
    if (!found || found->room >= room) return found;
    PyMem_Free(found->out);
    found->out = PyMem_Malloc(room);
    found->room = found->out ? room : 0;
    if (found->out) return found;
    free_bench(found);
    return NULL;
}

static PyObject *stored(const Raw *raw) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)raw_size(raw));
    char *at = bytes ? PyBytes_AsString(bytes) : NULL;
    if (!at) return bytes;
    memcpy(at, raw->header.bytes, raw->header.size);
    memcpy(at + raw->header.size, raw->body.bytes, raw->body.size);
    return bytes;
}

static PyObject *told(const Summary *summary) {
    const double least = (double)summary->least, greatest = (double)summary->greatest;
    return Py_BuildValue("dddn", least, greatest, sum_of(summary), (Py_ssize_t)summary->missing);
}

static PyObject *encode_raw(const Raw *raw) {
    const size_t size = raw_size(raw);
    if (raw->header.size == 0 || raw->header.size > BLOCK_BYTES || raw->body.size == 0 || raw->way > BY_BYTES ||
        size > most_raw(raw->way)) {
        PyErr_SetString(PyExc_ValueError, "not an array, or too large a one");
        return NULL;
    }
    Bench *bench = take_bench(most_made(raw));
    if (!bench) return PyErr_NoMemory();
    int deflated;
    uint8_t list[LIST_BOUND];
    Py_BEGIN_ALLOW_THREADS
    deflated = deflate_array(bench, raw);
    Py_END_ALLOW_THREADS
    const size_t listed = list_places(bench, raw, deflated, list);
    const unsigned long crc = bench->checksums[(size - 1) / PIECE_BYTES];
    PyObject *summary = raw->way == BY_RUNS ? Py_BuildValue("") : told(&bench->summary);
    PyObject *data = deflated ? PyBytes_FromStringAndSize((const char *)bench->out, (Py_ssize_t)bench->made) : stored(raw);
    give_back(bench);
    const int method = deflated ? METHOD_DEFLATED : METHOD_STORED;
    if (data && summary) return Py_BuildValue("iknNy#N", method, crc, (Py_ssize_t)size, data, list, (Py_ssize_t)listed, summary);
    Py_XDECREF(summary);
    Py_XDECREF(data);
    return NULL;
}

static PyObject *encode(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer header, body;
    int way;
    if (!PyArg_ParseTuple(arguments, "y*y*i", &header, &body, &way)) return NULL;
    const Raw raw = {octets_of(&header), octets_of(&body), (Way)way};
    PyObject *result = encode_raw(&raw);
    PyBuffer_Release(&body);
    PyBuffer_Release(&header);
    return result;
}

static PyObject *pack(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer values, out;
    Py_ssize_t width;
    PackedAs how;
    if (!PyArg_ParseTuple(arguments, "y*ndddw*", &values, &width, &how.reference, &how.scale, &how.factor, &out)) return NULL;
    const size_t count = (size_t)values.len / sizeof(float);
    int packed = 0;
    uint16_t *row = width > 0 ? PyMem_Malloc((size_t)width * sizeof *row) : NULL;
    if (width <= 0 || count % (size_t)width || (size_t)out.len != count * sizeof(uint16_t)) {
        PyErr_SetString(PyExc_ValueError, "rows, values and integers do not match");
    } else if (!row) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS
        packed = pack_values(values.buf, count / (size_t)width, (size_t)width, &how, row, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(row);
    PyBuffer_Release(&out);
    PyBuffer_Release(&values);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(packed);
}

static PyObject *summarize_array(PyObject *module, PyObject *array) {
    (void)module;
    Py_buffer values;
    if (PyObject_GetBuffer(array, &values, PyBUF_SIMPLE) < 0) return NULL;
    Summary found = nothing_yet();
    Py_BEGIN_ALLOW_THREADS
    summarize(&found, values.buf, (size_t)values.len / sizeof(float));
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&values);
    return told(&found);
}

static PyObject *turn(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer u, v, cosine, sine, east, north;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*w*w*", &u, &v, &cosine, &sine, &east, &north)) return NULL;
    const Py_ssize_t size = u.len;
    const int fit = v.len == size && east.len == size && north.len == size && cosine.len == 2 * size && sine.len == 2 * size;
    if (fit) {
        const Winds winds = {u.buf, v.buf, cosine.buf, sine.buf, east.buf, north.buf, (size_t)size / sizeof(float)};
        Py_BEGIN_ALLOW_THREADS
        turn_winds(&winds);
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
    if (!fit) return NULL;
    Py_RETURN_NONE;
}

/* Three numbers tell a stretch: its block's byte, its own bit, its raw size. */
#define NUMBERS_PER_PART 3
#define MOST_PARTS 65536

/* Buffers of the streams, and what is to be read from them; returns how many were got. */
static Py_ssize_t get_parts(PyObject *streams, const uint8_t *numbers, Py_ssize_t count, Py_buffer *ins, Part *parts) {
    uint32_t place[NUMBERS_PER_PART];
    for (Py_ssize_t i = 0; i < count; i++, numbers += sizeof place) {
        PyObject *stream = PyTuple_GetItem(streams, i);
        if (!stream || PyObject_GetBuffer(stream, ins + i, PyBUF_SIMPLE) < 0) return i;
        memcpy(place, numbers, sizeof place);
        parts[i] = (Part){octets_of(ins + i), place[0], place[1], place[2]};
    }
    return count;
}

static int fits(const Part *parts, Py_ssize_t count, Py_ssize_t size) {
    uint64_t sum = 0;
    for (Py_ssize_t i = 0; i < count; i++) sum += parts[i].size;
    return sum == (uint64_t)size;
}

static PyObject *inflate_checked(PyObject *streams, const Py_buffer *numbers, const Py_buffer *out) {
    const Py_ssize_t count = PyTuple_Size(streams);
    if (count < 0) return NULL;
    if (count > MOST_PARTS || numbers->len != count * NUMBERS_PER_PART * (Py_ssize_t)sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "streams and places do not match");
        return NULL;
    }
    Py_buffer *ins = PyMem_Calloc((size_t)count, sizeof *ins);
    Part *parts = PyMem_Calloc((size_t)count, sizeof *parts);
    Known *known = PyMem_Malloc(2 * sizeof *known);
    int done = 0;
    if (ins && parts && known) {
        const Py_ssize_t got = get_parts(streams, numbers->buf, count, ins, parts);
        if (!PyErr_Occurred() && !fits(parts, count, out->len))
            PyErr_SetString(PyExc_ValueError, "there is not the room that the stretches need");
        if (!PyErr_Occurred()) {
            Py_BEGIN_ALLOW_THREADS
            done = inflate_parts(parts, (size_t)count, out->buf, known);
            Py_END_ALLOW_THREADS
        }
        for (Py_ssize_t i = 0; i < got; i++) PyBuffer_Release(ins + i);
    }
    PyMem_Free(known);
    PyMem_Free(parts);
    PyMem_Free(ins);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(done);
}

static PyObject *inflate(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer numbers, out;
    PyObject *streams;
    if (!PyArg_ParseTuple(arguments, "O!y*w*", &PyTuple_Type, &streams, &numbers, &out)) return NULL;
    PyObject *result = inflate_checked(streams, &numbers, &out);
    PyBuffer_Release(&out);
    PyBuffer_Release(&numbers);
    return result;
}

static PyMethodDef methods[] = {
    {"decode_field", decode_field, METH_VARARGS,
     "decode_field(section5, section6, section7, points, ny, nx, scanning, windows, arrays) -> 0, or why it was declined."},
    {"encode_array", encode, METH_VARARGS,
     "encode_array(header, body, way) -> (method, CRC-32, raw size, data, list of places) of a ZIP member, and what `summarize` "
     "tells of floats. `way`: 0 for floats, 1 for integers, of which the last is None, 2 for floats that are to be small."},
    {"requantize", pack, METH_VARARGS,
     "requantize(values, width, reference, scale, factor, integers) -> whether the integers, now filled with the differences "
     "of each row, give back every value."},
    {"inflate", inflate, METH_VARARGS,
     "inflate(streams, places, out) -> whether `out` was filled with the stretches that lie there: `places` has the byte "
     "of a block, the bit of a stretch and its raw size for each stream. Other writers' streams are declined."},
    {"summarize", summarize_array, METH_O, "summarize(values) -> (least, greatest, sum, how many are NaN)."},
    {"rotate_winds", turn, METH_VARARGS, "rotate_winds(u, v, cosine, sine, east, north): fills the last two."},
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
    fill_crc_tables();
    fill_brief();
    fill_picks();
    fill_layouts();
    return PyModuleDef_Init(&definition);
}
