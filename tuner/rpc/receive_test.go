package rpc

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// sending is a stream on which a bundle comes piece by piece, one every so often.
type sending struct {
	warptunev1.SweepService_PutBundleServer
	digest string
	pieces [][]byte
	every  time.Duration
}

func (s *sending) Context() context.Context { return context.Background() }

func (s *sending) SendAndClose(*warptunev1.PutBundleResponse) error { return nil }

func (s *sending) Recv() (*warptunev1.PutBundleRequest, error) {
	time.Sleep(s.every)
	if len(s.pieces) == 0 {
		return nil, io.EOF
	}
	m := &warptunev1.PutBundleRequest{Digest: s.digest, Chunk: s.pieces[0]}
	s.pieces = s.pieces[1:]
	return m, nil
}

// What bundles take while they are being sent is bounded, for all clients
// together, and so is how long one may take; it is given back whatever became of
// them.
func TestReceivingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		content, digest := tunertest.Bundle{Size: 10}.Content()
		pieces := make([][]byte, len(content))
		for i := range content {
			pieces[i] = content[i : i+1]
		}
		s := &sweepService{c: c, maxBundle: maxBundle}
		for what, test := range map[string]struct {
			others int64 // bytes of other bundles that are being sent
			every  time.Duration
			says   string
		}{
			"alone":            {0, time.Second, ""},
			"beside others":    {maxReceiving - int64(len(content)), 0, ""},
			"beside too many":  {maxReceiving - int64(len(content)) + 1, 0, "at a time"},
			"drop by drop":     {0, receiveTime / time.Duration(len(content)-2), "longer than"},
			"slowly, but ends": {0, receiveTime / time.Duration(len(content)+2), ""},
		} {
			s.receiving.Store(test.others)
			err := FromStatus(s.PutBundle(&sending{digest: digest, pieces: pieces, every: test.every}))
			if test.says == "" && err != nil || test.says != "" && (tuner.KindOf(err) != tuner.Limit || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%s: %v, want %q", what, err, test.says)
			}
			if n := s.receiving.Load(); n != test.others {
				t.Errorf("%s: afterwards %d bytes are being received, want %d", what, n, test.others)
			}
			c, err = coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
			if err != nil {
				t.Fatal(err)
			}
			s.c = c // that does not have it yet
		}
	})
}

// A worker may say a little of itself, since that is kept.
func TestWorkersSayLittle(t *testing.T) {
	address, _ := serve(t)
	client := warptunev1.NewWorkerServiceClient(dial(t, address, ClientOptions(nil)...))
	say := func(labels map[string]string) error {
		_, err := client.Synchronize(t.Context(), &warptunev1.SynchronizeRequest{Worker: &warptunev1.WorkerIdentity{Id: "w", Epoch: 1, Slots: 1, Engine: tunertest.Engine, Labels: labels}})
		return FromStatus(err)
	}
	if err := say(map[string]string{"host": "n1", "compiler": "clang 19"}); err != nil {
		t.Error(err)
	}
	_, err := client.Synchronize(t.Context(), &warptunev1.SynchronizeRequest{Worker: &warptunev1.WorkerIdentity{Id: "w\x1b[2J", Slots: 1, Engine: tunertest.Engine}})
	if tuner.KindOf(FromStatus(err)) != tuner.Invalid {
		t.Errorf("a name that steers terminals: %v", err)
	}
	many := map[string]string{}
	for i := range maxArchs {
		many[fmt.Sprint("label ", i)] = strings.Repeat("x", maxIdentity/maxArchs)
	}
	for what, labels := range map[string]map[string]string{"a long label": {"x": strings.Repeat("x", maxIdentity)}, "a long name": {strings.Repeat("x", maxIdentity): "y"}, "many labels": many} {
		if err := say(labels); tuner.KindOf(err) != tuner.Limit || !strings.Contains(err.Error(), "of itself") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
