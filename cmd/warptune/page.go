package main

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
	"github.com/warptune/warptune/tuner"
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
			conn.embed.Sweeps = []string{} // none is gone on with
			r := &reach{connection: &conn, ctx: cmd.Context()}
			if _, err := r.client(); err != nil {
				return conn.remote(err)
			}
			l, err := listenPage(listen)
			if err == nil {
				err = a.servePage(cmd.Context(), l, pagesource.New(r.name(), r.with))
			}
			return cmp.Or(r.close(), err)
		},
	}
	conn.flags(cmd)
	cmd.Flags().StringVar(&listen, "listen", defaultPage, "address to serve the page on, of this machine alone; port 0 picks a free one")
	return cmd
}

// listenPage listens for who looks at the page from this machine.
func listenPage(at string) (net.Listener, error) {
	if err := rpc.CheckPlaintext(at); err != nil {
		return nil, usagef("%s: the page is served to this machine alone, as HOST:PORT: from another machine use ssh -L, or \"coordinator --page\" with its tokens and TLS", at)
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("%w: is another page served there? choose another address, or port 0 for any free one", err)
	}
	return l, nil
}

// servePage serves the page until ctx ends.
func (a *app) servePage(ctx context.Context, l net.Listener, source page.Source) error {
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
	ctx context.Context // the program's
	mu  sync.Mutex
	now *client
}

// name says in words what it is a connection to.
func (r *reach) name() string {
	if r.coordinator != "" {
		return "coordinator " + r.coordinator
	}
	return "database " + r.path()
}

// with calls f with the connection, and once more with another one if whoever had the database has ended.
func (r *reach) with(ctx context.Context, f func(grpc.ClientConnInterface) error) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	err = f(c.raw)
	if !rpc.Unreachable(err) || !c.beside || ctx.Err() != nil {
		return err
	}
	r.drop(c)
	if c, err = r.client(); err != nil {
		return err
	}
	return f(c.raw)
}

// client is the connection that there is, or a new one: to who has the database, else to a coordinator of our own.
// Another process may take the database while this one opens it: it is asked then.
func (r *reach) client() (*client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for tries := 0; r.now == nil; tries++ {
		if c, ok := r.openBeside(); ok {
			r.now = c
			break
		}
		c, err := r.open(r.ctx)
		if tuner.KindOf(err) == tuner.Locked && tries < mostRaces && r.ctx.Err() == nil {
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

// drop closes a connection to a process that has ended.
func (r *reach) drop(c *client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == c {
		r.now = nil
		_ = c.close()
	}
}

func (r *reach) close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		err = r.now.close()
		r.now = nil
	}
	return err
}
