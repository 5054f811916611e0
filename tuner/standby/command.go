package standby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// command is an Arbiter by a program, for whatever keeps the record: etcd, a
// Kubernetes Lease. A record is one line of text without spaces. It is called with
//
//	read            prints the record; nothing when there is none
//	create RECORD   status 0: it is made; 1: there is one
//	swap OLD NEW    status 0: NEW stands, durably; 1: another than OLD does
//
// Any other status says that it is unknown; what it prints on its standard error is told.
type command struct{ path string }

// Command returns the arbiter by a program.
func Command(path string) Arbiter { return command{path} }

// Read is in Arbiter.
func (c command) Read(ctx context.Context) (Record, error) {
	text, refused, err := c.run(ctx, "read")
	if err != nil || refused {
		return Record{}, errors.Join(err, c.error("read", refused))
	}
	line := strings.TrimSpace(text)
	if line == "" {
		return Record{}, nil
	}
	r, ok := ParseRecord(line)
	if !ok {
		return Record{}, fmt.Errorf("%s read: %q is no record", c.path, line)
	}
	return r, nil
}

func (c command) error(what string, is bool) error {
	if !is {
		return nil
	}
	return fmt.Errorf("%s %s ended with status 1", c.path, what)
}

// Create is in Arbiter.
func (c command) Create(ctx context.Context, first Record) (bool, error) {
	_, refused, err := c.run(ctx, "create", first.String())
	return err == nil && !refused, err
}

// Swap is in Arbiter.
func (c command) Swap(ctx context.Context, old, next Record) (bool, error) {
	_, refused, err := c.run(ctx, "swap", old.String(), next.String())
	return err == nil && !refused, err
}

// run runs the program; refused says that it ended with status 1.
func (c command) run(ctx context.Context, args ...string) (out string, refused bool, err error) {
	cmd := exec.CommandContext(ctx, c.path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.String(), false, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return "", true, nil
	}
	return "", false, fmt.Errorf("%s %s: %w: %s", c.path, args[0], err, strings.TrimSpace(stderr.String()))
}
