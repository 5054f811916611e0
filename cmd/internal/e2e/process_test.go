package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything that is waited for may take: much longer than it
// does, for machines with much else to do.
const patience = 2 * time.Minute

// process is a command that runs.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // of Wait; read after done
	log  *output
}

// output gathers what a process writes and tells those who wait for a text in it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed at the next write
}

func newOutput() *output { return &output{more: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.more)
	o.more = make(chan struct{})
	return o.text.Write(p)
}

func (o *output) String() string {
	text, _ := o.state()
	return text
}

func (o *output) state() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.more
}

// start starts a command; the test's end kills it.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	cmd := command(t, name, args...)
	p := &process{cmd: cmd, done: make(chan struct{}), log: newOutput()}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.signal(t, syscall.SIGKILL)
		<-p.done
		if t.Failed() {
			t.Logf("%s %s:\n%s", name, strings.Join(args, " "), p.log)
		}
	})
	return p
}

// signal sends a signal, unless the process has ended.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("%v: %v", s, err)
	}
}

// kill ends the process as a power cut would, and waits until it is gone.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	<-p.done
}

// wait returns the exit status; -1 if a signal ended the process.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-ctx.Done():
		t.Fatalf("%s does not end:\n%s", p.cmd.Path, p.log)
		return 0
	}
}

// says waits until the output matches, and returns the first group.
func (p *process) says(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		text, more := p.log.state()
		if m := re.FindStringSubmatch(text); m != nil {
			return m[len(m)-1]
		}
		select {
		case <-more:
		case <-p.done:
			if text := p.log.String(); !re.MatchString(text) {
				t.Fatalf("%s ended (%v) without %q:\n%s", p.cmd.Path, p.err, pattern, text)
			}
		case <-ctx.Done():
			t.Fatalf("%s does not say %q:\n%s", p.cmd.Path, pattern, p.log)
		}
	}
}

// warptune runs the command line to its end and returns its standard output; it
// must succeed.
func warptune(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := try(t, args...)
	if code != 0 {
		t.Fatalf("warptune %s: exit status %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// try runs the command line to its end.
func try(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return tryNamed(t, "warptune", args...)
}

// tryNamed is try of a command of that name.
func tryNamed(t *testing.T, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := command(t, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
