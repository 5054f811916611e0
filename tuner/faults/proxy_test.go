package faults

import (
	"net"
	"sync"
	"testing"
	"time"
)

// proxy stands between workers and a coordinator, and makes a bad line of it.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	mute  bool // nothing passes, of whoever is connected or connects, and nobody is told
	conns map[*link]bool
}

// link is a connection through a proxy.
type link struct {
	near, far net.Conn // the worker's, and the coordinator's
	dead      bool     // what comes is swallowed, for as long as it lasts
	ends      int      // how many of the two have closed it
}

// between returns a proxy in front of a coordinator, until the test ends.
func between(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target, conns: map[*link]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.pass(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
		all.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) pass(near net.Conn) {
	far, err := net.DialTimeout("tcp", p.target, time.Second)
	if err != nil {
		_ = near.Close()
		return
	}
	c := &link{near: near, far: far}
	p.mu.Lock()
	c.dead = p.mute
	p.conns[c] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(c, far, near) })
	both.Go(func() { p.copy(c, near, far) })
	both.Wait()
	_, _ = near.Close(), far.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// copy hands on what comes until the connection is closed. One end that closes is no
// reason to close the other where nobody is told.
func (p *proxy) copy(c *link, to, from net.Conn) {
	room := make([]byte, 32<<10)
	for {
		n, err := from.Read(room)
		p.mu.Lock()
		dead := c.dead
		if err != nil {
			c.ends++
		}
		p.mu.Unlock()
		if n > 0 && !dead {
			_, _ = to.Write(room[:n])
		}
		if err != nil {
			if !dead {
				_ = to.Close()
			}
			return
		}
	}
}

// silence lets nothing pass any more, or lets new connections pass again.
func (p *proxy) silence(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
	for c := range p.conns {
		c.dead = c.dead || mute
	}
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_, _ = c.near.Close(), c.far.Close()
	}
}

// halfOpen returns how many ends of dead connections are open.
func (p *proxy) halfOpen() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if c.dead {
			n += 2 - c.ends
		}
	}
	return n
}
