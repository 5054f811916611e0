package standby

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// Config is what one of two coordinators is.
type Config struct {
	Dir     string // its data directory
	Arbiter Arbiter
	Timing  Timing
	Log     hclog.Logger
	Options store.OpenOptions
	// Conn leads to the other one, which is followed while that serves; nil: this node
	// serves or ends.
	Conn grpc.ClientConnInterface
	// Follows is called with each follower that there comes to be, and must return when
	// ctx ends.
	Follows func(ctx context.Context, f *Follower)
}

// Lead returns once this node holds the lease: at once if nobody else does, and else,
// if it has another to follow, when its turn has come. The keeper must Run from then on,
// and the node is to be closed after that.
func Lead(ctx context.Context, c Config) (_ *Keeper, _ *Node, err error) {
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	n, now, err := c.node(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = n.Close()
		}
	}()
	for {
		mine := now.Holder == n.Name || now.Term == 0 && (c.Conn == nil || has(n.Database()))
		if !mine {
			if c.Conn == nil {
				return nil, nil, tuner.Errorf(tuner.Conflict, "start", "%w: %s serves in term %d, and this is %s: give --standby-of its address to follow it", ErrTakenOver, now.Holder, now.Term, n.Name)
			}
			if now, err = c.follow(ctx, n); err != nil {
				return nil, nil, err
			}
		}
		if now.Term > 0 {
			if err := n.promote(); err != nil {
				return nil, nil, err
			}
			if !has(n.Database()) {
				return nil, nil, tuner.Errorf(tuner.NotFound, "hold the lease", "%s holds the lease and has no database: is its volume there?", n.Name)
			}
		}
		k, err := Hold(ctx, c.Arbiter, now, n.Name, c.Timing, c.Log)
		if k != nil || err != nil {
			return k, n, err
		}
		if now, err = c.read(ctx, n); err != nil { // it was another's turn
			return nil, nil, err
		}
	}
}

// node returns the node that the directory is, locked, and the record. A new node wants an
// arbiter that answers.
func (c *Config) node(ctx context.Context) (n *Node, now Record, err error) {
	if n, err = FindNode(c.Dir); err != nil {
		return nil, Record{}, err
	}
	known := n != nil
	if !known {
		if now, err = c.Arbiter.Read(ctx); err != nil {
			return nil, Record{}, err
		}
		if n, err = MakeNode(c.Dir); err != nil {
			return nil, Record{}, err
		}
	}
	if err := n.lock(); err != nil {
		return nil, Record{}, err
	}
	if known {
		if now, err = c.read(ctx, n); err != nil {
			_ = n.Close()
			return nil, Record{}, err
		}
	}
	return n, now, nil
}

// read reads the record. An arbiter that has worked before is waited for: its volume may
// come back.
func (c *Config) read(ctx context.Context, n *Node) (Record, error) {
	for said := ""; ; {
		r, err := c.Arbiter.Read(ctx)
		if err == nil && r.Term == 0 && has(n.Database()) {
			err = tuner.Errorf(tuner.Conflict, "read the lease", "there is no record, and %s has had one: is its volume there? If it is to begin anew, with this database, run \"coordinator promote\"", n.Name)
		}
		if err == nil {
			return r, nil
		}
		if text := err.Error(); text != said {
			c.Log.Warn("the lease cannot be read; waiting for it", "error", err)
			said = text
		}
		select {
		case <-time.After(c.Timing.Heartbeat):
		case <-ctx.Done():
			return Record{}, ctx.Err()
		}
	}
}

// follow follows until it is this node's turn.
func (c *Config) follow(ctx context.Context, n *Node) (Record, error) {
	f := NewFollower(n, c.Conn, c.Arbiter, c.Timing, c.Options, c.Log)
	if c.Follows != nil {
		following, stop := context.WithCancel(ctx)
		var beside sync.WaitGroup
		beside.Go(func() { c.Follows(following, f) })
		defer beside.Wait() // it may hold an address that is needed
		defer stop()
	}
	return f.Run(ctx)
}

// Promote makes the node of a data directory the holder of the lease by somebody's
// command. Without loss accepted it must be the standby that has everything
// acknowledged, or there must be no record yet; then a database is made if there is none.
func Promote(ctx context.Context, dir string, a Arbiter, options store.OpenOptions, acceptLoss bool) (Record, error) {
	n, err := FindNode(dir)
	if err != nil {
		return Record{}, err
	}
	now, err := a.Read(ctx)
	if err != nil {
		return Record{}, err
	}
	if n == nil && now.Term == 0 {
		n, err = MakeNode(dir)
	} else if n == nil {
		err = tuner.Errorf(tuner.NotFound, "promote", "%s is neither of the two: it has no %s", dir, nodeFile)
	}
	switch {
	case err != nil:
		return Record{}, err
	case now.Holder == n.Name:
		return now, tuner.Errorf(tuner.Conflict, "promote", "%s holds the lease already, in term %d", n.Name, now.Term)
	case now.Term > 0 && !has(n.Copy()) && !(acceptLoss && has(n.Database())):
		return now, tuner.Errorf(tuner.NotFound, "promote", "%s has no copy of the database (%s)", n.Name, copied)
	case now.Term == 0 && has(n.Copy()) && !acceptLoss:
		return now, tuner.Errorf(tuner.Conflict, "promote", "there is no record, so nobody knows what the copy of %s may lack: promote the one that served; or, if it is lost for good, give --accept-loss", n.Name)
	case now.Term > 0 && now.Standby != n.Name && !acceptLoss:
		return now, tuner.Errorf(tuner.Conflict, "promote", "%s may lack what %s has acknowledged: start that one; or, if it is lost for good, give --accept-loss", n.Name, now.Holder)
	}
	next := Record{Term: now.Term + 1, Holder: n.Name, Process: "promote"}
	var done bool
	if now.Term > 0 {
		done, err = a.Swap(ctx, now, next)
	} else if err = n.makeDatabase(options); err == nil {
		done, err = a.Create(ctx, next)
	}
	if err == nil && !done {
		err = errors.New("the record has changed meanwhile: look again (\"warptune standby\")")
	}
	return next, err
}
