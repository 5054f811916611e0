package compile

import (
	"regexp"
	"strings"
)

// hostCode is what to do where a source has what only a host program can use.
const hostCode = "this is host code: give the kernels in a file without it, or put it in #ifndef kernel_tuner, a macro that every kernel is compiled with"

// advices say what to do about the errors of clang that public kernels come to most often, by
// the error's text; the first that fits is given.
var advices = []struct {
	error *regexp.Regexp
	text  string
	notes bool // the error's notes may say it, too
}{
	{regexp.MustCompile(`'(malloc|free|operator new|operator delete)'`), "a kernel has no heap here: pass it a buffer as an argument", false},
	{regexp.MustCompile(`'((cuda)?(Texture|Surface)Object_t|CUtexObject|CUsurfObject|texture|surface|tex[123]D\w*|tex1Dfetch|surf[123]D\w*)'|'cuda(Texture|Surface)\w*'`), "texture references are gone since CUDA 12: take a cudaTextureObject_t or cudaSurfaceObject_t, which an argument of MemoryType Texture or Surface passes", false},
	{regexp.MustCompile(`cudaConfigureCall|reference to __global__ function`), "a kernel that launches another is not simulated; if this is host code, put it in #ifndef kernel_tuner, a macro that every kernel is compiled with", false},
	{regexp.MustCompile(`'__(shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot)'`), "architectures from sm_70 only have the form whose name ends in _sync, which takes a mask of lanes first", false},
	{regexp.MustCompile(`'curand\w*(\.h)?'`), "curand is not here: nvcc has it with the package nvidia-curand; or compute random numbers in the kernel, or pass them in a buffer", false},
	{regexp.MustCompile(`'thrust(/[^']*)?'`), "thrust is not here: what a kernel uses of it can be had from <tuple>, <utility>, <functional> and <algorithm>", false},
	{regexp.MustCompile(`'cub/|in namespace 'cub'`), "of cub, <cub/cub.cuh> has BlockReduce, BlockScan, BlockLoad, BlockStore, WarpReduce, WarpScan and the operators of reductions", false},
	{regexp.MustCompile(`'(cooperative_groups/memcpy_async\.h)' file`), "asynchronous copies are here as __pipeline_memcpy_async, __pipeline_commit and __pipeline_wait_prior", false},
	{regexp.MustCompile(`' file not found`), "an #include finds the files beside the definition and the device headers", false},
	{regexp.MustCompile(`'(cuda[A-Z]\w*|CU[a-z]\w*|FILE|stderr|stdout|fprintf|exit)'|named '(vector|string|cout|cerr|endl|map|runtime_error|chrono|unique_ptr|shared_ptr|ostream)' in namespace 'std'`), hostCode, false},
	{regexp.MustCompile(`invalid % escape in inline assembly`), "a register of PTX is written with two: %%laneid", false},
	{regexp.MustCompile(`reference to __host__ function '[^']*' in __(device|global)__ function|call to __host__ function from __(device|global)__ function`), "mark the function __device__", true},
	{regexp.MustCompile(`use of undeclared identifier '([A-Z][A-Z0-9_]*|\w*(block_size|tile_size)\w*)'$`), "a macro that is no tuning parameter goes into CompilerOptions, as -DNAME=VALUE", false},
}

// advice says what to do about the first error of a message, "" if nothing is known.
func advice(message, first string) string {
	// With the notes that belong to it.
	_, rest, _ := strings.Cut(message, first)
	rest, _, _ = strings.Cut(rest, ": error:")
	for _, a := range advices {
		if a.error.MatchString(first) || a.notes && a.error.MatchString(rest) {
			return a.text
		}
	}
	return ""
}
