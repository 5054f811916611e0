package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
)

// solve is a definition's space for what --problem and --set say. An error that
// the definition does not have without them is wrong usage. It ends soon after ctx
// has, and says on stderr that it is at work if it takes long.
func (a *app) solve(ctx context.Context, def *kernel.Definition, problem []int64, set map[string][]string) (*search.Space, error) {
	note := solving{a: a, what: def.Name, begun: time.Now()}
	note.next = note.begun.Add(lineEvery)
	space, err := def.SpaceUntil(problem, set, func() error {
		note.tell(time.Now())
		return ctx.Err()
	})
	if err == nil {
		return space, nil
	}
	if ctx.Err() != nil {
		return nil, errors.New("interrupted while the conditions of " + def.Name + " were solved: nothing was submitted or evaluated")
	}
	if len(set) == 0 && len(problem) == 0 {
		return nil, err
	}
	if _, own := def.SpaceUntil(nil, nil, ctx.Err); own == nil {
		return nil, usageError{err}
	}
	return nil, err
}

// solving says now and then that conditions are being solved.
type solving struct {
	a     *app
	what  string
	begun time.Time
	next  time.Time
}

func (s *solving) tell(now time.Time) {
	if now.Before(s.next) {
		return
	}
	s.next = now.Add(lineEvery)
	fmt.Fprintf(s.a.stderr, "warptune: solving the conditions of %s for %s: they tell very many partial configurations apart\n", s.what, now.Sub(s.begun).Round(time.Second))
}
