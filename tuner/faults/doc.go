// Package faults tests the sweep system as processes to which things happen:
// they are killed at any moment, stopped and continued, their machine loses
// power, their disk is full, slow or broken. Every test ends with the same
// verdict: nothing acknowledged is lost, nothing is counted twice, the store is
// sound, the best is the oracle's, and the exported table is byte for byte that
// of an undisturbed sweep.
//
// It holds nothing but tests. What needs no process is tested beside the code,
// in virtual time. The long forms run with make soak.
package faults
