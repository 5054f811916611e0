package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"

	"github.com/warptune/warptune/tuner"
)

// A coordinator's address is HOST:PORT, several of them separated by commas, or
// @FILE: a file with such a line, which is read again and again. Names are
// looked up at each attempt to connect, so a client follows a coordinator that
// moves to another machine under its name, to another of the addresses, or to
// what the file says by then.

// rereadEvery is how often an address file is read; sooner when a connection
// is lost, but not more often than rereadSoonest.
const (
	rereadEvery   = 5 * time.Second
	rereadSoonest = 500 * time.Millisecond
)

// maxAddressFile is the most bytes of an address file.
const maxAddressFile = 64 << 10

// CheckAddress says what is wrong with a coordinator's address. Of @FILE it
// checks that there is a name: the file may be written later.
func CheckAddress(address string) error {
	if file, ok := strings.CutPrefix(address, "@"); ok {
		if file == "" {
			return badAddress(address)
		}
		return nil
	}
	_, err := splitAddresses(address)
	return err
}

func badAddress(address string) error {
	return tuner.Errorf(tuner.Invalid, "", "coordinator address %q: want HOST:PORT, e.g. localhost:7070, several separated by commas, or @FILE with such a line", address)
}

// splitAddresses returns the addresses of a list.
func splitAddresses(list string) ([]string, error) {
	var all []string
	for _, a := range strings.Split(list, ",") {
		a = strings.TrimSpace(a)
		if _, port, err := net.SplitHostPort(a); err != nil || port == "" || strings.ContainsAny(a, " \t\r\n") {
			return nil, badAddress(a)
		}
		all = append(all, a)
	}
	return all, nil
}

// Dial makes a client connection to the coordinator at an address, in any of
// its forms. Nothing is sent until the first call. allow, unless nil, says why
// not to connect to a HOST:PORT; it is asked again when a file has changed.
func Dial(address string, allow func(hostPort string) error, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	book := &addressBook{address: address, allow: allow}
	if !strings.HasPrefix(address, "@") {
		if _, err := book.read(); err != nil {
			return nil, err
		}
	}
	return grpc.NewClient(book.Scheme()+":///coordinator", append(options, grpc.WithResolvers(book))...)
}

// addressBook is a resolver.Builder for one address.
type addressBook struct {
	address string
	allow   func(string) error
}

// Scheme is in resolver.Builder.
func (*addressBook) Scheme() string { return "warptune" }

// Build is in resolver.Builder.
func (b *addressBook) Build(_ resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	ctx, stop := context.WithCancel(context.Background())
	r := &addressReader{book: b, cc: cc, soon: make(chan struct{}, 1), stop: stop, ended: make(chan struct{})}
	go r.run(ctx)
	return r, nil
}

// read returns the addresses to try, in order.
func (b *addressBook) read() ([]string, error) {
	list := b.address
	if file, ok := strings.CutPrefix(list, "@"); ok {
		info, err := os.Stat(file)
		if err == nil && (info.Size() > maxAddressFile || !info.Mode().IsRegular()) {
			err = errors.New("it is no small file")
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(file)
		}
		if err != nil {
			return nil, fmt.Errorf("read the coordinator's address from %s: %w", file, err)
		}
		all, err := splitAddresses(strings.TrimSpace(string(text)))
		if err != nil { // what it holds instead may be a secret, named by mistake
			return nil, tuner.Errorf(tuner.Invalid, "", "the coordinator's address in %s: want a line HOST:PORT, or several separated by commas; it holds something else", file)
		}
		return all, b.allowed(all)
	}
	all, err := splitAddresses(list)
	if err != nil {
		return nil, err
	}
	return all, b.allowed(all)
}

// allowed says why one of the addresses may not be connected to.
func (b *addressBook) allowed(all []string) error {
	for _, a := range all {
		if b.allow == nil {
			break
		}
		if err := b.allow(a); err != nil {
			return err
		}
	}
	return nil
}

// addressReader tells a connection where to connect to.
type addressReader struct {
	book  *addressBook
	cc    resolver.ClientConn
	soon  chan struct{} // a connection was lost; capacity 1
	stop  context.CancelFunc
	ended chan struct{}
}

// run reads the addresses until ctx ends: once if they cannot change.
func (r *addressReader) run(ctx context.Context) {
	defer close(r.ended)
	var told []string
	for {
		all, err := r.book.read()
		switch {
		case err != nil:
			r.cc.ReportError(err) // the addresses told before remain
		case !slices.Equal(all, told):
			_ = r.cc.UpdateState(stateOf(all)) // an error only says that it failed to connect
			told = all
		}
		if err == nil && !strings.HasPrefix(r.book.address, "@") {
			return
		}
		if !r.pause(ctx) {
			return
		}
	}
}

// pause waits until the addresses are to be read again; false: never.
func (r *addressReader) pause(ctx context.Context) bool {
	least, most := time.NewTimer(rereadSoonest), time.NewTimer(rereadEvery)
	defer least.Stop()
	defer most.Stop()
	select {
	case <-least.C:
	case <-ctx.Done():
		return false
	}
	select {
	case <-r.soon:
	case <-most.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// stateOf returns addresses as gRPC takes them; each certificate must be for
// the host it is reached by.
func stateOf(all []string) resolver.State {
	var s resolver.State
	for _, a := range all {
		host, _, _ := net.SplitHostPort(a)
		s.Endpoints = append(s.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: a, ServerName: host}}})
	}
	return s
}

// ResolveNow is in resolver.Resolver.
func (r *addressReader) ResolveNow(resolver.ResolveNowOptions) {
	select {
	case r.soon <- struct{}{}:
	default:
	}
}

// Close is in resolver.Resolver.
func (r *addressReader) Close() {
	r.stop()
	<-r.ended
}
