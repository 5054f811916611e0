// Package verify says what is executed of a launch to check it, and whether two
// configurations of a kernel compute the same.
//
// Executing belongs to package exec, and deciding what to execute within which budget to package simengine. Here
// are the CTAs to look at (Corners, Place), an observer that notes which elements of which buffer a CTA writes
// (Writes), and the comparison of what was written (Output.Compare). Everything is a function of its arguments.
package verify
