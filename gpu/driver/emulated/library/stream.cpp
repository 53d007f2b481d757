// Streams and events of the emulated driver. A stream is a queue. Its work is done when the host
// waits for it, which is as late as CUDA allows. With a seed some work is done earlier.
#include "driver.h"

#include <chrono>

namespace emulator {

namespace {

CUstream real(CUstream stream) { return stream ? stream : &driver.default_stream; }

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// step does the oldest work of a stream. If the work fails, the context keeps the error.
CUresult step(CUstream stream) {
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (CUresult failed = work()) {
        if (current && !current->failed) current->failed = failed;
        return failed;
    }
    return CUDA_SUCCESS;
}

void do_some_early() {
    while (driver.seed && draw() % 2) {
        std::vector<CUstream> busy;
        for (CUstream stream : driver.streams)
            if (!stream->queue.empty()) busy.push_back(stream);
        if (busy.empty() || step(busy[draw() % busy.size()])) return;
    }
}

CUresult wait_for(CUevent event, unsigned record) {
    while (event->passed < record && !event->stream->queue.empty())
        if (CUresult failed = step(event->stream)) return failed;
    return CUDA_SUCCESS;
}

// capture puts work that a stream was given into the graph that is being captured from the stream.
CUresult capture(CUstream stream, const char *what, Work work) {
    CUgraph graph = stream->capturing;
    graph->nodes.push_back({what, std::move(work), stream->last});
    stream->last = {graph->nodes.size() - 1};
    return CUDA_SUCCESS;
}

CUresult refuse_captured(const char *call, CUevent event) {
    return refuse(CUDA_ERROR_CAPTURED_EVENT, "%s: the event %p was recorded in a capture", call, (void *)event);
}

CUresult new_stream(CUstream *stream, unsigned flags) {
    *stream = new CUstream_st{!(flags & CU_STREAM_NON_BLOCKING), {}, nullptr, {}};
    driver.streams.insert(*stream);
    return CUDA_SUCCESS;
}

bool unknown(CUstream stream) { return stream && !driver.streams.count(stream); }

}  // namespace

CUresult enqueue(CUstream stream, const char *what, Work work) {
    if (unknown(stream)) return refuse(CUDA_ERROR_INVALID_HANDLE, "%s: there is no stream %p", what, (void *)stream);
    stream = real(stream);
    if (stream->capturing) return capture(stream, what, std::move(work));
    if (stream == &driver.default_stream) {
        if (CUresult failed = finish_default()) return failed;
    } else if (stream->waits_for_default) {
        if (CUresult failed = finish(nullptr)) return failed;
    }
    stream->queue.push_back(std::move(work));
    do_some_early();
    return CUDA_SUCCESS;
}

CUresult finish(CUstream stream) {
    stream = real(stream);
    while (!stream->queue.empty())
        if (CUresult failed = step(stream)) return failed;
    return current ? current->failed : CUDA_SUCCESS;
}

CUresult finish_default() {
    CUresult failed = finish(nullptr);
    for (CUstream stream : driver.streams)
        if (stream->waits_for_default && !failed) failed = finish(stream);
    return failed;
}

CUresult finish_all() {
    CUresult failed = finish(nullptr);
    for (CUstream stream : driver.streams)
        if (!failed) failed = finish(stream);
    return failed;
}

bool capturing_anywhere() {
    for (CUstream stream : driver.streams)
        if (stream->capturing) return true;
    return false;
}

CUresult forbid_in_capture(const char *call) {
    if (!capturing_anywhere()) return CUDA_SUCCESS;
    for (CUstream stream : driver.streams)
        if (stream->capturing) stream->capturing->invalid = true;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s while a stream is being captured", call);
}

}  // namespace emulator

using namespace emulator;

