// Package measure times configurations on this machine's GPU. A process of its own,
// the measurer, has the GPU: it is told launches, it can be ended when one hangs, and
// another takes its place when one faults. Here is what is around it: PTX and arguments
// of a configuration to a launch, samples to a time that can be trusted, and both to
// the outcome of a trial.
package measure
