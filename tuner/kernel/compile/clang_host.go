package compile

import "fmt"

// hostHeaders are headers of host code that files with kernels often include, too. None of what they
// declare is here; under clang they can be included, and what a kernel uses of them is an error that names it.
var (
	hostHeaders = []string{
		"ctype.h", "errno.h", "getopt.h", "inttypes.h", "malloc.h", "memory.h", "omp.h", "stdarg.h", "stdbool.h", "strings.h", "sys/time.h", "time.h", "unistd.h",
		"cublas_v2.h", "cublasLt.h", "cuda_profiler_api.h", "cudnn.h", "cufft.h", "curand.h", "cusolverDn.h", "cusparse.h", "mpi.h", "nccl.h", "nvToolsExt.h",
	}
	hostStandardHeaders = []string{
		"atomic", "bitset", "cctype", "cerrno", "chrono", "cinttypes", "complex", "cstdarg", "ctime", "deque", "exception", "fstream", "initializer_list", "iomanip", "ios", "iosfwd",
		"iostream", "istream", "iterator", "list", "map", "memory", "mutex", "numeric", "ostream", "queue", "random", "set", "sstream", "stack", "stdexcept", "string", "string_view",
		"thread", "typeinfo", "unordered_map", "unordered_set", "vector", "bits/stdc++.h",
	}
	// cudaStandardHeaders are those of which cuda/std has a copy in namespace cuda::std.
	cudaStandardHeaders = []string{"array", "cmath", "cstddef", "cstdint", "functional", "limits", "tuple", "type_traits", "utility"}
)

// hostFiles are their texts, by name. The standard library's bring along what others of its headers do.
func hostFiles() map[string]string {
	files := map[string]string{}
	for _, name := range hostHeaders {
		files[name] = ""
	}
	files["cublasLt.h"] = "#include <cublas_v2.h>\n"
	files["cublas_v2.h"] = "#include <cuComplex.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
	files["cufft.h"] = "#include <cuComplex.h>\ntypedef float cufftReal;\ntypedef double cufftDoubleReal;\ntypedef cuComplex cufftComplex;\ntypedef cuDoubleComplex cufftDoubleComplex;\n"
	for _, name := range hostStandardHeaders {
		files[name] = "#include <algorithm>\n#include <functional>\n#include <limits>\n#include <new>\n#include <tuple>\n#include <type_traits>\n#include <utility>\n"
	}
	for _, name := range cudaStandardHeaders {
		files["cuda/std/"+name] = fmt.Sprintf("#include <%s>\nnamespace std {}\nnamespace cuda { namespace std { using namespace ::std; } }\n", name)
	}
	for name, text := range files {
		files[name] = "#pragma once\n" + text
	}
	return files
}
