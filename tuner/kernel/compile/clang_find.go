package compile

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// clang is one compiler found.
type clang struct {
	program string // absolute path
	version string // e.g. "clang 19.1.7"
	major   int
}

var clangVersion = regexp.MustCompile(`clang version ((\d+)\.\d+\.\d+)`)

// find returns the first program that is a clang with the NVPTX back end. Only
// success is remembered: a compiler may be installed while we run.
func (c *Clang) find(ctx context.Context) (*clang, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil {
		return c.found, nil
	}
	reason := strings.Join(c.programs, ", ") + " not found in PATH"
	if len(c.programs) > 1 {
		reason = "no clang++ in PATH"
	}
	for _, p := range c.programs {
		path, err := exec.LookPath(p)
		if err != nil {
			continue
		}
		f, why, err := probeClang(ctx, path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			c.found = f
			return f, nil
		}
		reason = why
	}
	return nil, &UnavailableError{Driver: "clang", Reason: reason, Need: clangNeed}
}

// probeClang asks a program for its version and targets; why says what it lacks.
func probeClang(ctx context.Context, path string) (f *clang, why string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	v, err := sandbox.Run(ctx, sandbox.ProbeLimits, nil, "/", path, "--version")
	if err != nil {
		return nil, "", err
	}
	m := clangVersion.FindStringSubmatch(v.Output)
	if m == nil {
		return nil, path + " --version does not say a clang version", nil
	}
	f = &clang{program: path, version: "clang " + m[1]}
	if f.major, err = strconv.Atoi(m[2]); err != nil || f.major < 14 {
		return nil, path + " is clang " + m[1] + "; 14 or newer is needed", nil
	}
	t, err := sandbox.Run(ctx, sandbox.ProbeLimits, nil, "/", path, "--print-targets")
	if err != nil {
		return nil, "", err
	}
	if !strings.Contains(t.Output, "nvptx64") {
		return nil, path + " has no NVPTX back end", nil
	}
	return f, "", nil
}
