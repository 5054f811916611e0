// Command warptune tunes CUDA kernels for GPUs one does not have.
package main

import (
	"os"

	"github.com/warptune/warptune/cmd/internal/cluster"
)

func main() {
	ctx, stop := cluster.StopContext()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
