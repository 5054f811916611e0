package rpc

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that is wrapped
	"google.golang.org/grpc/mem"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// gate is the protobuf codec, but codes only a few long messages at a time.
// When a commit answers hundreds of workers at once, their messages would
// otherwise stand in line for processors before every short call: what a person
// asks, or a worker's renewal.
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
	return &gate{CodecV2: encoding.GetCodecV2("proto"), places: make(chan struct{}, 2*cores)}
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
