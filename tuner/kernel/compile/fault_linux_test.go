package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// pretend returns the driver of a program that says it is clang 19 and
// otherwise runs a line of shell, in which $OUT is where the PTX is written.
func pretend(t *testing.T, limits sandbox.Limits, script string) *Clang {
	t.Helper()
	program := filepath.Join(t.TempDir(), "clang++-19")
	text := "#!/bin/sh\ncase $1 in\n--version) echo clang version 19.1.7;;\n--print-targets) echo nvptx64;;\n*) OUT=../out.ptx; : >../deps.d; : >../out.ll; " + script + ";;\nesac\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return NewClang(program, limits)
}

// What ends a compiler from outside says nothing of the configuration: a batch
// system that tells every process of a job to stop, or a machine that has run out of
// memory. Only what it does itself does: it crashes, or uses up what it was given.
func TestWhoEndedTheCompiler(t *testing.T) {
	limits := sandbox.DefaultLimits()
	limits.CPU = time.Second
	for script, configurations := range map[string]bool{
		"echo fine >$OUT":                          true,
		"exit 1":                                   true,
		"kill -SEGV $$":                            true,
		"kill -ABRT $$":                            true,
		"while :; do :; done":                      true,
		"trap '' XCPU; while :; do :; done":        true,
		"kill -TERM $$":                            false,
		"kill -KILL $$":                            false,
		"kill -INT $$":                             false,
		"kill -HUP $$":                             false,
		"sh -c 'kill -KILL $$'":                    false, // as nvcc's sub-processes
		"sh -c 'kill -TERM $$'; exit 1":            true,  // nobody can tell
		"echo No space left on device >&2; exit 1": false,
		"head -c 100000000 /dev/zero >$OUT":        true, // more than is read back
	} {
		_, err := pretend(t, limits, script).Compile(context.Background(), request(t, "k.cu", copyFiles()))
		var e *Error
		if got := err == nil || errors.As(err, &e); got != configurations {
			t.Errorf("%s: %v; want that it is the configuration's: %v", script, err, configurations)
		}
	}
}
