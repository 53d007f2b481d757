// Device memory, pinned memory and copies of the emulated driver.
#include "driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace emulator {

namespace {

constexpr size_t grain = 256;  // allocations begin at multiples of it, and free memory is counted in it

size_t rounded(size_t bytes) { return (bytes + grain - 1) / grain * grain; }

bool inside(const std::map<uintptr_t, size_t> &ranges, uintptr_t address, size_t bytes) {
    auto after = ranges.upper_bound(address);
    if (after == ranges.begin()) return false;
    auto [start, length] = *std::prev(after);
    return address + bytes <= start + length;
}

bool out_of_luck() { return ++driver.allocations == driver.fail_allocation || setting("EMULATOR_NO_MEMORY_LEFT", 0); }

// move copies without memmove: a sanitizer would check memmove, but does not know this memory.
void move(void *to, const void *from, size_t bytes) {
#if defined(__x86_64__)
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    std::memcpy(to, from, bytes);
#endif
}

CUresult must_be_on_device(const char *call, uintptr_t address, size_t bytes) {
    if (on_device(address, bytes)) return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes at %#lx are not inside one allocation of device memory", call, bytes, (long)address);
}

CUresult copy_up(const char *call, CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    if (CUresult wrong = must_be_on_device(call, to, bytes)) return wrong;
    if (is_pinned((uintptr_t)from, bytes)) return enqueue(stream, "copy up", [=] { return move((void *)to, from, bytes), CUDA_SUCCESS; });
    if (stream && stream->capturing) return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s: capturing a copy from memory that is not pinned", call);
    auto staged = std::make_shared<std::vector<char>>((const char *)from, (const char *)from + bytes);
    return enqueue(stream, "copy up", [=] { return move((void *)to, staged->data(), bytes), CUDA_SUCCESS; });
}

CUresult copy_down(const char *call, void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    if (CUresult wrong = must_be_on_device(call, from, bytes)) return wrong;
    if (is_pinned((uintptr_t)to, bytes)) return enqueue(stream, "copy down", [=] { return move(to, (void *)from, bytes), CUDA_SUCCESS; });
    if (stream && stream->capturing) return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s: capturing a copy to memory that is not pinned", call);
    CUresult before = stream ? finish(stream) : finish_default();
    if (!before) move(to, (void *)from, bytes);
    return before;
}

CUresult copy_within(const char *call, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    if (CUresult wrong = must_be_on_device(call, to, bytes)) return wrong;
    if (CUresult wrong = must_be_on_device(call, from, bytes)) return wrong;
    return enqueue(stream, "copy", [=] { return move((void *)to, (void *)from, bytes), CUDA_SUCCESS; });
}

template <class T> CUresult fill(const char *call, CUdeviceptr to, T value, size_t count, CUstream stream) {
    if (CUresult wrong = must_be_on_device(call, to, count * sizeof(T))) return wrong;
    return enqueue(stream, "fill", [=] { return std::fill_n((T *)to, count, value), CUDA_SUCCESS; });
}

}  // namespace

bool on_device(uintptr_t address, size_t bytes) { return inside(driver.device_memory, address, bytes); }
bool holds(const void *address, size_t bytes) { return on_device((uintptr_t)address, bytes); }
bool is_pinned(uintptr_t address, size_t bytes) { return inside(driver.pinned_memory, address, bytes); }

