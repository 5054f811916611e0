// Package compile turns a configuration's source into PTX: it holds the compile
// drivers (PTX given, the catalogue's prebuilt PTX, nvcc, clang++), the rule that
// chooses among them, and the cache of what they made.
//
// It is an edge: it starts compilers as child processes, with argument vectors,
// a minimal environment and limits on time and memory, and keeps a cache on disk.
// Sources may come from elsewhere: they reach a compiler only through a private
// directory, cannot include a file outside their bundle, and never pass a shell;
// on Linux the kernel (Landlock) holds compilers to that directory and the system's files.
//
// It does not read definitions (package kernel does), does not parse PTX, and
// does not apply the register cap or the carve-out, which belong to the launch.
package compile
