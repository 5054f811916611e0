// Package tuner is the domain of a sweep: what is tuned (Spec), the trials it
// is made of, what came out of each (Outcome), and the Ledger that moves them
// through their states. It is pure: no clock, file, network or goroutine; time
// is an argument.
//
// It does not evaluate configurations (a worker's Evaluator does), does not
// store (package store) and does not speak a protocol (package rpc). What must
// be stored comes out of the ledger as Changes, for its owner to make durable
// before it tells anybody.
//
//	Trial:  Queued ⇄ Leased → Done | Abandoned
//	Sweep:  Running ⇄ Paused → Completed | Cancelled | Failed → Deleting
package tuner
