package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/pagesource"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
)

// servePage serves the page at --page until ctx ends, to whom the API's tokens and certificates admit.
func (o *options) servePage(ctx context.Context, c *coordinator.Coordinator, secured *cluster.Secured, mine *leading, log hclog.Logger) error {
	if o.page == "" {
		return nil
	}
	listener, err := net.Listen("tcp", o.page)
	if err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	// The page asks as everybody does, but over memory: who looks at it was admitted by then.
	memory := rpc.NewMemory()
	inner := rpc.NewServer(c, log, mine.gate()...)
	defer inner.Stop()
	go func() { _ = inner.Serve(memory.Listener()) }()
	conn, err := memory.Dial()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer conn.Close()
	counted, _ := o.connections.Limit(listener, log)
	server := page.Server(page.Handler(pagesource.New("coordinator "+o.listen, pagesource.Over(conn)), o.pageOptions(secured)))
	server.TLSConfig = secured.TLS
	server.ErrorLog = log.Named("page").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn})
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	log.Info("serving the page", "address", listener.Addr().String(), "tls", secured.TLS != nil)
	if secured.TLS != nil {
		err = server.ServeTLS(counted, "", "")
	} else {
		err = server.Serve(counted)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--page: %w", err)
	}
	return nil
}

// pageOptions admit whom the API admits. Where it asks for nothing, a browser must at least mean this host.
func (o *options) pageOptions(secured *cluster.Secured) page.Options {
	if secured.Readers == nil {
		hosts := []string{}
		if name, err := os.Hostname(); err == nil {
			hosts = append(hosts, name)
		}
		if host, _, err := net.SplitHostPort(o.page); err == nil {
			hosts = append(hosts, host)
		}
		return page.Options{Hosts: hosts}
	}
	return page.Options{Guard: page.TokenGuard(func(r *http.Request, token string) (page.Visitor, error) {
		address, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
		if err != nil {
			return page.Visitor{}, &tuner.Error{Kind: tuner.Internal, Op: "page", Err: err}
		}
		id, err := secured.Readers.Reader(r.Context(), address, token, r.TLS)
		return page.Visitor{Name: id.Name, Role: id.Role.String()}, err
	}, time.Now)}
}
