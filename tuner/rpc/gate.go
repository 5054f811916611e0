package rpc

import (
	"os"
	"runtime"
	"runtime/debug"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that is wrapped
	"google.golang.org/grpc/mem"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// Serving sets the runtime up for a process that only serves.
func Serving() {
	runtime.GOMAXPROCS(processors())
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// gcPercent trades a little time for memory: most of what a thousand workers'
// calls allocate is soon garbage.
const gcPercent = 60

// processors is what GOMAXPROCS is best set to when a process only serves. Go
// has no priorities: with as many as there are cores, a short call waits until
// every goroutine that was ready before it has run, and a commit makes hundreds
// ready. With more of them, the system's scheduler shares the cores among
// threads, and prefers those that slept.
func processors() int { return 8 * runtime.NumCPU() }

// gate is the protobuf codec, but codes only a few long messages at a time. When a commit answers hundreds of workers at once,
// their messages would otherwise stand in line for processors before every
// short call: what a person asks, or a worker's renewal.
type gate struct {
	encoding.CodecV2
	places chan struct{}
}

// Messages longer than these are long.
const (
	longRequest  = 4 << 10 // bytes
	longResponse = 16      // acknowledgements and grants
)

func newGate() *gate {
	return &gate{CodecV2: encoding.GetCodecV2("proto"), places: make(chan struct{}, 2*runtime.NumCPU())}
}

// Unmarshal is in encoding.CodecV2.
func (g *gate) Unmarshal(data mem.BufferSlice, v any) error {
	if data.Len() > longRequest {
		g.places <- struct{}{}
		defer func() { <-g.places }()
	}
	return g.CodecV2.Unmarshal(data, v)
}

// Marshal is in encoding.CodecV2.
func (g *gate) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*warptunev1.SynchronizeResponse); ok && len(m.GetAcknowledgements())+len(m.GetGrants()) > longResponse {
		g.places <- struct{}{}
		defer func() { <-g.places }()
	}
	return g.CodecV2.Marshal(v)
}
