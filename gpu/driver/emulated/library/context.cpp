// Devices, contexts and errors of the emulated driver.
#include "driver.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace emulator {

Driver driver;
thread_local CUcontext current;

namespace {

thread_local char reason[640];
thread_local CUresult reason_of = CUDA_SUCCESS;

void read_environment() {
    driver.seed = driver.random = (uint64_t)setting("EMULATOR_SEED", 0);
    driver.total_bytes = (size_t)setting("EMULATOR_MEMORY_BYTES", 8L << 30);
    driver.fail_allocation = setting("EMULATOR_FAIL_ALLOCATION", 0);
    driver.refuse_module = setting("EMULATOR_REFUSE_MODULE", 0);
    driver.refuse_code = setting("EMULATOR_REFUSE_CODE", 0);
    driver.refuse_launch = setting("EMULATOR_REFUSE_LAUNCH", 0);
    driver.fail_kernel = setting("EMULATOR_FAIL_KERNEL", 0);
    driver.lose_device = setting("EMULATOR_LOSE_DEVICE", 0);
    driver.allocations = driver.launches = driver.kernels_run = driver.modules = 0;
}

int devices() { return (int)std::min(8L, setting("EMULATOR_DEVICES", 1)); }

bool has_device(CUdevice device) { return device >= 0 && device < devices(); }

void destroy(CUctx_st &context) {
    finish_all();
    for (CUstream stream : driver.streams) delete stream;
    for (CUevent event : driver.events) delete event;
    driver.streams.clear();
    driver.events.clear();
    driver.default_stream.queue.clear();
    release_everything();
    context.users = 0;
    context.failed = CUDA_SUCCESS;
}

}  // namespace

int capability() { return (int)setting("EMULATOR_CAPABILITY", 80); }

long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 10) : otherwise;
}

uint64_t draw() {
    driver.random += 0x9e3779b97f4a7c15ull;
    uint64_t z = driver.random;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

CUresult refuse(CUresult code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    reason_of = code;
    return code;
}

CUresult enter(const char *call) {
    if (driver.lost) return refuse(CUDA_ERROR_ECC_UNCORRECTABLE, "%s: the device was lost", call);
    if (!current) return refuse(CUDA_ERROR_INVALID_CONTEXT, "%s: no context is current on this thread of the operating system", call);
    if (!current->users) return refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "%s: the context was released", call);
    return current->failed;  // the first call that met the error has recorded its reason
}

}  // namespace emulator

using namespace emulator;

API CUresult cuInit(unsigned) { return devices() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE; }
API CUresult cuDriverGetVersion(int *version) {
    *version = (int)setting("EMULATOR_CUDA", 12040);
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetCount(int *count) {
    *count = devices();
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return has_device(ordinal) ? CUDA_SUCCESS : refuse(CUDA_ERROR_INVALID_DEVICE, "cuDeviceGet: there is no device %d", ordinal);
}
API CUresult cuDeviceGetName(char *name, int bytes, CUdevice) {
    snprintf(name, (size_t)bytes, "CUDA emulator");
    return CUDA_SUCCESS;
}
API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
    *bytes = (size_t)setting("EMULATOR_MEMORY_BYTES", 8L << 30);
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
    const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, capability() / 10}, {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, capability() % 10},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32}, {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 163 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 164 << 10}, {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 2 << 20}, {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1215000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    };
    auto found = values.find((int)attribute);
    *value = found == values.end() ? 0 : found->second;
    return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    if (!setting("EMULATOR_LOSE_DEVICE", 0)) driver.lost = false;
    if (driver.lost) return refuse(CUDA_ERROR_ECC_UNCORRECTABLE, "cuDevicePrimaryCtxRetain: the device was lost");
    if (!has_device(device)) return refuse(CUDA_ERROR_INVALID_DEVICE, "cuDevicePrimaryCtxRetain: there is no device %d", device);
    CUctx_st &primary = driver.contexts[device];
    primary.device = device;
    if (primary.users++ == 0) read_environment();
    *context = &primary;
    return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    if (!has_device(device) || !driver.contexts[device].users) return CUDA_ERROR_INVALID_CONTEXT;
    if (--driver.contexts[device].users == 0) destroy(driver.contexts[device]);
    return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    if (!has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    destroy(driver.contexts[device]);
    return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    if (!has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = driver.contexts[device].users > 0;
    return CUDA_SUCCESS;
}
API CUresult cuCtxSetCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = current;
    return CUDA_SUCCESS;
}
API CUresult cuCtxGetDevice(CUdevice *device) {
    ENTER;
    *device = current->device;
    return CUDA_SUCCESS;
}
API CUresult cuCtxSynchronize() {
    ENTER;
    if (CUresult forbidden = forbid_in_capture("cuCtxSynchronize")) return forbidden;
    return finish_all();
}

API CUresult cuGetErrorName(CUresult code, const char **name) {
    static const std::map<int, const char *> names = {
        {0, "CUDA_SUCCESS"}, {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {100, "CUDA_ERROR_NO_DEVICE"}, {101, "CUDA_ERROR_INVALID_DEVICE"}, {200, "CUDA_ERROR_INVALID_IMAGE"}, {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {214, "CUDA_ERROR_ECC_UNCORRECTABLE"}, {218, "CUDA_ERROR_INVALID_PTX"},
        {400, "CUDA_ERROR_INVALID_HANDLE"}, {401, "CUDA_ERROR_ILLEGAL_STATE"}, {500, "CUDA_ERROR_NOT_FOUND"},
        {600, "CUDA_ERROR_NOT_READY"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}, {801, "CUDA_ERROR_NOT_SUPPORTED"},
        {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}, {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
        {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"}, {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
        {907, "CUDA_ERROR_CAPTURED_EVENT"}, {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    };
    auto found = names.find((int)code);
    *name = found == names.end() ? "CUDA_ERROR" : found->second;
    return CUDA_SUCCESS;
}
API CUresult cuGetErrorString(CUresult code, const char **text) {
    *text = code == reason_of ? reason : "";
    return CUDA_SUCCESS;
}
