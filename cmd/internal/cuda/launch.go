//go:build linux

package cuda

import "unsafe"

// Launch is how a kernel is started.
type Launch struct {
	Grid, Block [3]uint32
	Cluster     [3]uint32 // CTAs; zeros: none, or what the code requires
	Cooperative bool      // all CTAs are resident together
	Shared      int       // dynamic shared memory, bytes
	Params      [][]byte  // of each parameter
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      Stream
	attrs       *launchAttribute
	numAttrs    uint32
}

// launchAttribute is CUlaunchAttribute: an id, and a value of 64 bytes.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

// Attributes of a launch (CUlaunchAttributeID).
const (
	attrCooperative = 2
	attrCluster     = 4
)

// Launch starts a kernel on a stream.
func (f *Function) Launch(l *Launch, s Stream) error {
	params := pointers(l.Params)
	at := ptr(&params[0])
	if l.Cluster != [3]uint32{} {
		return f.launchCluster(l, s, at)
	}
	shape := []any{f.handle, int(l.Grid[0]), int(l.Grid[1]), int(l.Grid[2]), int(l.Block[0]), int(l.Block[1]), int(l.Block[2]), l.Shared, s, at}
	if l.Cooperative {
		return f.device.call("cuLaunchCooperativeKernel", shape...)
	}
	return f.device.call("cuLaunchKernel", append(shape, 0)...)
}

// launchCluster starts a kernel whose CTAs form clusters.
func (f *Function) launchCluster(l *Launch, s Stream, params unsafe.Pointer) error {
	attrs := make([]launchAttribute, 1, 2)
	attrs[0].id = attrCluster
	copy(attrs[0].value[:], l.Cluster[:])
	if l.Cooperative {
		attrs = append(attrs, launchAttribute{id: attrCooperative, value: [16]uint32{1}})
	}
	config := &launchConfig{grid: l.Grid, block: l.Block, shared: uint32(l.Shared), stream: s, attrs: &attrs[0], numAttrs: uint32(len(attrs))}
	return f.device.call("cuLaunchKernelEx", ptr(config), f.handle, params, 0)
}

// Stream is a queue of work.
type Stream uintptr

// Stream makes one that does not wait for the default stream.
func (v *Device) Stream() (Stream, error) {
	var s Stream
	err := v.call("cuStreamCreate", ptr(&s), 1)
	return s, err
}

// Wait waits until all work of a stream has ended.
func (v *Device) Wait(s Stream) error { return v.call("cuStreamSynchronize", s) }

// Event is a point of time in a stream.
type Event uintptr

// Event makes one.
func (v *Device) Event() (Event, error) {
	var e Event
	err := v.call("cuEventCreate", ptr(&e), 0)
	return e, err
}

// Record puts an event into a stream.
func (v *Device) Record(e Event, s Stream) error {
	return v.call("cuEventRecord", e, s)
}

// Between is the time from one event to another, both over, in microseconds.
func (v *Device) Between(from, to Event) (float64, error) {
	var ms float32
	err := v.call("cuEventElapsedTime", ptr(&ms), from, to)
	return 1000 * float64(ms), err
}

// Graph is work that was captured, ready to be started again and again.
type Graph struct {
	device      *Device
	graph, exec uintptr
}

// Capture makes a graph of the work that f puts into a stream.
func (v *Device) Capture(s Stream, f func() error) (*Graph, error) {
	const threadLocal = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
	if err := v.call("cuStreamBeginCapture_v2", s, threadLocal); err != nil {
		return nil, err
	}
	g := &Graph{device: v}
	err := f()
	if end := v.call("cuStreamEndCapture", s, ptr(&g.graph)); err == nil {
		err = end
	}
	if err != nil {
		return nil, err
	}
	return g, v.call("cuGraphInstantiateWithFlags", ptr(&g.exec), g.graph, 0)
}

// Start puts the graph's work into a stream.
func (g *Graph) Start(s Stream) error { return g.device.call("cuGraphLaunch", g.exec, s) }

// Close frees a graph.
func (g *Graph) Close() error {
	if err := g.device.call("cuGraphExecDestroy", g.exec); err != nil {
		return err
	}
	return g.device.call("cuGraphDestroy", g.graph)
}
