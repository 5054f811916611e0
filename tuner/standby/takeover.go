package standby

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// Run follows the primary until this node holds the lease: since the primary was gone
// for long enough, or by somebody's command. The copy is the database to serve then.
// It returns the record, with an error when ctx ends first.
func (f *Follower) Run(ctx context.Context) (Record, error) {
	if moved, err := f.node.setAside(); err != nil {
		return Record{}, err
	} else if moved {
		f.log.Warn("another coordinator has taken over: the database of this one is set aside", "file", f.node.Database()+superseded)
	}
	still := stillness{f: f}
	for {
		following, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { f.follow(following) })
		r, err := still.wait(ctx)
		stop()
		done.Wait() // nothing is acknowledged from here on
		if e := f.close(); err == nil {
			err = e
		}
		if err != nil {
			return Record{}, err
		}
		if r, err = f.takeOver(ctx, r); err == nil {
			return r, f.node.promote()
		}
		if still.shown.Holder == f.node.Name {
			return Record{}, err
		}
		f.log.Warn("this standby does not take over", "reason", err)
		still.again()
	}
}

// takeOver takes the lease, unless this node has it already.
func (f *Follower) takeOver(ctx context.Context, now Record) (Record, error) {
	if now.Holder == f.node.Name && has(f.node.Database()) && !has(f.node.Copy()) { // it did, and ended
		return now, nil
	}
	if err := f.verify(f.node.Copy()); err != nil {
		f.forget()
		return Record{}, err
	}
	if now.Holder == f.node.Name {
		return now, nil
	}
	next := Record{Term: now.Term + 1, Holder: f.node.Name, Process: rand.Text()[:12]}
	done, err := f.arbiter.Swap(ctx, now, next)
	if err == nil && !done {
		err = tuner.Errorf(tuner.Conflict, "take over", "the record was changed meanwhile: the primary is there")
	}
	if err != nil {
		return Record{}, err // if it was done after all, the record says so the next time
	}
	f.log.Warn("taking over", "from", now.Holder, "term", next.Term)
	return next, nil
}

// stillness watches the record.
type stillness struct {
	f     *Follower
	shown Record
	since time.Time // when it was shown first, by this clock
	said  string
}

// again has it stand still for as long again.
func (s *stillness) again() { s.since = time.Now() }

// wait waits until this node may serve.
func (s *stillness) wait(ctx context.Context) (Record, error) {
	tick := time.NewTicker(s.f.timing.Heartbeat)
	defer tick.Stop()
	for {
		r, err := s.f.arbiter.Read(ctx)
		now := time.Now() // after it was read
		switch {
		case err != nil && ctx.Err() == nil:
			if text := err.Error(); text != s.said {
				s.f.log.Warn("the lease cannot be read", "error", err)
				s.said = text
			}
		case r != s.shown:
			s.shown, s.since, s.said = r, now, ""
			s.f.see(r)
		}
		switch {
		case err != nil:
		case r.Holder == s.f.node.Name:
			return r, nil
		case r.Term > 0 && r.Standby == s.f.node.Name && s.f.timing.TakeOver > 0 && now.Sub(s.since) >= s.f.timing.TakeOver:
			return r, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Record{}, ctx.Err()
		}
	}
}

// see notes what the record is.
func (f *Follower) see(r Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record = r
}

// Standing returns how it stands.
func (f *Follower) Standing() Standing {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Standing{Role: RoleStandby, Node: f.node.Name, Term: f.record.Term, InSync: f.record.Standby, Problem: f.problem, At: time.Now()}
	if f.cannot != "" {
		s.Problem = f.cannot
	}
	if f.problem == "" && !f.heard.IsZero() {
		s.Connected, s.Heard = f.record.Holder, time.Since(f.heard)
		if f.last > f.number {
			s.Behind = f.last - f.number
		}
	}
	return s
}
