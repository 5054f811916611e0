package ir_test

import "github.com/warptune/warptune/simengine/ptxtest"

// build, kernel and golden are short for what ptxtest has.
var (
	build  = ptxtest.Module
	kernel = ptxtest.Kernel
	golden = ptxtest.Golden
)
