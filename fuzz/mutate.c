/* A driver for compilers without libFuzzer. Arguments: seconds, then files, which are mutated at random until the time
   is up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_BYTES 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Xorshift with a fixed seed: a run can be repeated. */
static uint64_t state = 88172645463325252u;

static uint32_t random_below(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static size_t read_file(const char *path, uint8_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    const size_t size = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    return size;
}

static size_t mutate(uint8_t *bytes, size_t size) {
    static const uint8_t extremes[] = {0, 1, 127, 128, 255};
    for (uint32_t changes = 1 + random_below(8); changes && size; changes--) {
        /* Half of them in the first bytes, which are headers. */
        const size_t place = random_below((uint32_t)(random_below(2) && size > 80 ? 80 : size));
        switch (random_below(4)) {
        case 0:
            bytes[place] = (uint8_t)(bytes[place] ^ 1u << random_below(8));
            break;
        case 1:
            bytes[place] = (uint8_t)random_below(256);
            break;
        case 2:
            bytes[place] = extremes[random_below(5)];
            break;
        default:
            if (random_below(8) == 0) size = place;
        }
    }
    return size;
}

int main(int count, char **arguments) {
    static uint8_t bytes[MAX_BYTES];
    if (count < 3) return 2;
    const time_t end = time(NULL) + atol(arguments[1]);
    unsigned long tried = 0;
    for (int i = 2; i < count; i++) LLVMFuzzerTestOneInput(bytes, read_file(arguments[i], bytes));
    while (time(NULL) < end)
        for (int round = 0; round < 100; round++, tried++) {
            const size_t size = read_file(arguments[2 + random_below((uint32_t)count - 2)], bytes);
            uint8_t *exact = malloc(size ? size : 1);
            if (!exact) return 2;
            memcpy(exact, bytes, size);
            LLVMFuzzerTestOneInput(exact, mutate(exact, size));
            free(exact);
        }
    printf("%lu inputs, no fault\n", tried);
    return 0;
}
