// Package connect finds who answers a command: a coordinator elsewhere, the process that
// has the database open, or a coordinator of this process over the database.
package connect

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
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// Connection is the flags of commands that ask a coordinator: one that runs
// elsewhere, or one of our own over a database file.
type Connection struct {
	db, Coordinator string
	Security        cluster.Security
	Embed           cluster.EmbedOptions
}

// Flags adds the flags that say whom to ask.
func (c *Connection) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.db, "db", "", "database file; default: "+defaultDB())
	cmd.Flags().StringVar(&c.Coordinator, "coordinator", "", "address of a running coordinator, instead of a database of one's own")
	c.Security.ClientFlags(cmd.Flags())
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

// Path is the database's.
func (c *Connection) Path() string {
	if c.db == "" {
		return defaultDB()
	}
	return c.db
}

// Client is a connection to a coordinator.
type Client struct {
	warptunev1.SweepServiceClient
	conn     io.Closer
	Raw      grpc.ClientConnInterface // the same
	Embedded *cluster.Embedded        // nil when the coordinator runs elsewhere
	Beside   bool                     // it is that of the process that has the database open
	joined   *cluster.Worker          // of this process, for that one; nil: there is none
}

// Work starts to evaluate for a database on this machine, once: in the process that has
// it, which is this one or another.
func (c *Client) Work(path string, slots int, fault func(error)) error {
	switch {
	case c.Embedded != nil:
		return c.Embedded.Work(slots, fault)
	case !c.Beside || c.joined != nil:
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

// Close ends what works for the connection, and the connection.
func (c *Client) Close() error {
	if c.joined != nil { // what it says is the coordinator's to keep
		_ = c.joined.Close()
	}
	err := c.conn.Close()
	if c.Embedded != nil {
		err = errors.Join(err, c.Embedded.Close())
	}
	return err
}

// OpenBeside connects to the process that has the database open, if it answers.
func (c *Connection) OpenBeside() (*Client, bool) {
	if c.Coordinator != "" {
		return nil, false
	}
	conn, ok := cluster.DialBeside(c.Path())
	if !ok {
		return nil, false
	}
	return &Client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, Raw: conn, Beside: true}, true
}

// Open connects. With a database of one's own nothing is evaluated until
// Client.Work is called.
func (c *Connection) Open(ctx context.Context) (*Client, error) {
	if c.Coordinator != "" {
		if c.db != "" {
			return nil, cli.Usagef("give --db or --coordinator, not both")
		}
		conn, err := c.Security.Dial(c.Coordinator)
		if err != nil {
			return nil, err
		}
		return &Client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, Raw: conn}, nil
	}
	emb, err := cluster.Embed(ctx, c.Path(), c.Embed)
	if tuner.KindOf(err) == tuner.Locked {
		return nil, fmt.Errorf("%w; a coordinator that has it is asked with --coordinator", err)
	} else if err != nil {
		return nil, err
	}
	conn, err := emb.Dial()
	if err != nil {
		return nil, errors.Join(err, emb.Close())
	}
	return &Client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, Raw: conn, Embedded: emb}, nil
}

// Remote turns a gRPC status into the message a person reads.
func (c *Connection) Remote(err error) error {
	known := rpc.FromStatus(err)
	if c.Coordinator != "" && rpc.Unreachable(err) {
		return fmt.Errorf("no coordinator answers at %s: is it running, and is the address right? (%w)", c.Coordinator, known)
	}
	if c.Coordinator == "" && tuner.KindOf(known) == tuner.Damaged {
		return fmt.Errorf("database %s: %w", c.Path(), known)
	}
	return known
}

// With opens a connection, runs f and closes it. What goes wrong in a coordinator
// of our own shows when it is closed, and is the cause of f's error. What only looks
// asks the process that has the database open, if there is one; should that end
// meanwhile, it asks again.
func (c *Connection) With(ctx context.Context, f func(*Client) error) error {
	if c.Embed.Create {
		return c.own(ctx, f)
	}
	if cl, ok := c.OpenBeside(); ok {
		err := f(cl)
		if e := cl.Close(); err == nil {
			err = e
		}
		if !rpc.Unreachable(err) || ctx.Err() != nil {
			return c.Remote(err)
		}
	}
	return c.own(ctx, f)
}

// own is with for a coordinator elsewhere, or one of our own.
func (c *Connection) own(ctx context.Context, f func(*Client) error) (err error) {
	cl, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := cl.Close(); e != nil {
			err = e
		}
	}()
	return c.Remote(f(cl))
}
