package stages

// SharedIn32Bits has addresses of shared memory computed in 32 bits, as nvcc's optimiser does: nvcc 13.0's PTX of
// deploy/calibrate/datasets accesses shared memory by a %r, never by a %rd (grep -E '(ld|st)\.shared.*\[%rd'). LLVM
// so finds that sums are addresses whatever their sign, and folds constants into loads. Both halves of clang's
// option -fcuda-short-ptr do it: one for the front end, which writes the layout of data in the LLVM text, and one
// for the back end, which refuses a text of another layout. Whoever compiles LLVM's text has to name them apart.
//
// It has local and constant memory addressed so, too, where nvcc has 64 bits; there is no option for one alone.
var SharedIn32Bits = []string{"-Xclang", "-fcuda-short-ptr", "-mllvm", "-nvptx-short-ptr"}
