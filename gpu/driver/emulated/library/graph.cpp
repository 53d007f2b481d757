// Stream capture and graphs of the emulated driver.
#include "driver.h"

#include <algorithm>

namespace emulator {

namespace {

// reached marks the nodes in last and all nodes that must be done before one of them.
std::vector<bool> reached(const Nodes &nodes, const std::set<size_t> &last) {
    std::vector<bool> seen(nodes.size());
    std::vector<size_t> open(last.begin(), last.end());
    while (!open.empty()) {
        size_t i = open.back();
        open.pop_back();
        if (seen[i]) continue;
        seen[i] = true;
        open.insert(open.end(), nodes[i].after.begin(), nodes[i].after.end());
    }
    return seen;
}

}  // namespace

// run_nodes does the work of a graph in the order of its capture or, with a seed, in a random order
// that the edges allow.
CUresult run_nodes(const Nodes &nodes) {
    std::vector<bool> done(nodes.size());
    for (size_t left = nodes.size(); left > 0; left--) {
        std::vector<size_t> ready;
        for (size_t i = 0; i < nodes.size() && (driver.seed || ready.empty()); i++)
            if (!done[i] && std::all_of(nodes[i].after.begin(), nodes[i].after.end(), [&](size_t j) { return done[j]; })) ready.push_back(i);
        size_t next = ready[driver.seed ? draw() % ready.size() : 0];
        done[next] = true;
        if (CUresult failed = nodes[next].work()) return failed;
    }
    return CUDA_SUCCESS;
}

}  // namespace emulator

using namespace emulator;

API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
    ENTER;
    if (!stream) return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamBeginCapture of the default stream");
    if (stream->capturing) return refuse(CUDA_ERROR_ILLEGAL_STATE, "cuStreamBeginCapture of a stream that is being captured");
    stream->capturing = new CUgraph_st{{}, stream, {stream}, false};
    stream->last.clear();
    return CUDA_SUCCESS;
}
API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    ENTER;
    *graph = nullptr;
    if (!stream || !stream->capturing) return refuse(CUDA_ERROR_ILLEGAL_STATE, "cuStreamEndCapture of a stream that is not being captured");
    std::unique_ptr<CUgraph_st> captured(stream->capturing);
    if (captured->origin != stream) {
        captured.release();
        return refuse(CUDA_ERROR_ILLEGAL_STATE, "cuStreamEndCapture of another stream than the capture began with");
    }
    std::vector<bool> joined = reached(captured->nodes, stream->last);
    for (CUstream other : captured->streams) {
        other->capturing = nullptr;
        other->last.clear();
    }
    for (CUevent event : driver.events)
        if (event->captured_in == captured.get()) event->captured_in = nullptr;
    if (captured->invalid) return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "a call that a capture forbids was made during it");
    for (size_t i = 0; i < joined.size(); i++)
        if (!joined[i])
            return refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "the stream of the capture does not wait for %s on another stream", captured->nodes[i].what.c_str());
    *graph = captured.release();
    return CUDA_SUCCESS;
}
API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    ENTER;
    *status = (CUstreamCaptureStatus)(stream && stream->capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE);
    return CUDA_SUCCESS;
}
API CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long) {
    ENTER;
    *executable = new CUgraphExec_st{std::make_shared<const Nodes>(graph->nodes)};
    return CUDA_SUCCESS;
}
API CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode *, CUgraphExecUpdateResult *) {
    ENTER;
    const Nodes &old = *executable->nodes;
    bool same = old.size() == graph->nodes.size();
    for (size_t i = 0; same && i < old.size(); i++) same = old[i].what == graph->nodes[i].what && old[i].after == graph->nodes[i].after;
    if (!same) return refuse(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "cuGraphExecUpdate: the graph has other nodes or edges");
    executable->nodes = std::make_shared<const Nodes>(graph->nodes);
    return CUDA_SUCCESS;
}
API CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    ENTER;
    if (stream && stream->capturing) return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuGraphLaunch in a capture is not emulated");
    return enqueue(stream, "graph", [nodes = executable->nodes] { return run_nodes(*nodes); });
}
API CUresult cuGraphExecDestroy(CUgraphExec executable) {
    delete executable;
    return CUDA_SUCCESS;
}
API CUresult cuGraphDestroy(CUgraph graph) {
    delete graph;
    return CUDA_SUCCESS;
}
