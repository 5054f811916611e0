package worker_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/rpc/intake"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// coordinateEnv makes the test binary a coordinator: "path address".
const coordinateEnv = "WARPTUNE_TEST_COORDINATES"

func TestMain(m *testing.M) {
	for env, role := range map[string]func(string) error{coordinateEnv: coordinate, askEnv: asks} {
		if arg := os.Getenv(env); arg != "" {
			if err := role(arg); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func coordinate(arg string) error {
	intake.Serving()
	path, address, _ := strings.Cut(arg, " ")
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		return err
	}
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() { _ = rpc.NewServer(c, nil).Serve(l) }()
	return c.Run(context.Background())
}
