// Package intake is how what a thousand workers report comes in: read and written by hand, long
// messages a few at a time, calls with reports as many as one commit gathers, on as many processors
// as serving takes.
package intake

import (
	"runtime"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that is wrapped
	"google.golang.org/grpc/mem"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// Codec is the protobuf codec, but for reports (reports.go).
type Codec struct{ encoding.CodecV2 }

// NewCodec returns the codec.
func NewCodec() Codec { return Codec{encoding.GetCodecV2("proto")} }

// Unmarshal is in encoding.CodecV2.
func (c Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*warptunev1.SynchronizeRequest)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	b := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer b.Free()
	return readSynchronize(b.ReadOnlyData(), m)
}

// Marshal is in encoding.CodecV2.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*warptunev1.SynchronizeRequest)
	if !ok || len(m.GetReports()) == 0 {
		return c.CodecV2.Marshal(v)
	}
	const usual = 400 // bytes of a report, or a little less
	pool := mem.DefaultBufferPool()
	room := pool.Get(1<<10 + len(m.GetReports())*usual)
	b, err := appendSynchronize((*room)[:0], m)
	if err != nil {
		pool.Put(room)
		return nil, err
	}
	*room = b
	return mem.BufferSlice{mem.NewBuffer(room, pool)}, nil
}

// Gate is the codec, but codes only a few long messages at a time. When a commit
// answers hundreds of workers at once, their messages would otherwise stand in
// line for processors before every short call: what a person asks, or a worker's
// renewal.
type Gate struct {
	Codec
	places chan struct{}
}

// longRequest is the length in bytes above which a request is long.
const longRequest = 1 << 10

// LongResponse is the number of acknowledgements and grants above which a response is long.
const LongResponse = 16

// NewGate returns a gate for so many long messages as there are processors.
func NewGate() *Gate { return &Gate{Codec: NewCodec(), places: make(chan struct{}, cores)} }

// Unmarshal is in encoding.CodecV2.
func (g *Gate) Unmarshal(data mem.BufferSlice, v any) error {
	call, ok := v.(*admitted)
	if !ok {
		return g.unmarshal(data, v)
	}
	if data.Len() > longRequest {
		if err := call.enter(); err != nil {
			return err
		}
	}
	err := g.unmarshal(data, call.message)
	if len(call.message.GetReports()) == 0 {
		call.leave() // it may be held until there is work
	}
	return err
}

func (g *Gate) unmarshal(data mem.BufferSlice, v any) error {
	defer g.Enter(data.Len() > longRequest)()
	return g.Codec.Unmarshal(data, v)
}

// Marshal is in encoding.CodecV2.
func (g *Gate) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*warptunev1.SynchronizeResponse)
	defer g.Enter(ok && len(m.GetAcknowledgements())+len(m.GetGrants()) > LongResponse)()
	return g.Codec.Marshal(v)
}

// Enter waits for a place if a message is long; the function returned leaves it.
func (g *Gate) Enter(long bool) (leave func()) {
	if !long {
		return func() {}
	}
	g.places <- struct{}{}
	runtime.Gosched() // what is ready goes first: it is short
	return func() { <-g.places }
}
