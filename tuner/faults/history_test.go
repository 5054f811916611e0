package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
)

// A history is what workers said and heard, each when: invocations and responses
// of Synchronize, by a clock that all processes of a machine share.

// happening is a line of a worker's history.
type happening struct {
	Call    int   // counted by the process
	At      int64 // nanoseconds
	Session string
	Said    []said  `json:",omitempty"` // of an invocation
	Heard   []heard `json:",omitempty"` // of a response
	Failed  bool    `json:",omitempty"` // no response came: it is unknown what was done
	Answer  bool    `json:",omitempty"` // it is a response
}

// claim is a lease as a worker names it.
type claim struct {
	Sweep uint64
	Seq   int64
	Token uint64
}

// said is what a worker says of a lease: that it holds it, or what came of it.
type said struct {
	claim
	Reports bool
	Outcome bool // it reports an outcome, no fault, and does not return the trial
}

// heard is what a worker is told of a lease.
type heard struct {
	claim
	What   string // granted, dropped, acknowledged
	Status warptunev1.ReportStatus
}

// now is the time since the machine was started.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// recording is a connection that writes a history. What is written stays written
// when the process is killed.
type recording struct {
	grpc.ClientConnInterface
	file  *os.File
	calls *int // a worker has one call under way at a time
}

// record wraps a connection if there is a folder for histories.
func record(conn grpc.ClientConnInterface, dir string) (grpc.ClientConnInterface, error) {
	if dir == "" {
		return conn, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(os.Getpid(), "-", now(), ".history")), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return recording{conn, f, new(int)}, err
}

func (r recording) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	m, ok := in.(*warptunev1.SynchronizeRequest)
	if !ok {
		return r.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
	}
	*r.calls++
	h := happening{Call: *r.calls, Session: fmt.Sprintf("%s/%x", m.GetWorker().GetId(), m.GetWorker().GetEpoch()), At: now()}
	for _, l := range m.GetHeld() {
		h.Said = append(h.Said, said{claim: claimOf(l)})
	}
	for _, report := range m.GetReports() {
		h.Said = append(h.Said, said{claimOf(report.GetLease()), true, report.GetOutcome() != nil})
	}
	if err := r.write(&h); err != nil {
		return err
	}
	err := r.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
	h.Said, h.At, h.Answer, h.Failed = nil, now(), true, err != nil
	if err == nil {
		h.Heard = hear(out.(*warptunev1.SynchronizeResponse))
	}
	return errors.Join(err, r.write(&h))
}

func (r recording) write(h *happening) error {
	line, err := json.Marshal(h)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	return err
}

func claimOf(l *warptunev1.Lease) claim { return claim{l.GetSweep(), l.GetSeq(), l.GetToken()} }

func hear(m *warptunev1.SynchronizeResponse) (all []heard) {
	for _, a := range m.GetAcknowledgements() {
		all = append(all, heard{claimOf(a.GetLease()), "acknowledged", a.GetStatus()})
	}
	for _, l := range m.GetDrops() {
		all = append(all, heard{claim: claimOf(l), What: "dropped"})
	}
	for _, g := range m.GetGrants() {
		all = append(all, heard{claim: claimOf(g.GetLease()), What: "granted"})
	}
	return all
}

// exchange is an invocation with its response.
type exchange struct {
	session  string
	from, to int64 // unanswered: no response came
	said     []said
	heard    []heard
}

// unanswered is when what has not ended ends: whatever it does may be done at any time.
const unanswered = math.MaxInt64 / 2

// exchanges reads the histories of a folder.
func exchanges(t *testing.T, dir string) (all []exchange) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.history"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		open := map[int]int{}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var h happening
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch {
			case !h.Answer:
				open[h.Call] = len(all)
				all = append(all, exchange{session: h.Session, from: h.At, to: unanswered, said: h.Said})
			case !h.Failed:
				e := &all[open[h.Call]]
				e.to, e.heard = h.At, h.Heard
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// trialOf returns the trial that a claim is on, and whether it is its second grant;
// false for what only checks an outcome.
func (c claim) trialOf() (of trial, second, ok bool) {
	seq, checks := tuner.TrialOf(c.Seq)
	return trial{c.Sweep, seq}, c.Seq < 0, !checks
}
