package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/cmd/internal/pagesource"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
)

// defaultPage is where the page is served unless somebody says otherwise.
const defaultPage = "localhost:7080"

func (a *app) pageCommand() *cobra.Command {
	var conn connection
	var listen string
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Serve the page: live sweeps, tables, charts, explanations",
		Long: "Serve the page to a browser on this machine, until it is interrupted: live sweeps, the ranked\n" +
			"table, charts, the roofline, and why a configuration is as fast as it is. It changes nothing.\n" +
			"The address that is printed has a key in it, so that nobody else on the machine can look.\n" +
			"From another machine: ssh -L 7080:localhost:7080 HOST, or \"coordinator --page\".",
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name := "database " + conn.path()
			if conn.coordinator != "" {
				name = "coordinator " + conn.coordinator
			}
			r := &reach{connection: &conn}
			defer r.close()
			if err := r.with(cmd.Context(), func(grpc.ClientConnInterface) error { return nil }); err != nil {
				return err
			}
			return a.servePage(cmd.Context(), listen, pagesource.New(name, r.with))
		},
	}
	conn.flags(cmd)
	cmd.Flags().StringVar(&listen, "listen", defaultPage, "address to serve the page on, of this machine alone; port 0 picks a free one")
	return cmd
}

// servePage serves the page until ctx ends.
func (a *app) servePage(ctx context.Context, listen string, source page.Source) error {
	if err := rpc.CheckPlaintext(listen); err != nil {
		return usagef("--listen %s: the page is served to this machine alone: from another one use ssh -L, or \"coordinator --page\" with its tokens and TLS", listen)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("%w: is another page served there? choose another address, or port 0 for any free one", err)
	}
	key := page.NewKey()
	server := page.Server(page.Handler(source, page.Options{Guard: page.KeyGuard(key), Hosts: []string{}}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	fmt.Fprintf(a.stderr, "warptune: the page is at http://%s/?key=%s\n", l.Addr(), key)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(late); err != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// reach is a connection for as long as a program runs: to a coordinator, or to whoever has the database, which may be
// another process now and this one later.
type reach struct {
	*connection
	mu  sync.Mutex
	now *client
}

// with calls f with the connection, and once more with another one if whoever had the database has ended.
func (r *reach) with(ctx context.Context, f func(grpc.ClientConnInterface) error) error {
	c, err := r.client(ctx)
	if err != nil {
		return err
	}
	err = f(c.raw)
	if !rpc.Unreachable(err) || !c.beside || ctx.Err() != nil {
		return err
	}
	r.drop(c)
	if c, err = r.client(ctx); err != nil {
		return err
	}
	return f(c.raw)
}

// client is the connection that there is, or a new one.
func (r *reach) client(ctx context.Context) (*client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		return r.now, nil
	}
	c, ok := r.openBeside()
	if !ok {
		var err error
		if c, err = r.open(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
	}
	r.now = c
	return c, nil
}

// drop forgets a connection.
func (r *reach) drop(c *client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == c {
		r.now = nil
		_ = c.close()
	}
}

func (r *reach) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		_ = r.now.close()
		r.now = nil
	}
}
