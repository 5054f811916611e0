// Package sandbox runs compilers on source that somebody submitted: within limits of time and
// memory, held to the files that they need, and with what ended them told apart.
package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limits bound one compiler run. A zero CPU or Memory is no limit.
type Limits struct {
	Wall   time.Duration // exceeding it is the machine's fault, not the configuration's
	CPU    time.Duration // processor time of a process; exceeding it is a compile error
	Memory int64         // bytes of address space of a process; exceeding it is a compile error
}

// ProbeLimits bound asking a compiler for its version.
var ProbeLimits = Limits{Wall: time.Minute, CPU: 20 * time.Second}

// DefaultLimits are far beyond what the largest known kernels need (300 ms of
// processor time and 104 MiB resident for a 128x128 SGEMM with clang 19).
func DefaultLimits() Limits {
	return Limits{Wall: 10 * time.Minute, CPU: 2 * time.Minute, Memory: 8 << 30}
}

const (
	maxMessage = 64 << 10 // bytes kept of a compiler's diagnostics
	maxPTX     = 64 << 20 // bytes of PTX read back
)

// exit is how a compiler ended by itself.
type exit struct {
	Code    int    // 0: success
	Killed  string // "" or the limit that ended it
	Message string // its standard error, at most maxMessage bytes
	Output  string // its standard output, likewise
}

// Run runs a compiler in dir and waits. The environment is minimal and the same
// everywhere, but for PATH, through which nvcc finds its host compiler. It is
// behind the wall given, if any. err is the machine's fault.
func Run(ctx context.Context, limits Limits, behind *Wall, dir, program string, args ...string) (exit, error) {
	bound, cancel := context.WithTimeout(ctx, limits.Wall)
	defer cancel()
	cmd := exec.CommandContext(bound, program, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C",
	}
	stdout, stderr := &bounded{limit: maxMessage}, &bounded{limit: maxMessage}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 5 * time.Second
	isolate(cmd)
	if err := behind.start(cmd); err != nil {
		return exit{}, fmt.Errorf("start %s: %w", program, err)
	}
	restrict(cmd.Process.Pid, limits)
	err := cmd.Wait()
	e := exit{Message: stderr.String(), Output: stdout.String()}
	var ee *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return e, context.Cause(ctx)
	case bound.Err() != nil:
		return e, fmt.Errorf("%s did not end within %v", filepath.Base(program), limits.Wall)
	case errors.As(err, &ee) && ee.ExitCode() == 127:
		// The dynamic loader's and env's way to say that it never ran.
		return e, fmt.Errorf("run %s: %s", program, strings.TrimSpace(e.Message))
	case errors.As(err, &ee):
		if why := interrupted(ee, limits, e.Message+e.Output); why != "" {
			return e, fmt.Errorf("run %s: %s", program, why)
		}
		e.Code, e.Killed = ee.ExitCode(), killedBy(ee, limits)
		return e, nil
	case err != nil:
		return e, fmt.Errorf("run %s: %w", program, err)
	}
	return e, nil
}

// Diagnosis is an unsuccessful exit as a message, with each old text of named replaced by the new one that follows
// it, and without "./".
func (e exit) Diagnosis(named ...string) string {
	m := strings.ReplaceAll(strings.NewReplacer(named...).Replace(e.Message), "./", "")
	switch {
	case e.Killed != "":
		m = "error: the compiler " + e.Killed + "\n" + m
	case strings.TrimSpace(m) == "":
		m = fmt.Sprintf("error: the compiler failed with exit status %d and said nothing", e.Code)
	}
	return strings.TrimSpace(m)
}

// bounded keeps the first limit bytes written to it and discards the rest.
type bounded struct {
	bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
