// Package ir is the typed form of one PTX kernel that every later stage of the
// simulator reads: a flat list of instructions over numbered virtual registers,
// its control flow graph with post-dominators, and liveness.
//
// It keeps PTX semantics (one Instr per PTX instruction but for those of wmma, which
// are loads, stores and products of fragments here; device function calls inlined) and knows nothing of a machine: what the assembler would emit is
// package assemble, what an instruction does to a lane is package exec, and
// what it costs is package timing.
package ir
