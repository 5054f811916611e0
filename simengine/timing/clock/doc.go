// Package timing is the clocked machine: it replays the traces of a few CTAs
// through one SM, cycle by cycle where something happens, and says how long the
// whole launch takes and what it waited for.
//
// What is clocked: the schedulers of an SM with the scoreboard over physical
// registers, issue intervals of the pipes, the memory input/output queues, the
// load/store unit's tag and data stages, the sectored L1 (package cache), this
// SM's share of L2 and DRAM (package dram), barriers, CTA launch and turnaround.
// What the other SMs do enters as that share and, from the footprints of
// neighbouring CTAs, as the estimate which accesses miss L2 (package footprint).
//
// A CTA that was not traced is a replica of one that was, with its private data
// at other addresses: of one in the middle of the grid or its neighbours, or, where
// CTAs differ in their work, of ones drawn from all of the grid. What a row or a column
// of the grid reads lies at one address for those of it that an SM holds (Placement).
// Steady state is extrapolated, and loop iterations that the trace leaves out are
// charged at the pace of the recorded ones.
//
// Not modelled: instruction cache misses, which registers collide in a bank (three
// that must be fetched are charged what they take on average), how the order of
// reads and writes changes the efficiency of DRAM beyond their mix, contention
// between particular slices of L2 but for atomics, merging of partial stores on the
// way there, eviction hints other than ld.cs and st.cs, clusters, products of whole
// warpgroups and bulk copies.
package clock
