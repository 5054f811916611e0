package input

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
)

// errPlanning is what a command says that is interrupted before it has begun.
var errPlanning = errors.New("interrupted while the definition was read and its conditions were solved: nothing was submitted or evaluated")

// AtOnce runs what only computes, and does not wait for it to end once ctx has: the
// process is about to.
func AtOnce[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := f()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, errPlanning
	}
}

// Solve is a definition's space for what --problem and --set say. An error that
// the definition does not have without them is wrong usage. It ends soon after ctx
// has, and says on stderr that it is at work if it takes long.
func Solve(ctx context.Context, a *cli.App, def *kernel.Definition, problem []int64, set map[string][]string) (*search.Space, error) {
	note := solving{a: a, what: def.Name, begun: time.Now()}
	note.next = note.begun.Add(cli.LineEvery)
	space, err := def.SpaceUntil(problem, set, func() error {
		if ctx.Err() == nil {
			note.tell(time.Now())
		}
		return ctx.Err()
	})
	if err == nil {
		return space, nil
	}
	if ctx.Err() != nil {
		return nil, errPlanning
	}
	if len(set) == 0 && len(problem) == 0 {
		return nil, err
	}
	if _, own := def.SpaceUntil(nil, nil, ctx.Err); own == nil {
		return nil, cli.Usage(err)
	}
	return nil, err
}

// solving says now and then that conditions are being solved.
type solving struct {
	a     *cli.App
	what  string
	begun time.Time
	next  time.Time
}

func (s *solving) tell(now time.Time) {
	if now.Before(s.next) {
		return
	}
	s.next = now.Add(cli.LineEvery)
	fmt.Fprintf(s.a.Stderr, "warptune: solving the conditions of %s for %s: they tell very many partial configurations apart\n", s.what, now.Sub(s.begun).Round(time.Second))
}