CUresult allocate(CUdeviceptr *pointer, size_t bytes) {
    if (!bytes) return refuse(CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    size_t free_bytes = driver.total_bytes - driver.used_bytes;
    if (out_of_luck() || rounded(bytes) > free_bytes)
        return refuse(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes were asked for and %zu of %zu are free", bytes, free_bytes, driver.total_bytes);
    void *memory;
    if (posix_memalign(&memory, grain, bytes)) return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the machine under the emulator has no memory left");
    std::memset(memory, 0xff, bytes);  // NaN in every type of floats
    driver.device_memory[(uintptr_t)memory] = bytes;
    driver.used_bytes += rounded(bytes);
    *pointer = (CUdeviceptr)memory;
    return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr pointer) {
    auto found = driver.device_memory.find(pointer);
    if (found == driver.device_memory.end()) return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not the start of an allocation", pointer);
    driver.used_bytes -= rounded(found->second);
    driver.device_memory.erase(found);
    free((void *)pointer);
    return CUDA_SUCCESS;
}

void release_everything() {
    while (!driver.device_memory.empty()) release(driver.device_memory.begin()->first);
    for (auto [start, bytes] : driver.pinned_memory) free((void *)start);
    driver.pinned_memory.clear();
}

}  // namespace emulator

using namespace emulator;

API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    ENTER;
    *free_bytes = driver.total_bytes - driver.used_bytes;
    *total_bytes = driver.total_bytes;
    return CUDA_SUCCESS;
}
API CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    ENTER;
    if (CUresult forbidden = forbid_in_capture("cuMemAlloc")) return forbidden;
    return allocate(pointer, bytes);
}
API CUresult cuMemFree_v2(CUdeviceptr pointer) {
    ENTER;
    if (CUresult forbidden = forbid_in_capture("cuMemFree")) return forbidden;
    if (!pointer) return CUDA_SUCCESS;
    CUresult before = finish_all();
    return before ? before : release(pointer);
}
API CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    ENTER;
    if (stream && stream->capturing) return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuMemAllocAsync in a capture is not emulated");
    return allocate(pointer, bytes);
}
API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    ENTER;
    if (stream && stream->capturing) return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuMemFreeAsync in a capture is not emulated");
    return enqueue(stream, "free", [=] { return release(pointer); });
}
API CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
    ENTER;
    if (CUresult forbidden = forbid_in_capture("cuMemHostAlloc")) return forbidden;
    if (!bytes || out_of_luck() || posix_memalign(memory, 4096, bytes)) return refuse(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes cannot be pinned", bytes);
    std::memset(*memory, 0xff, bytes);
    driver.pinned_memory[(uintptr_t)*memory] = bytes;
    return CUDA_SUCCESS;
}
API CUresult cuMemFreeHost(void *memory) {
    ENTER;
    if (!driver.pinned_memory.count((uintptr_t)memory)) return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemFreeHost: %p was not pinned", memory);
    CUresult before = finish_all();
    driver.pinned_memory.erase((uintptr_t)memory);
    free(memory);
    return before;
}

// Copies without a stream wait for the default stream and the streams that wait for it, but not for
// non-blocking streams.
API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    ENTER;
    if (CUresult forbidden = forbid_in_capture("cuMemcpyHtoD")) return forbidden;
    CUresult queued = copy_up("cuMemcpyHtoD", to, from, bytes, nullptr);
    return queued ? queued : finish_default();
}
API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    ENTER;
    if (CUresult forbidden = forbid_in_capture("cuMemcpyDtoH")) return forbidden;
    CUresult queued = copy_down("cuMemcpyDtoH", to, from, bytes, nullptr);
    return queued ? queued : finish_default();
}
API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    ENTER;
    return copy_within("cuMemcpyDtoD", to, from, bytes, nullptr);
}
API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    ENTER;
    return copy_up("cuMemcpyHtoDAsync", to, from, bytes, stream);
}
API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    ENTER;
    return copy_down("cuMemcpyDtoHAsync", to, from, bytes, stream);
}
API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    ENTER;
    return copy_within("cuMemcpyDtoDAsync", to, from, bytes, stream);
}
API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    ENTER;
    return fill("cuMemsetD8Async", to, value, count, stream);
}
API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    ENTER;
    return fill("cuMemsetD16Async", to, value, count, stream);
}
API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    ENTER;
    return fill("cuMemsetD32Async", to, value, count, stream);
}
API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return cuMemsetD8Async(to, value, count, nullptr); }
API CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) { return cuMemsetD16Async(to, value, count, nullptr); }
API CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) { return cuMemsetD32Async(to, value, count, nullptr); }
