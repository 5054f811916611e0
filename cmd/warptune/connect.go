package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// connection is the flags of commands that ask a coordinator: one that runs
// elsewhere, or one of our own over a database file.
type connection struct {
	db, coordinator string
	security        cluster.Security
	embed           cluster.EmbedOptions
}

func (c *connection) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.db, "db", "", "database file; default: "+defaultDB())
	cmd.Flags().StringVar(&c.coordinator, "coordinator", "", "address of a running coordinator, instead of a database of one's own")
	c.security.ClientFlags(cmd.Flags())
}

// defaultDB is $XDG_DATA_HOME/warptune/warptune.db, by default under ~/.local/share.
func defaultDB() string {
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "warptune.db"
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "warptune", "warptune.db")
}

// path is the database's.
func (c *connection) path() string {
	if c.db == "" {
		return defaultDB()
	}
	return c.db
}

// client is a connection to a coordinator.
type client struct {
	warptunev1.SweepServiceClient
	conn     io.Closer
	raw      grpc.ClientConnInterface // the same
	embedded *cluster.Embedded        // nil when the coordinator runs elsewhere
	beside   bool                     // it is that of the process that has the database open
	joined   *cluster.Worker          // of this process, for that one; nil: there is none
}

// work starts to evaluate for a database on this machine, once: in the process that has
// it, which is this one or another.
func (c *client) work(path string, slots int, fault func(error)) error {
	switch {
	case c.embedded != nil:
		return c.embedded.Work(slots, fault)
	case !c.beside || c.joined != nil:
		return nil
	}
	conn, ok := cluster.DialBeside(path)
	if !ok {
		return errGone
	}
	var err error
	c.joined, err = cluster.Join(conn, slots, fault)
	return err
}

// errGone says that the process that had the database open has ended.
var errGone = status.Error(codes.Unavailable, "the process that had the database open has ended")

func (c *client) close() error {
	if c.joined != nil { // what it says is the coordinator's to keep
		_ = c.joined.Close()
	}
	err := c.conn.Close()
	if c.embedded != nil {
		err = errors.Join(err, c.embedded.Close())
	}
	return err
}

// openBeside connects to the process that has the database open, if it answers.
func (c *connection) openBeside() (*client, bool) {
	if c.coordinator != "" {
		return nil, false
	}
	conn, ok := cluster.DialBeside(c.path())
	if !ok {
		return nil, false
	}
	return &client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, raw: conn, beside: true}, true
}

// open connects. With a database of one's own nothing is evaluated until
// client.embedded.Work is called.
func (c *connection) open(ctx context.Context) (*client, error) {
	if c.coordinator != "" {
		if c.db != "" {
			return nil, usagef("give --db or --coordinator, not both")
		}
		conn, err := c.security.Dial(c.coordinator)
		if err != nil {
			return nil, err
		}
		return &client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, raw: conn}, nil
	}
	emb, err := cluster.Embed(ctx, c.path(), c.embed)
	if tuner.KindOf(err) == tuner.Locked {
		return nil, fmt.Errorf("%w; a coordinator that has it is asked with --coordinator", err)
	} else if err != nil {
		return nil, err
	}
	conn, err := emb.Dial()
	if err != nil {
		return nil, errors.Join(err, emb.Close())
	}
	return &client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, raw: conn, embedded: emb}, nil
}

// remote turns a gRPC status into the message a person reads.
func (c *connection) remote(err error) error {
	known := rpc.FromStatus(err)
	if c.coordinator != "" && rpc.Unreachable(err) {
		return fmt.Errorf("no coordinator answers at %s: is it running, and is the address right? (%w)", c.coordinator, known)
	}
	if c.coordinator == "" && tuner.KindOf(known) == tuner.Damaged {
		return fmt.Errorf("database %s: %w", c.path(), known)
	}
	return known
}

// with opens a connection, runs f and closes it. What goes wrong in a coordinator
// of our own shows when it is closed, and is the cause of f's error. What only looks
// asks the process that has the database open, if there is one; should that end
// meanwhile, it asks again.
func (c *connection) with(ctx context.Context, f func(*client) error) error {
	if c.embed.Create {
		return c.own(ctx, f)
	}
	if cl, ok := c.openBeside(); ok {
		err := f(cl)
		if e := cl.close(); err == nil {
			err = e
		}
		if !rpc.Unreachable(err) || ctx.Err() != nil {
			return c.remote(err)
		}
	}
	return c.own(ctx, f)
}

// own is with for a coordinator elsewhere, or one of our own.
func (c *connection) own(ctx context.Context, f func(*client) error) (err error) {
	cl, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := cl.close(); e != nil {
			err = e
		}
	}()
	return c.remote(f(cl))
}
