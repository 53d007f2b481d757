// A process that runs kernels for tests: it reads launches from its input until EOF, and answers
// each on its output.
//
// A launch is the kernel's name, grid, block, bytes of dynamic shared memory and the seed of the
// schedule, then buffers, then parameters; a parameter is bytes, or a place in a buffer. The answer
// is an error message, empty if there was no error, and the buffers after the launch. Numbers are
// little-endian. A text or a buffer begins with its length. See package emulator.
#include "emulate.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void read_bytes(void *to, size_t n) {
    if (fread(to, 1, n, stdin) != n) exit(0);
}

template <class T> T read_number() {
    T v;
    read_bytes(&v, sizeof v);
    return v;
}

void write_bytes(const void *from, size_t n) { fwrite(from, 1, n, stdout); }

emulator::Index read_index() {
    emulator::Index i;
    read_bytes(&i, sizeof i);
    return i;
}

std::string read_text() {
    std::string s(read_number<uint32_t>(), 0);
    read_bytes(&s[0], s.size());
    return s;
}

// Buffers are allocated with their exact size, so that the address sanitizer notices accesses
// beyond, and aligned like a driver's.
struct Buffer {
    unsigned char *memory;
    size_t bytes;
};

std::vector<Buffer> buffers;  // of the launch

void read_buffers() {
    buffers.resize(read_number<uint32_t>());
    for (Buffer &b : buffers) {
        b.bytes = read_number<uint32_t>();
        void *memory;
        if (posix_memalign(&memory, 256, b.bytes)) abort();
        b.memory = (unsigned char *)memory;
        read_bytes(b.memory, b.bytes);
    }
}

const emulator::Kernel *find(const std::string &name) {
    for (const emulator::Kernel *k = emulator::kernels; k; k = k->next)
        if (name == k->name) return k;
    return nullptr;
}

// read_values reads the parameters. It returns an error if they do not fit the kernel.
std::string read_values(const emulator::Kernel *kernel, std::vector<uint64_t> &values) {
    std::string error;
    values.resize(read_number<uint32_t>());
    if (kernel && (int)values.size() != kernel->parameters)
        error = std::to_string(values.size()) + " parameters are given and the kernel has " + std::to_string(kernel->parameters);
    for (size_t i = 0; i < values.size(); i++) {
        uint32_t buffer = read_number<uint32_t>(), bytes = read_number<uint32_t>();
        values[i] = read_number<uint64_t>();
        if (buffer) values[i] += (uint64_t)(uintptr_t)buffers[buffer - 1].memory;
        if (kernel && error.empty() && (int)bytes != kernel->bytes[i])
            error = "parameter " + std::to_string(i) + " has " + std::to_string(bytes) + " bytes and should have " + std::to_string(kernel->bytes[i]);
    }
    return error;
}

void answer_launch() {
    std::string name = read_text();
    emulator::Index grid = read_index(), block = read_index();
    uint32_t shared = read_number<uint32_t>();
    uint64_t seed = read_number<uint64_t>();
    read_buffers();
    const emulator::Kernel *kernel = find(name);
    std::vector<uint64_t> values;
    std::string error = read_values(kernel, values);
    if (!kernel) error = "there is no kernel " + name;
    if (error.empty()) {
        std::vector<void *> pointers;
        for (uint64_t &v : values) pointers.push_back(&v);
        if (const char *text = emulator::launch(kernel, grid, block, shared, pointers.data(), seed)) error = text;
    }
    uint32_t length = (uint32_t)error.size();
    write_bytes(&length, 4);
    write_bytes(error.data(), length);
    for (Buffer &b : buffers) {
        write_bytes(b.memory, b.bytes);
        free(b.memory);
    }
    fflush(stdout);
}

}  // namespace

bool emulator::holds(const void *address, size_t bytes) {
    for (const Buffer &b : buffers)
        if (address >= b.memory && (const unsigned char *)address + bytes <= b.memory + b.bytes) return true;
    return false;
}

int main() {
    for (;;) answer_launch();
}
