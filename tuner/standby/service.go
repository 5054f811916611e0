package standby

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// format is what writes' bytes are (store.CommitWrite): raised when older programs
// cannot read them.
const format = 1

// pieceBytes is the size of the pieces in which copies and writes travel.
const pieceBytes = 256 << 10

// closed is a channel on which nobody waits.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// batchBytes is about how much is taken from the log at a time.
const batchBytes = 4 << 20

// service serves StandbyService; p is nil at a coordinator without a lease.
type service struct {
	warptunev1.UnimplementedStandbyServiceServer
	p *Primary
}

// Register adds the service to a server; p nil: there is no lease.
func Register(s grpc.ServiceRegistrar, p *Primary) {
	warptunev1.RegisterStandbyServiceServer(s, &service{p: p})
}

type followStream = grpc.BidiStreamingServer[warptunev1.FollowRequest, warptunev1.FollowResponse]

// Follow is in StandbyService.
func (s *service) Follow(stream followStream) error {
	if s.p == nil {
		return rpc.ToStatus(tuner.Errorf(tuner.Conflict, "follow", "this coordinator has no standby: start it with --arbiter"))
	}
	hello, err := stream.Recv()
	if err != nil {
		return err
	}
	switch {
	case hello.GetFormat() != format:
		return rpc.ToStatus(tuner.Errorf(tuner.Mismatch, "follow", "the standby reads format %d of writes, this coordinator writes %d: use one version", hello.GetFormat(), format))
	case !isName(hello.GetNode()):
		return rpc.ToStatus(tuner.Errorf(tuner.Invalid, "follow", "%.80q is no node's name", hello.GetNode()))
	case hello.GetNode() == s.p.node:
		return rpc.ToStatus(tuner.Errorf(tuner.Conflict, "follow", "%s cannot follow itself: its --standby-of is its own address, or its directory is a copy", s.p.node))
	}
	f := &follower{node: hello.GetNode()}
	if from, ok := peer.FromContext(stream.Context()); ok {
		f.address = from.Addr.String()
	}
	from, ok, err := s.p.connect(f, hello.GetLog(), hello.GetNumber())
	if err != nil {
		return rpc.ToStatus(err)
	}
	err = s.p.feed(stream, f, from, !ok)
	s.p.part(f, err)
	return rpc.ToStatus(err)
}

// feed sends what a standby lacks until it or the lease ends, and notes what it has.
func (p *Primary) feed(stream followStream, f *follower, from uint64, whole bool) error {
	heard := make(chan error, 1)
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				heard <- err
				return
			}
			if m.GetLog() == p.name {
				p.acknowledge(f, m.GetNumber(), m.GetProblem())
			} else {
				p.hear(f)
			}
		}
	}()
	if whole {
		var err error
		if from, err = p.sendCopy(stream); err != nil {
			return err
		}
	}
	for {
		p.mu.Lock()
		all, ok := p.writes.after(from, batchBytes)
		last, changed, silent := p.writes.last, p.changed, time.Since(f.heard)
		p.mu.Unlock()
		switch {
		case !ok:
			return tuner.Errorf(tuner.Limit, "follow", "the standby is so far behind that the writes after %d are not kept any more", from)
		case silent > lostAfter(p.timing):
			return tuner.Errorf(tuner.Unavailable, "follow", "the standby says nothing for %v", silent.Round(time.Second))
		}
		for _, write := range all {
			from++
			if err := p.send(stream, warptunev1.FollowKind_FOLLOW_KIND_WRITE, from, last, write); err != nil {
				return err
			}
		}
		if len(all) > 0 {
			changed = closed
		}
		if err := p.pause(stream, f, heard, changed, last); err != nil {
			return err
		}
	}
}

// pause waits until there is something to send, and says now and then that there is not.
func (p *Primary) pause(stream followStream, f *follower, heard <-chan error, changed <-chan struct{}, last uint64) error {
	beat := time.NewTimer(p.timing.Heartbeat)
	defer beat.Stop()
	select {
	case <-changed:
		return nil
	case <-beat.C:
		return p.send(stream, warptunev1.FollowKind_FOLLOW_KIND_IDLE, last, last, nil)
	case err := <-heard:
		return err
	case <-f.end:
		return tuner.Errorf(tuner.Conflict, "follow", "%s has connected again", f.node)
	case <-p.keeper.Lost():
		return p.keeper.Valid()
	case <-p.stopped:
		return tuner.Errorf(tuner.Unavailable, "follow", "the coordinator stops")
	}
}

// send sends bytes in pieces.
func (p *Primary) send(stream followStream, kind warptunev1.FollowKind, number, last uint64, b []byte) error {
	for first := true; first || len(b) > 0; first = false {
		n := min(len(b), pieceBytes)
		m := &warptunev1.FollowResponse{Kind: kind, Log: p.name, Number: number, Last: last, Piece: b[:n], More: n < len(b)}
		if err := stream.Send(m); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// sendCopy sends a copy of the store, and returns the write that it is of.
func (p *Primary) sendCopy(stream followStream) (number uint64, err error) {
	send := func(b []byte, more bool) error {
		return stream.Send(&warptunev1.FollowResponse{Kind: warptunev1.FollowKind_FOLLOW_KIND_COPY, Log: p.name, Number: number, Last: number, Piece: b, More: more})
	}
	err = p.copyTo(writerFunc(func(b []byte) (int, error) {
		for n := len(b); len(b) > 0; {
			piece := b[:min(len(b), pieceBytes)]
			if err := send(piece, true); err != nil {
				return n - len(b), err
			}
			b = b[len(piece):]
			if len(b) == 0 {
				return n, nil
			}
		}
		return 0, nil
	}), func(at uint64) { number = at })
	return number, errors.Join(err, send(nil, false))
}

// hear notes that a standby is there.
func (p *Primary) hear(f *follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.heard = time.Now()
}

// Standing is in StandbyService.
func (s *service) Standing(context.Context, *warptunev1.StandingRequest) (*warptunev1.StandingResponse, error) {
	if s.p == nil {
		return &warptunev1.StandingResponse{}, nil
	}
	st := s.p.Standing()
	return &warptunev1.StandingResponse{
		Node: st.Node, Term: st.Term, InSync: st.InSync, Connected: st.Connected, Behind: st.Behind, HeardMs: st.Heard.Milliseconds(), Problem: st.Problem, Required: st.Required,
	}, nil
}
