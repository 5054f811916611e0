// Package pending is the state of what is under way and of what waits for it, as both levels of timing
// replay it: groups of asynchronous operations (cp.async, bulk copies, wgmma) and mbarriers. When
// something is done is computed as soon as it is issued, so both only keep cycles.
package pending