API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    ENTER;
    return new_stream(stream, flags);
}
API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
    ENTER;
    return new_stream(stream, flags);
}
API CUresult cuStreamDestroy_v2(CUstream stream) {
    ENTER;
    if (!stream || unknown(stream)) return refuse(CUDA_ERROR_INVALID_HANDLE, "cuStreamDestroy: there is no stream %p", (void *)stream);
    if (stream->capturing) return refuse(CUDA_ERROR_ILLEGAL_STATE, "cuStreamDestroy of a stream that is being captured");
    CUresult failed = finish(stream);
    driver.streams.erase(stream);
    delete stream;
    return failed;
}
API CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    ENTER;
    *flags = real(stream)->waits_for_default ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
}
API CUresult cuStreamSynchronize(CUstream stream) {
    ENTER;
    if (unknown(stream)) return refuse(CUDA_ERROR_INVALID_HANDLE, "cuStreamSynchronize: there is no stream %p", (void *)stream);
    if (CUresult forbidden = forbid_in_capture("cuStreamSynchronize")) return forbidden;
    return stream ? finish(stream) : finish_default();
}
API CUresult cuStreamQuery(CUstream stream) {
    ENTER;
    if (real(stream)->capturing) return forbid_in_capture("cuStreamQuery");
    return real(stream)->queue.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    ENTER;
    stream = real(stream);
    if (event->captured_in) {  // the stream joins the capture in which the event was recorded
        if (stream->capturing && stream->capturing != event->captured_in)
            return refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "cuStreamWaitEvent: the event is of another capture");
        stream->capturing = event->captured_in;
        stream->capturing->streams.insert(stream);
        stream->last.insert(event->captured_after.begin(), event->captured_after.end());
        return CUDA_SUCCESS;
    }
    if (event->captured) return refuse_captured("cuStreamWaitEvent", event);
    if (stream->capturing) return refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "cuStreamWaitEvent: a capture waits for an event outside of it");
    if (!event->recorded) return CUDA_SUCCESS;
    return enqueue(stream, "wait", [event, record = event->recorded] { return wait_for(event, record); });
}

API CUresult cuEventCreate(CUevent *event, unsigned flags) {
    ENTER;
    *event = new CUevent_st{};
    (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    driver.events.insert(*event);
    return CUDA_SUCCESS;
}
API CUresult cuEventDestroy_v2(CUevent event) {
    ENTER;
    if (!driver.events.erase(event)) return refuse(CUDA_ERROR_INVALID_HANDLE, "cuEventDestroy: there is no event %p", (void *)event);
    CUresult failed = event->recorded ? finish_all() : CUDA_SUCCESS;  // any stream may have queued a wait for it
    delete event;
    return failed;
}
API CUresult cuEventRecord(CUevent event, CUstream stream) {
    ENTER;
    stream = real(stream);
    event->stream = stream;
    event->captured_in = stream->capturing;
    event->captured = stream->capturing != nullptr;
    event->captured_after = stream->last;
    if (stream->capturing) return CUDA_SUCCESS;
    return enqueue(stream == &driver.default_stream ? nullptr : stream, "record", [event, record = ++event->recorded] {
        event->seconds = now();
        event->passed = record;
        return CUDA_SUCCESS;
    });
}
API CUresult cuEventSynchronize(CUevent event) {
    ENTER;
    if (event->captured) return refuse_captured("cuEventSynchronize", event);
    if (CUresult forbidden = forbid_in_capture("cuEventSynchronize")) return forbidden;
    return wait_for(event, event->recorded);
}
API CUresult cuEventQuery(CUevent event) {
    ENTER;
    if (event->captured) return refuse_captured("cuEventQuery", event);
    return event->passed == event->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
API CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to) {
    ENTER;
    if (!from->timed || !to->timed || !from->recorded || !to->recorded)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "cuEventElapsedTime: an event is not timed or was never recorded");
    if (from->passed != from->recorded || to->passed != to->recorded) return CUDA_ERROR_NOT_READY;
    *ms = (float)((to->seconds - from->seconds) * 1e3);
    return CUDA_SUCCESS;
}
