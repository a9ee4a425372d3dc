/* A plain driver for where libFuzzer is not: SECONDS, then files; mutates them at random until the time is up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_FILES 10000
#define MOST_BYTES 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = 88172645463325252u;

static uint32_t chance(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

static size_t read_file(const char *path, uint8_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    const size_t size = fread(bytes, 1, MOST_BYTES, file);
    fclose(file);
    return size;
}

static size_t mutate(uint8_t *bytes, size_t size) {
    static const uint8_t extremes[] = {0, 1, 127, 128, 255};
    for (uint32_t changes = 1 + chance(8); changes && size; changes--) {
        /* Most of what decides lies at the front. */
        const size_t place = chance((uint32_t)(chance(2) && size > 80 ? 80 : size));
        switch (chance(4)) {
        case 0: bytes[place] = (uint8_t)(bytes[place] ^ 1u << chance(8)); break;
        case 1: bytes[place] = (uint8_t)chance(256); break;
        case 2: bytes[place] = extremes[chance(5)]; break;
        default: if (chance(8) == 0) size = place;
        }
    }
    return size;
}

int main(int count, char **arguments) {
    static uint8_t bytes[MOST_BYTES];
    if (count < 3) return 2;
    const time_t end = time(NULL) + atol(arguments[1]);
    unsigned long tried = 0;
    for (int i = 2; i < count; i++) LLVMFuzzerTestOneInput(bytes, read_file(arguments[i], bytes));
    while (time(NULL) < end)
        for (int round = 0; round < 1000; round++, tried++) {
            const size_t size = read_file(arguments[2 + chance((uint32_t)count - 2)], bytes);
            uint8_t *exact = malloc(size ? size : 1);
            if (!exact) return 2;
            memcpy(exact, bytes, size);
            LLVMFuzzerTestOneInput(exact, mutate(exact, size));
            free(exact);
        }
    printf("%lu inputs, no fault\n", tried);
    return 0;
}
