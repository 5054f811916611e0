// Package compile turns a configuration's source into PTX: it holds the compile
// drivers (PTX given, the catalogue's prebuilt PTX, nvcc, clang++), the rule that
// chooses among them, and the cache of what they made.
//
// It is an edge: it starts compilers as child processes, with argument vectors,
// a minimal environment and limits on time and memory, and keeps a cache on disk.
// Sources may come from elsewhere: they reach a compiler only through a private
// directory, cannot include a file outside their bundle, and never pass a shell;
// on Linux the kernel (Landlock, package sandbox) holds compilers to that directory and the system's files.
//
// What clang needs in the CUDA toolkit's place is here, too: device/ has the device
// language, and clang is run in two steps so that copies of structs become those of
// vectors. In nvcc's place it is given options by which it optimises as nvcc does where the two were seen to differ (package asnvcc/stages),
// and is run in a third. What is done to the text between the steps is package asnvcc's, to the source before them
// package dialect's. Compilers are run by package sandbox, and found where package toolkit says.
//
// It does not read definitions (package kernel does) nor their options (package option), does not parse PTX, and
// does not apply the register cap or the carve-out, which belong to the launch.
package compile
