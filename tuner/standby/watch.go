package standby

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// standingFile says in a data directory how it stands, for who looks at the directory.
const standingFile = "warptune.standing"

// noteEvery is how often the standing is written down when nothing changes.
const noteEvery = 5 * time.Second

// Watch writes down how it stands until ctx ends, and calls changed when another
// standby is in sync, or none is.
func Watch(ctx context.Context, n *Node, standing func() Standing, changed func(Standing)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var last Standing
	for {
		s := standing()
		moved := s.InSync != last.InSync || s.Connected != last.Connected || s.Problem != last.Problem || s.Role != last.Role
		if moved || s.At.Sub(last.At) >= noteEvery {
			if text, err := json.Marshal(s); err == nil {
				_ = writeFile(filepath.Join(n.dir, standingFile), append(text, '\n'), 0o644) // what it says ages visibly
			}
			if s.InSync != last.InSync && changed != nil {
				changed(s)
			}
			last = s
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// LastStanding returns how it stood with a data directory when it was last written
// down; nil when it never was.
func LastStanding(dir string) (*Standing, error) {
	text, err := os.ReadFile(filepath.Join(dir, standingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var s Standing
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return &s, err
}

// Watch writes down how it stands until ctx ends.
func (f *Follower) Watch(ctx context.Context) { Watch(ctx, f.node, f.Standing, nil) }
