// What the files of the emulated driver share. The driver has functions of libcuda.so.1, and runs kernels on the
// machine of machine.h.
//
// The Go code of the GPU backend runs on it unchanged. What CUDA forbids is refused, and what CUDA
// leaves undefined becomes visible. Streams are queues that run as late as CUDA allows, so that a
// missing wait shows. Each allocation starts as NaN and ends exactly at its size. A context belongs to
// the thread on which it was made current. A kernel's error appears at a later call, as in CUDA, and
// stays. The PTX or the machine code decides which kernels a module has; the same sources run, compiled for fibers.
//
// The environment, read when a context is made unless a line says otherwise:
//   EMULATOR_SEED=n             chooses a random order of threads, blocks, streams and graph nodes; 0 or none: in order, as late as possible
//   EMULATOR_MEMORY_BYTES=n     the device's memory (8 GiB)
//   EMULATOR_DEVICES=n          how many devices there are (1); read by every call that counts them
//   EMULATOR_CAPABILITY=n       the device's compute capability, 10 times major plus minor (80); read by every call that asks for it
//   EMULATOR_CUDA=n             the CUDA that the driver supports, 1000 times major plus 10 times minor (12040); read by every call that asks for it
//   EMULATOR_REFUSE_MODULE=n    the n-th PTX text of a context is refused
//   EMULATOR_REFUSE_CODE=1      all machine code is refused
//   EMULATOR_FAIL_ALLOCATION=n  the n-th allocation of a context, of device or pinned memory, fails for lack of memory
//   EMULATOR_NO_MEMORY_LEFT=1   all allocations fail for lack of memory; read by every allocation
//   EMULATOR_REFUSE_LAUNCH=n    the n-th call of cuLaunchKernel is refused; a capture makes such calls, a graph does not
//   EMULATOR_FAIL_KERNEL=n      the n-th kernel that runs reads an illegal address
//   EMULATOR_LOSE_DEVICE=n      the device is lost at the n-th kernel that runs, and in later contexts as long as this is set
#pragma once

#include <cuda.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulate.h"

#define API extern "C" __attribute__((visibility("default")))

namespace emulator {

using Work = std::function<CUresult()>;

// A node of a graph: work that waits for other nodes, given by their numbers.
struct Node {
    std::string what;  // the name of the work, which an update of the graph may not change
    Work work;
    std::set<size_t> after;
};
using Nodes = std::vector<Node>;

}  // namespace emulator

struct CUgraph_st {
    emulator::Nodes nodes;
    CUstream origin;
    std::set<CUstream> streams;
    bool invalid = false;
};

struct CUgraphExec_st { std::shared_ptr<const emulator::Nodes> nodes; };

struct CUstream_st {
    bool waits_for_default;           // not made with CU_STREAM_NON_BLOCKING
    std::deque<emulator::Work> queue;
    CUgraph capturing = nullptr;
    std::set<size_t> last;            // nodes before the one that is captured next
};

struct CUevent_st {
    bool timed;
    unsigned recorded = 0, passed = 0;
    double seconds = 0;
    CUstream stream = nullptr;
    bool captured = false;            // the last record was part of a capture
    CUgraph captured_in = nullptr;    // that capture, while it is under way
    std::set<size_t> captured_after;
};

struct CUctx_st {
    int device = 0, users = 0;
    CUresult failed = CUDA_SUCCESS;   // the first error of a kernel; every later call returns it again
};

constexpr unsigned most_threads_of_a_block = 1024;

struct CUfunc_st {
    const emulator::Kernel *kernel;
    int dynamic_bytes = 0;  // of shared memory, that a launch may ask for
    unsigned most_threads = most_threads_of_a_block;
};

struct CUmod_st {
    struct Entry {
        std::vector<int> parameter_bytes;
        unsigned most_threads = most_threads_of_a_block;
        int static_bytes = 0;
    };
    std::map<std::string, Entry> entries;
    std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

namespace emulator {

struct Driver {
    std::recursive_mutex mutex;
    CUctx_st contexts[8];
    CUstream_st default_stream{true, {}, nullptr, {}};
    std::set<CUstream> streams;
    std::set<CUevent> events;
    std::map<uintptr_t, size_t> device_memory, pinned_memory;
    size_t used_bytes = 0, total_bytes = (size_t)8 << 30;
    uint64_t seed = 0, random = 0;
    long allocations = 0, launches = 0, kernels_run = 0, modules = 0;
    long fail_allocation = 0, refuse_module = 0, refuse_code = 0, refuse_launch = 0, fail_kernel = 0, lose_device = 0;
    bool lost = false;
};

extern Driver driver;
extern thread_local CUcontext current;

// refuse records why a call fails, for cuGetErrorString, and returns code.
CUresult refuse(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// enter begins a call. It returns an error unless this thread has a current context that has not failed.
CUresult enter(const char *call);
#define ENTER                                                      \
    std::lock_guard<std::recursive_mutex> lock(emulator::driver.mutex); \
    if (CUresult entered = emulator::enter(__func__)) return entered

long setting(const char *name, long otherwise);
int capability();          // of the device: 10 times major plus minor
CUresult read_code(const char *image, CUmod_st &module); // reads which kernels a file of NVIDIA's format cubin has
uint64_t draw();           // a random number for the driver's choices, which follows from the seed
bool capturing_anywhere(); // during a capture, calls that wait or allocate are forbidden
CUresult forbid_in_capture(const char *call);

// Streams. A null stream is the default stream.
CUresult enqueue(CUstream stream, const char *what, Work work);
CUresult finish(CUstream stream);   // does everything queued on the stream
CUresult finish_default();          // does everything queued on the default stream and on streams that wait for it
CUresult finish_all();

bool on_device(uintptr_t address, size_t bytes);
bool is_pinned(uintptr_t address, size_t bytes);
CUresult allocate(CUdeviceptr *pointer, size_t bytes);
CUresult release(CUdeviceptr pointer);
void release_everything();

CUresult run_nodes(const Nodes &nodes);

}  // namespace emulator
