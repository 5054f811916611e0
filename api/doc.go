// Package api holds the wire protocol: protobuf definitions under
// warptune/v1 and the Go generated from them. The comments in the definitions
// are the protocol's documentation.
//
// Generated types stay at the edges, in tuner/rpc, tuner/worker, tuner/standby and
// cmd; the domain never sees them.
package api

//go:generate go run ./gen .
