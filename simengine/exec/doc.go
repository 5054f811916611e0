// Package exec runs a kernel as PTX says it must: warps of 32 lanes with active masks and
// reconvergence at post-dominators, every state space, barriers, shuffles and atomics. It decides
// what a kernel computes and which addresses it touches. Package timing decides what that costs.
//
// It has two modes over one interpreter. Full executes everything. Slice executes only what
// addresses, branches and guards depend on, a program slice (M. Weiser, Program slicing, 1981), and
// may leave out iterations of counted loops. The timing model samples CTAs with it.
//
// # Divergence
//
// A warp keeps one stack of (block, reconvergence block, mask). Lanes that diverge reconverge at the
// immediate post-dominator of the branch, as on all GPUs before Volta, and as on later ones for the
// structured code that compilers emit.
//
// In loops that a lane may leave because of what other threads write, ptxas has lanes yield to each
// other (ir.Kernel.Yields). The lanes that have left go on without those in the loop, each group
// with a stack of its own, until all come to an instruction that they execute together
// (independentthreads.go). Lanes with nothing left to do but exit leave at once, and do not count at
// barriers (exited.go).
//
// No more of Volta's independent thread scheduling is modelled. A lane that spins, without such a
// loop, on what another lane of its own warp must still do ends as the fault StepLimit. Warps of one
// CTA take turns, so that spinning on another warp works. CTAs run one at a time, so spinning on a
// later CTA ends as StepLimit too.
//
// # Ordering
//
// Every access happens at once and in program order. Asynchronous copies and warpgroup MMAs
// do all they do when they are issued; Full mode reports what does not wait for them as a race
// (flight.go). Memory order between warps is therefore stronger than the hardware's.
//
// # Asynchronous instructions
//
// In Full mode a warp that waits for the phase of an mbarrier is suspended until it is complete
// (phase.go). When nothing else can go on, waits answer false once, as the hardware's do after a
// time; if nothing comes of that either, the fault names the mbarriers, their phases, and the
// arrivals and bytes that are missing. The CTAs of a cluster are executed together (group.go).
//
// Slice mode executes each CTA alone and its warps one after the other. Waits for phases and clusters
// succeed at once, bulk copies move nothing, and MMAs are not computed; an AsyncObserver is told
// of them. Where an address or a branch depends on shared memory, of the CTA or of its cluster, that
// warps or copies pass on, a slice blocks as Full mode does, and the CTAs of the cluster are executed
// together (findWaits). Where it depends on MMAs there is no slice. Loops that carry stages and phases
// are sampled as others are, and warps that meet at mbarriers leave out as many iterations
// (passages.go).
//
// # Checks
//
// What one CTA does wrong is a Fault. These are always looked for: accesses out of the bounds of the
// buffer or variable that the address comes from (bounds.go), misaligned accesses, and barriers that
// not all threads reach. These are options: races in shared memory (race.go, and racefilter.go where
// that suffices), races in device memory within a CTA and with other CTAs executed before (package
// racecheck), and uninitialised values of shared and local memory that matter (definedness.go).
// Options.Warn continues after faults that a kernel may live with (warn.go).
package exec
