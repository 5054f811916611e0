// Package dram models one SM's share of the second-level cache and of DRAM: two
// servers in series, each with a rate, and the latencies behind them. Queueing
// delay follows from the order in which requests arrive.
//
// It does not decide whether a request hits L2; package footprint estimates that
// for the whole device, and the caller says so per request.
package dram
