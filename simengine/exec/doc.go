// Package exec runs a kernel as PTX says it must: warps of 32 lanes with
// active masks and reconvergence at post-dominators, every state space,
// barriers, shuffles and atomics. It decides what a kernel computes and which
// addresses it touches; what that costs is package timing.
//
// It has two modes over one interpreter. Full executes everything and checks
// for races and barriers that some threads never reach. Slice executes only
// what addresses, branches and guards depend on, may leave out iterations of
// counted loops, and is what the timing model samples CTAs with.
//
// # Divergence
//
// A warp keeps one stack of (block, reconvergence block, mask). Lanes that
// diverge reconverge at the immediate post-dominator of the branch, as all
// GPUs before Volta did and as later ones do for the structured code compilers
// emit. In loops that a lane may leave by what other threads write the real assembler has
// lanes yield to each other (ir.Kernel.Yields): those that have left go on without those
// in it, each group with a stack of its own, until all come to an instruction that they execute together.
// Lanes to which nothing is left but the exit leave at once, and do not count at barriers (exited.go).
// Of the guarantee of Volta and later that diverged lanes of one warp make
// progress independently no more is modelled: a lane that spins on what another
// lane of its own warp must still do without such a loop ends as the fault StepLimit. Warps of one
// CTA take turns, so that spinning on another warp works; CTAs run one at a
// time, so spinning on a later CTA ends as StepLimit too.
//
// # Ordering
//
// Every access happens at once and in program order. Asynchronous copies land
// when they are issued; Full mode reports a read that does not wait for them
// as a race. Memory order between warps is therefore stronger than the
// hardware's.
//
// # Checks
//
// What one CTA does wrong is a Fault. Always looked for: accesses out of the bounds of the buffer or variable that
// the address comes from (bounds.go), misaligned ones, barriers that not all threads reach. By option:
// races in shared memory (race.go, and racefilter.go where that suffices), races in device memory within a CTA and with other CTAs executed
// before (package racecheck), values of shared and local memory that nobody wrote and that matter (definedness.go).
// Options.Warn has a run go past what a kernel may live with (warn.go).
package exec
