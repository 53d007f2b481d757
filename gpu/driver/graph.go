//go:build cuda && linux && cgo

package driver

/*
#include <cuda.h>

static CUresult begin_capture(uintptr_t stream) {
    return cuStreamBeginCapture((CUstream)stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}
static CUresult end_capture(uintptr_t stream, uintptr_t *graph) { return cuStreamEndCapture((CUstream)stream, (CUgraph *)graph); }
static CUresult destroy_graph(uintptr_t graph) { return graph ? cuGraphDestroy((CUgraph)graph) : CUDA_SUCCESS; }
static CUresult instantiate(uintptr_t *executable, uintptr_t graph) {
    return cuGraphInstantiateWithFlags((CUgraphExec *)executable, (CUgraph)graph, 0);
}
static CUresult update(uintptr_t executable, uintptr_t graph) {
    CUgraphNode node;
    CUgraphExecUpdateResult why;
    return cuGraphExecUpdate((CUgraphExec)executable, (CUgraph)graph, &node, &why);
}
static CUresult launch_graph(uintptr_t executable, uintptr_t stream) { return cuGraphLaunch((CUgraphExec)executable, (CUstream)stream); }
static CUresult destroy_executable(uintptr_t executable) { return cuGraphExecDestroy((CUgraphExec)executable); }
*/
import "C"

// Capture runs record, and makes a graph of the work that record queues on a stream, and on streams
// that record joins by events. The work itself does not run.
func (d *Device) Capture(s Stream, record func() error) (Graph, error) {
	recorded, traffic, err := d.record(s, record)
	if err != nil {
		return Graph{}, err
	}
	defer C.destroy_graph(recorded)
	var executable C.uintptr_t
	if err := refused("making a graph", C.instantiate(&executable, recorded)); err != nil {
		return Graph{}, err
	}
	return Graph{uintptr(executable), traffic}, nil
}

// Update runs record and gives the graph the new arguments. record must queue the same kernels and
// copies in the same order as before.
func (d *Device) Update(g *Graph, s Stream, record func() error) error {
	recorded, traffic, err := d.record(s, record)
	if err != nil {
		return err
	}
	defer C.destroy_graph(recorded)
	g.Traffic = traffic
	return refused("updating a graph", C.update(C.uintptr_t(g.Handle), recorded))
}

func (d *Device) record(s Stream, record func() error) (graph C.uintptr_t, traffic Traffic, err error) {
	if err := refused("beginning to capture a graph", C.begin_capture(C.uintptr_t(s))); err != nil {
		return 0, traffic, err
	}
	d.capture = &traffic
	err = record()
	d.capture = nil
	if ended := refused("capturing a graph", C.end_capture(C.uintptr_t(s), &graph)); err == nil {
		err = ended
	}
	if err != nil {
		C.destroy_graph(graph)
	}
	return graph, traffic, err
}

// Replay queues the work of a graph on a stream.
func (d *Device) Replay(g Graph, s Stream) error {
	d.count(g.Traffic)
	return refused("launching a graph", C.launch_graph(C.uintptr_t(g.Handle), C.uintptr_t(s)))
}

// FreeGraph frees a graph. Launches that still run finish normally.
func (d *Device) FreeGraph(g Graph) error {
	return refused("freeing a graph", C.destroy_executable(C.uintptr_t(g.Handle)))
}
