// Modules and launches of the emulated driver. The PTX, or the machine code (code.cpp), says which kernels
// there are and how large their parameters are. The kernel of the same name that was compiled for fibers runs.
#include "driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulator {

namespace {

constexpr unsigned most_blocks_yz = 65535;
constexpr int free_bytes = 48 << 10;  // shared memory of a block, static and dynamic, if the attribute was not set
constexpr int most_dynamic_bytes = 163 << 10;

// number_after reads the digits after a word; 0 if the word does not occur in from … end−1.
int number_after(const std::string &text, const char *word, size_t from, size_t end) {
    size_t at = text.find(word, from);
    if (at == std::string::npos || at >= end) return 0;
    return atoi(text.c_str() + at + strlen(word));
}

// parameter_bytes reads ".param .u64 name", ".param .align 8 .b8 name[16]" and so on.
std::vector<int> parameter_bytes(const std::string &list) {
    std::vector<int> sizes;
    for (size_t at = list.find(".param"); at != std::string::npos; at = list.find(".param", at + 1)) {
        size_t end = std::min(list.find(',', at), list.size());
        std::string one = list.substr(at + 6, end - at - 6);
        size_t bracket = one.find('['), type = one.find_first_of("0123456789", one.find_first_of("usfb", one.find('.')));
        if (size_t align = one.find(".align"); align != std::string::npos) type = one.find(".b") + 2;
        int bytes = atoi(one.c_str() + type) / 8;
        sizes.push_back(bracket == std::string::npos ? bytes : bytes * atoi(one.c_str() + bracket + 1));
    }
    return sizes;
}

// static_bytes adds up the sizes of a kernel's arrays in shared memory, such as ".shared .align 4 .b8 name[128];".
int static_bytes(const std::string &body) {
    int bytes = 0;
    for (size_t at = body.find(".shared .align"); at != std::string::npos; at = body.find(".shared .align", at + 1)) {
        const std::string one = body.substr(at, body.find(';', at) - at);
        const size_t type = one.find_first_of("ubf", one.find(" .", 9)), bracket = one.find('[');
        bytes += atoi(one.c_str() + type + 1) / 8 * (bracket == std::string::npos ? 1 : atoi(one.c_str() + bracket + 1));
    }
    return bytes;
}

CUresult parse(const std::string &ptx, CUmod_st &module) {
    if (ptx.find(".version") == std::string::npos) return refuse(CUDA_ERROR_INVALID_PTX, "the module is not PTX text");
    if (int target = number_after(ptx, ".target sm_", 0, ptx.size()); target == 0 || target > capability())
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "the PTX is for sm_%d and the emulated device is sm_%d", target, capability());
    if (ptx.find(".extern .func") != std::string::npos) return refuse(CUDA_ERROR_INVALID_PTX, "the PTX calls a function that nobody defines");
    const std::string entry = ".visible .entry ";
    for (size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
        size_t open = ptx.find('(', at), close = ptx.find(')', open), body = ptx.find('{', close);
        if (body == std::string::npos) return refuse(CUDA_ERROR_INVALID_PTX, "the PTX ends in the middle of a kernel");
        int most = number_after(ptx, ".maxntid ", close, body);
        module.entries[ptx.substr(at + entry.size(), open - at - entry.size())] = {
            parameter_bytes(ptx.substr(open, close - open)), most > 0 ? (unsigned)most : most_threads_of_a_block,
            static_bytes(ptx.substr(body, ptx.find(entry, body) - body))};
    }
    return CUDA_SUCCESS;
}

CUresult find(CUmod_st &module, const std::string &name, CUfunction *function) {
    auto entry = module.entries.find(name);
    if (entry == module.entries.end()) return refuse(CUDA_ERROR_NOT_FOUND, "the module has no kernel %s", name.c_str());
    auto &slot = module.functions[name];
    if (!slot) {
        const Kernel *kernel = kernels;
        while (kernel && name != kernel->name) kernel = kernel->next;
        if (!kernel) return refuse(CUDA_ERROR_NOT_FOUND, "the kernel %s is in the module and not in the emulator: build it anew (EXPORT?)", name.c_str());
        std::vector<int> compiled(kernel->bytes, kernel->bytes + kernel->parameters);
        if (compiled != entry->second.parameter_bytes)
            return refuse(CUDA_ERROR_INVALID_PTX, "%s has other parameters in the module than in the emulator: one of them is stale", name.c_str());
        slot = std::make_unique<CUfunc_st>();
        slot->kernel = kernel;
        slot->most_threads = entry->second.most_threads;
        slot->dynamic_bytes = free_bytes - entry->second.static_bytes;
    }
    *function = slot.get();
    return CUDA_SUCCESS;
}

struct Arguments {
    std::vector<uint64_t> words;
    std::vector<void *> pointers;
};

