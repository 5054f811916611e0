// Package rpc is the gRPC edge of a coordinator: it translates between the
// wire and the domain, and between error kinds and statuses, and decides
// nothing.
package rpc
