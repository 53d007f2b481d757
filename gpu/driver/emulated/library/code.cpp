// Machine code for the emulated driver: files of NVIDIA's format cubin, which is ELF. The emulator reads which
// kernels a file has, and what it says of each. It runs none of the code: see module.cpp.
#include "driver.h"

#include <elf.h>

#include <cstring>

namespace emulator {

namespace {

constexpr unsigned char newer_abi = 8;      // from this EI_ABIVERSION on, the flags have the target in another place
constexpr int reserved_from = 90, reserved_bytes = 1 << 10;  // static shared memory that the system takes on these targets

// The attributes of a kernel in its section .nv.info: a byte for the form of the value, a byte for the attribute,
// two bytes for the value or for the length of the value that follows.
constexpr unsigned char long_value = 4, max_threads = 0x05, parameter = 0x17;

uint32_t word(const char *at) {
    uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

void read_attributes(const char *at, const char *end, CUmod_st::Entry &entry) {
    while (at < end) {
        const auto form = (unsigned char)at[0], attribute = (unsigned char)at[1];
        const uint32_t length = word(at) >> 16;
        at += 4;
        if (form != long_value) continue;
        if (attribute == max_threads) entry.most_threads = word(at) * word(at + 4) * word(at + 8);
        if (attribute == parameter) {  // the second word has its place in the list, the third its size
            const size_t place = word(at + 4) & 0xffff;
            if (entry.parameter_bytes.size() <= place) entry.parameter_bytes.resize(place + 1);
            entry.parameter_bytes[place] = (int)(word(at + 8) >> 18);
        }
        at += length;
    }
}

}  // namespace

CUresult read_code(const char *image, CUmod_st &module) {
    Elf64_Ehdr file;
    std::memcpy(&file, image, sizeof file);
    const int target = file.e_ident[EI_ABIVERSION] < newer_abi ? file.e_flags & 0xff : file.e_flags >> 8 & 0xffff;
    if (target / 10 != capability() / 10 || target > capability())
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "the machine code is for sm_%d and the emulated device is sm_%d", target, capability());
    std::vector<Elf64_Shdr> sections(file.e_shnum);
    std::memcpy(sections.data(), image + file.e_shoff, sections.size() * sizeof sections[0]);
    const char *names = image + sections[file.e_shstrndx].sh_offset;
    const std::string info = ".nv.info.", shared = ".nv.shared.";
    for (const Elf64_Shdr &section : sections) {
        const std::string name = names + section.sh_name;
        if (name.rfind(info, 0) == 0) {
            const char *content = image + section.sh_offset;
            read_attributes(content, content + section.sh_size, module.entries[name.substr(info.size())]);
        }
    }
    for (const Elf64_Shdr &section : sections) {
        const std::string name = names + section.sh_name;
        if (name.rfind(shared, 0) != 0) continue;
        auto entry = module.entries.find(name.substr(shared.size()));
        if (entry != module.entries.end())
            entry->second.static_bytes = (int)section.sh_size - (target < reserved_from ? 0 : reserved_bytes);
    }
    return CUDA_SUCCESS;
}

}  // namespace emulator