// taken copies the arguments of a launch when it is queued, as CUDA does.
std::shared_ptr<Arguments> taken(const Kernel *kernel, void **values) {
    auto arguments = std::make_shared<Arguments>();
    std::vector<size_t> start;
    for (int i = 0; i < kernel->parameters; i++) {
        start.push_back(arguments->words.size());
        arguments->words.resize(arguments->words.size() + ((size_t)kernel->bytes[i] + 7) / 8);
    }
    for (int i = 0; i < kernel->parameters; i++) {
        arguments->pointers.push_back(&arguments->words[start[(size_t)i]]);
        std::memcpy(arguments->pointers.back(), values[i], (size_t)kernel->bytes[i]);
    }
    return arguments;
}

CUresult run(const Kernel *kernel, Index grid, Index block, unsigned shared_bytes, Arguments &arguments) {
    driver.kernels_run++;
    if (driver.kernels_run == driver.lose_device) {
        driver.lost = true;
        return refuse(CUDA_ERROR_ECC_UNCORRECTABLE, "%s: the device was lost, as EMULATOR_LOSE_DEVICE says", kernel->name);
    }
    if (driver.kernels_run == driver.fail_kernel)
        return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "%s: failed, as EMULATOR_FAIL_KERNEL says", kernel->name);
    for (int i = 0; i < kernel->parameters; i++) {
        if (!kernel->pointer[i]) continue;
        auto address = *(uintptr_t *)arguments.pointers[(size_t)i];
        if (address && !on_device(address, 1) && !is_pinned(address, 1))
            return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "%s: parameter %d, %#lx, is not device memory", kernel->name, i, (long)address);
    }
    const char *wrong = launch(kernel, grid, block, shared_bytes, arguments.pointers.data(), driver.seed);
    return wrong ? refuse(CUDA_ERROR_LAUNCH_FAILED, "%s: %s", kernel->name, wrong) : CUDA_SUCCESS;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    ENTER;
    const bool is_code = !std::memcmp(image, "\177ELF", 4);
    if (is_code && driver.refuse_code)
        return refuse(CUDA_ERROR_INVALID_IMAGE, "cuModuleLoadData: the machine code is refused, as EMULATOR_REFUSE_CODE says");
    if (!is_code && ++driver.modules == driver.refuse_module)
        return refuse(CUDA_ERROR_INVALID_PTX, "cuModuleLoadData: the module is refused, as EMULATOR_REFUSE_MODULE says");
    auto parsed = std::make_unique<CUmod_st>();
    if (CUresult wrong = is_code ? read_code((const char *)image, *parsed) : parse((const char *)image, *parsed)) return wrong;
    *module = parsed.release();
    return CUDA_SUCCESS;
}
API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, CUjit_option *, void **) { return cuModuleLoadData(module, image); }
API CUresult cuModuleUnload(CUmodule module) {
    ENTER;
    CUresult failed = finish_all();
    delete module;
    return failed;
}
API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    ENTER;
    return find(*module, name, function);
}
API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    ENTER;
    if (attribute != (CUfunction_attribute)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    if (value < 0 || value > most_dynamic_bytes)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %d bytes of shared memory, and the device has %d", function->kernel->name, value, most_dynamic_bytes);
    function->dynamic_bytes = value;
    return CUDA_SUCCESS;
}
API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    ENTER;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->dynamic_bytes; break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)function->most_threads; break;
    default: *value = 0;
    }
    return CUDA_SUCCESS;
}
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction, int threads, size_t) {
    ENTER;
    *blocks = (int)most_threads_of_a_block / threads;
    return CUDA_SUCCESS;
}
API CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared_bytes, CUstream stream, void **values, void **extra) {
    ENTER;
    if (!function || extra) return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel: no function, or extra arguments");
    const Kernel *kernel = function->kernel;
    if (!gx || !gy || !gz || gy > most_blocks_yz || gz > most_blocks_yz || !bx || !by || !bz || (uint64_t)bx * by * bz > most_threads_of_a_block)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: a grid of %u × %u × %u blocks of %u × %u × %u threads", kernel->name, gx, gy, gz, bx, by, bz);
    if (bx * by * bz > function->most_threads)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %u threads a block, and __launch_bounds__ says %u", kernel->name, bx * by * bz, function->most_threads);
    if (shared_bytes > (unsigned)function->dynamic_bytes)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %u bytes of dynamic shared memory, and its attribute allows %d", kernel->name, shared_bytes, function->dynamic_bytes);
    if (++driver.launches == driver.refuse_launch)
        return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "%s: refused, as EMULATOR_REFUSE_LAUNCH says", kernel->name);
    auto arguments = taken(kernel, values);
    return enqueue(stream, kernel->name, [=] { return run(kernel, {gx, gy, gz}, {bx, by, bz}, shared_bytes, *arguments); });
}
