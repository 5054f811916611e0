// Package microbench has the microbenchmarks as a program carries them: their kernels as PTX,
// made by ptx.sh of sources that "make data" brings, and the sources of what needs nvcc and ncu.
package microbench

import (
	"embed"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

//go:embed ptx/*.ptx.zst
var compiled embed.FS

// Sources are the CUDA sources that are compiled where they are needed.
//
//go:embed residency.cu harness.cuh
var Sources embed.FS

// PTX is a program's kernels.
func PTX(program string) ([]byte, error) {
	packed, err := compiled.ReadFile("ptx/" + program + ".ptx.zst")
	if err != nil {
		return nil, fmt.Errorf("microbenchmark %s: %w", program, err)
	}
	plain, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("microbenchmark %s: %w", program, err)
	}
	defer plain.Close()
	return plain.DecodeAll(packed, nil)
}
