// Package kernel reads kernel definitions (T1, the tuning community's JSON,
// with our extensions) and says what they mean: the search space, and for one
// configuration and problem size the launch, the arguments and what the
// compiler is given.
//
// What a launch is made of is in package call, how launch records say it in package recorded.
//
// It does not compile (package compile does), and does not know GPUs: whether
// a launch is possible on one is for the simulator to say.
//
// Our extensions of T1, all in KernelSpecification, all optional:
//
//	MaxRegisters          expression: registers per thread, 0 = no cap
//	SharedMemoryCarveout  expression: -1 = driver's choice, else percent of the maximum
//	Cooperative           expression: 1 = a cooperative launch, whose CTAs are resident together
//	SharedMemory          dynamic shared bytes per block; an expression too
//	Language "PTX"        KernelFile is a path template such as ptx/reduce_{BLOCK_SIZE}.ptx
//	FillType "Generator"  DataSource is an expression over the element index i
//	FillType "Random"     in [0, FillValue), seeded by RandomSeed
//	FillType "BinaryRaw"  DataSource is a file beside the definition, of elements one after the other
//	MemoryType "TensorMap" a CUtensorMap by value: Shape, Box, Strides, Swizzle …
//	MemoryType "Texture"  a cudaTextureObject_t by value: Shape, Layered, Filter, Address …; "Surface" a cudaSurfaceObject_t
//	Managed               where pages of a buffer in managed memory are: host (or true), nowhere, device
//	ClusterSize           {X, Y, Z}, expressions: CTAs of a cluster
//	Launches              a file of launch records, which are the configurations, and no others
//	MemType "Constant"    fills the __constant__ variable of that name
//
// A launch record is one launch with all that it needs, as a compiler's front end captured it
// (docs/KERNELS.md, Launch records). A folder of them is a kernel for each group of records that
// compete; in a bundle it is a definition with Launches.
//
// Fields of other tools are ignored with a warning, but one that matters misspelt
// is refused. Entries of BenchmarkConfig are macros and names in expressions, as
// in BAT.
//
// Expressions see the tuning parameters and ProblemSize, a list of integers.
// A parameter alone in min, max, len or sum means the list of its values, as
// in Kernel Tuner's argument sizes.
package kernel
