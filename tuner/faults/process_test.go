package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything that is waited for may take.
const patience = 2 * time.Minute

// process is a role that runs, in a process group of its own.
type process struct {
	cmd    *exec.Cmd
	stdout *lines
	stderr journal
	done   chan struct{} // closed when it has ended

	started time.Time
}

// start starts a role; wrapper is a command line to run it under.
func (r role) start(stdout func(line string), wrapper ...string) (*process, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	args := append(wrapper, os.Args[0], "-test.run=^$")
	p := &process{cmd: exec.Command(args[0], args[1:]...), stdout: &lines{to: stdout}, done: make(chan struct{}), started: time.Now()}
	p.cmd.Env = append(os.Environ(), roleEnv+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends a signal to all of the process; it may have ended.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// kill ends the process and waits until it is gone.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// halt stops the process, and returns when every thread of it is stopped.
func (p *process) halt(t *testing.T) {
	t.Helper()
	p.signal(syscall.SIGSTOP)
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if p.stopped() { // a thread that syncs a file does not stop before it has
			return
		}
	}
	t.Fatal("a process does not stop")
}

func (p *process) stopped() bool {
	tasks := fmt.Sprintf("/proc/%d/task/", p.cmd.Process.Pid)
	threads, err := os.ReadDir(tasks)
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + thread.Name() + "/stat")
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 0 && string(fields[0]) != "T" {
			return false
		}
	}
	return err == nil && len(threads) > 0
}

// killed reports whether it was ended by a SIGKILL, after done.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// serves reports whether a coordinator has said that it serves.
func (p *process) serves() bool {
	select {
	case <-p.done:
		return false
	default:
		return p.stdout.some.Load()
	}
}

// lines hands on what is written line by line.
type lines struct {
	to   func(string) // nil: nobody
	rest []byte
	some atomic.Bool // there was a line
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		l.some.Store(true)
		if l.to != nil {
			l.to(string(line))
		}
		l.rest = rest
	}
}

// journal keeps what is written.
type journal struct {
	mu   sync.Mutex
	text []byte
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, b...)
	return len(b), nil
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text)
}

// says waits until the process writes a text to its standard error.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(p.stderr.String(), text) {
			return
		}
	}
	t.Fatalf("a process does not say %q:\n%s", text, &p.stderr)
}

// trial names a trial by the number of its sweep and its own.
type trial struct {
	sweep uint64
	seq   int64
}

// witness knows what was acknowledged to whichever worker.
type witness struct {
	mu       sync.Mutex
	recorded map[trial]int // how often each was, as new
	late     int           // how many reports came too late
}

func (w *witness) hear(line string) {
	var what string
	var t trial
	if n, err := fmt.Sscan(line, &what, &t.sweep, &t.seq); n < 3 || err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if what == "late" {
		w.late++
	} else {
		w.recorded[t]++
	}
}

func (w *witness) tardy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late
}

// all returns what was acknowledged so far.
func (w *witness) all() map[trial]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[trial]int{}
	for t, n := range w.recorded {
		all[t] = n
	}
	return all
}

// supervised is a role that is started again whenever it dies, as a cluster's
// scheduler does.
type supervised struct {
	mu     sync.Mutex
	now    *process
	deaths int
	ended  chan struct{} // closed when it has ended by itself, or with ctx
}

// supervise keeps a role running until it ends with status 0 or ctx does. next
// returns the role of each start. Whoever dies otherwise than by SIGKILL fails
// the test, unless dies says that this is to be expected.
func supervise(ctx context.Context, t *testing.T, stdout func(string), dies func(*process) bool, next func() (role, []string)) *supervised {
	s := &supervised{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for ctx.Err() == nil {
			r, wrapper := next()
			p, err := r.start(stdout, wrapper...)
			if err != nil {
				t.Error(err)
				return
			}
			s.set(p)
			select {
			case <-p.done:
			case <-ctx.Done():
				p.kill()
				return
			}
			if p.cmd.ProcessState.Success() {
				return
			}
			if !p.killed() && !dies(p) {
				t.Errorf("%+v ended with %v:\n%s", r, p.cmd.ProcessState, &p.stderr)
				return
			}
			s.mu.Lock()
			s.deaths++
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() { <-s.ended })
	return s
}

func (s *supervised) set(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = p
}

// process returns the process that runs now; nil before the first.
func (s *supervised) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *supervised) died() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaths
}
