package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
)

// connection is the flags of commands that ask a coordinator: one that runs
// elsewhere, or one of our own over a database file.
type connection struct {
	db, coordinator string
}

func (c *connection) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.db, "db", "", "database file; default: "+defaultDB())
	cmd.Flags().StringVar(&c.coordinator, "coordinator", "", "address of a running coordinator, instead of a database of one's own")
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

// client is a connection to a coordinator.
type client struct {
	warptunev1.SweepServiceClient
	conn     *grpc.ClientConn
	embedded *cluster.Embedded // nil when the coordinator runs elsewhere
}

func (c *client) close() error {
	err := c.conn.Close()
	if c.embedded != nil {
		err = errors.Join(err, c.embedded.Close())
	}
	return err
}

// open connects. With a database of one's own nothing is evaluated until
// client.embedded.Work is called.
func (c *connection) open(ctx context.Context) (*client, error) {
	if c.coordinator != "" {
		if c.db != "" {
			return nil, usagef("give --db or --coordinator, not both")
		}
		conn, err := cluster.Dial(c.coordinator)
		if err != nil {
			return nil, err
		}
		return &client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn}, nil
	}
	path := c.db
	if path == "" {
		path = defaultDB()
	}
	emb, err := cluster.Embed(ctx, path)
	if err != nil {
		return nil, err
	}
	conn, err := emb.Dial()
	if err != nil {
		return nil, errors.Join(err, emb.Close())
	}
	return &client{SweepServiceClient: warptunev1.NewSweepServiceClient(conn), conn: conn, embedded: emb}, nil
}

// remote turns a gRPC status into the message a person reads.
func (c *connection) remote(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	if c.coordinator != "" && strings.Contains(s.Message(), "connection error") {
		return fmt.Errorf("no coordinator answers at %s: is it running, and is the address right? (%s)", c.coordinator, s.Message())
	}
	return errors.New(s.Message())
}

// with opens a connection, runs f and closes it.
func (c *connection) with(ctx context.Context, f func(*client) error) (err error) {
	cl, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := cl.close(); err == nil {
			err = e
		}
	}()
	return c.remote(f(cl))
}
