// Package livepage serves the page to this machine: warptune page, and tune --page.
package livepage

import (
	"cmp"
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
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
)

// DefaultAddress is where the page is served unless somebody says otherwise.
const DefaultAddress = "localhost:7080"

// Command is warptune page.
func Command(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var listen string
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Serve the page: live sweeps, tables, charts, explanations",
		Long: "Serve the page to a browser on this machine, until it is interrupted: live sweeps, the ranked\n" +
			"table, charts, the roofline, and why a configuration is as fast as it is. It changes nothing.\n" +
			"The address that is printed has a key in it, so that nobody else on the machine can look.\n" +
			"From another machine: ssh -L 7080:localhost:7080 HOST, or \"coordinator --page\".",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			conn.Embed.Sweeps = []string{} // none is gone on with
			r := &Reach{Connection: &conn, Ctx: cmd.Context()}
			if _, err := r.Client(); err != nil {
				return conn.Remote(err)
			}
			l, err := Listen(listen)
			if err == nil {
				err = Serve(cmd.Context(), a, l, pagesource.New(r.Name(), r.With))
			}
			return cmp.Or(r.Close(), err)
		},
	}
	conn.Flags(cmd)
	cmd.Flags().StringVar(&listen, "listen", DefaultAddress, "address to serve the page on, of this machine alone; port 0 picks a free one")
	return cmd
}

// Listen listens for who looks at the page from this machine.
func Listen(at string) (net.Listener, error) {
	if err := rpc.CheckPlaintext(at); err != nil {
		return nil, cli.Usagef("%s: the page is served to this machine alone, as HOST:PORT: from another machine use ssh -L, or \"coordinator --page\" with its tokens and TLS", at)
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("%w: is another page served there? choose another address, or port 0 for any free one", err)
	}
	return l, nil
}

// Serve serves the page until ctx ends.
func Serve(ctx context.Context, a *cli.App, l net.Listener, source page.Source) error {
	key := page.NewKey()
	server := page.Server(page.Handler(source, page.Options{Guard: page.KeyGuard(key), Hosts: []string{}}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	fmt.Fprintf(a.Stderr, "warptune: the page is at http://%s/?key=%s\n", l.Addr(), key)
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

// Reach is a connection for as long as a program runs: to a coordinator, or to whoever has the database, which may be
// another process now and this one later.
type Reach struct {
	*connect.Connection
	Ctx context.Context // the program's
	mu  sync.Mutex
	now *connect.Client
}

// Name says in words what it is a connection to.
func (r *Reach) Name() string {
	if r.Coordinator != "" {
		return "coordinator " + r.Coordinator
	}
	return "database " + r.Path()
}

// With calls f with the connection, and once more with another one if whoever had the database has ended.
func (r *Reach) With(ctx context.Context, f func(grpc.ClientConnInterface) error) error {
	c, err := r.Client()
	if err != nil {
		return err
	}
	err = f(c.Raw)
	if !rpc.Unreachable(err) || !c.Beside || ctx.Err() != nil {
		return err
	}
	r.Drop(c)
	if c, err = r.Client(); err != nil {
		return err
	}
	return f(c.Raw)
}

// Client is the connection that there is, or a new one: to who has the database, else to a coordinator of our own.
// Another process may take the database while this one opens it: it is asked then.
func (r *Reach) Client() (*connect.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for tries := 0; r.now == nil; tries++ {
		if c, ok := r.OpenBeside(); ok {
			r.now = c
			break
		}
		c, err := r.Open(r.Ctx)
		if tuner.KindOf(err) == tuner.Locked && tries < mostRaces && r.Ctx.Err() == nil {
			continue
		} else if err != nil {
			return nil, err
		}
		r.now = c
	}
	return r.now, nil
}

// mostRaces is how often another process may take the database first, each time after the store has waited for it.
const mostRaces = 3

// Drop closes a connection to a process that has ended.
func (r *Reach) Drop(c *connect.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == c {
		r.now = nil
		_ = c.Close()
	}
}

// Close closes the connection, if there is one.
func (r *Reach) Close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		err = r.now.Close()
		r.now = nil
	}
	return err
}
