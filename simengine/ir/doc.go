// Package ir is the typed form of one PTX kernel that every later stage of the simulator reads: a
// flat list of instructions over numbered virtual registers, its control flow graph with
// post-dominators, and liveness.
//
// It keeps PTX semantics: one Instr for each PTX instruction, except that device functions are
// inlined and wmma instructions become loads, stores and MMA of fragments. It knows nothing of a
// machine. Package assemble says what the assembler would emit, package exec what an instruction
// does to a lane, and package timing what it costs. Package ir/lower makes a Kernel of PTX, ir/slice finds what paths and
// addresses depend on, and ir/unroll and ir/sroa transform kernels as ptxas does before it assembles them.
package ir
