// Package clock is the clocked SM: it replays the traces of a few CTAs through one SM, cycle by
// cycle where something happens, and says how long the whole launch takes and what it waited
// for.
//
// Clocked are, of the SM: the schedulers with the scoreboard over physical registers, the issue intervals of the
// pipes, and the memory input/output queues. The load/store unit has its tag and data stages, the sectored L1
// (package cache), and this SM's share of L2 and DRAM (package dram). Barriers, the asynchronous units (warpgroup
// MMAs, bulk copies, mbarriers), and CTA launch and turnaround are clocked as well. What the other SMs do enters as
// that share and, from the footprints of neighbouring CTAs, as the estimate which accesses miss L2 (package
// footprint).
//
// A CTA that was not traced is a replica of one that was, with its private data at other addresses. The traced ones
// are in the middle of the grid, with its neighbours. Where CTAs differ in their work, they are drawn from all of the
// grid. What a row or a column of the grid reads lies at one address for those of it that an SM holds
// (footprint.Placement). The steady state is extrapolated, and loop iterations that the trace leaves out are charged
// at the pace of the recorded ones.
//
// Not modelled are instruction cache misses, contention between particular slices of L2 but for atomics, eviction
// hints other than ld.cs and st.cs, and CTAs of a cluster that do not do the same at the same time. Nor is the effect
// on DRAM of the order of reads and writes beyond their mix. Which registers collide in a bank is not known either:
// an instruction that must fetch three is charged the average.
package clock
