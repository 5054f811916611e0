package rpc

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// Frames of HTTP/2 cost their sender next to nothing, and the coordinator a few microseconds each, those of calls that
// are taken back (CVE-2023-44487) a hundred. The library bounds how much of that is kept, not how much is done. So each
// connection has a bucket of frames. What a client gets done fills it: calls that are answered, messages to it. Who
// empties it is sent away.
const (
	frameBurst    = 1000    // frames, more than 128 calls at a time take before the first is answered
	frameRate     = 100     // frames a second, for calls that are taken back and for life signs
	framesOfCall  = 8       // a call that is answered, or a message of a stream, fills in as many: it takes up to 7
	bytesOfFrame  = 4 << 10 // bytes of messages to a client that fill in one: it opens windows for more
	bulk          = 1 << 10 // data frames of as many bytes cost nothing
	frameHeaderOf = 9       // bytes before what is in a frame
)

// errFrames ends a connection whose bucket is empty.
var errFrames = errors.New("too many HTTP/2 frames for what came of them")

// frameScanner finds the frames in a stream of bytes.
type frameScanner struct {
	head [frameHeaderOf]byte
	have int // bytes of head
	skip int // bytes until the next frame begins
}

// scan scans the next bytes, and calls found for each frame that begins in them.
func (s *frameScanner) scan(b []byte, found func(kind http2.FrameType, length int)) {
	for len(b) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(b))
			s.skip -= n
			b = b[n:]
			continue
		}
		n := copy(s.head[s.have:], b)
		s.have += n
		b = b[n:]
		if s.have == len(s.head) {
			length := int(binary.BigEndian.Uint32(s.head[:4]) >> 8)
			s.have, s.skip = 0, length
			found(http2.FrameType(s.head[3]), length)
		}
	}
}

// between reports whether a frame has ended and none has begun.
func (s *frameScanner) between() bool { return s.have == 0 && s.skip == 0 }

// frameMeter is a connection's bucket of frames.
type frameMeter struct {
	strangers *strangers // of its host

	mu    sync.Mutex
	left  bucket
	known bool    // a call of it was answered
	spent float64 // until it was known
}

// spend takes frames out; false if there are not as many. What is to be waited for
// is of who is not known while others of its host flood.
func (m *frameMeter) spend(frames float64, now time.Time) (wait time.Duration, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left.refill(now, frameRate, frameBurst)
	m.left.left -= frames
	if !m.known {
		m.spent += frames
		wait = m.strangers.spend(frames, now)
	}
	return wait, m.left.left >= 0
}

// earn fills frames in. call: one was answered; who has got that far is known.
func (m *frameMeter) earn(frames float64, call bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left.left = min(m.left.left+frames, frameBurst)
	if call && !m.known {
		m.known = true
		m.strangers.spend(-m.spent, now)
	}
}

// portion is what of a buffer may be read into.
func (m *frameMeter) portion(b []byte, now time.Time) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known || m.strangers.spend(0, now) == 0 {
		return b
	}
	return b[:min(len(b), strangerPortion)]
}

// meteredConn is a server's connection whose frames are counted.
type meteredConn struct {
	net.Conn
	addr   countedAddr
	meter  *frameMeter
	cut    func() // says that it is
	closed chan struct{}
	close  func()

	in frameScanner // of the one who reads

	mu  sync.Mutex // of those who write
	out frameScanner
}

// RemoteAddr is in net.Conn.
func (c *meteredConn) RemoteAddr() net.Addr { return c.addr }

// Close is in net.Conn.
func (c *meteredConn) Close() error {
	c.close()
	return c.Conn.Close()
}

// Read is in net.Conn.
func (c *meteredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(c.meter.portion(b, time.Now()))
	cost := 0.0
	c.in.scan(b[:n], func(kind http2.FrameType, length int) {
		if kind != http2.FrameData || length < bulk {
			cost++
		}
	})
	wait, ok := c.meter.spend(cost, time.Now())
	if !ok {
		c.cut()
		c.sendAway()
		return 0, errFrames
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.closed:
		}
	}
	return n, err
}

// Write is in net.Conn.
func (c *meteredConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Conn.Write(b)
	sent := 0
	c.out.scan(b[:n], func(kind http2.FrameType, length int) {
		if kind == http2.FrameData {
			sent += length
		}
	})
	if sent > 0 {
		c.meter.earn(float64(sent)/bytesOfFrame, false, time.Now())
	}
	return n, err
}

// sendAway says why the connection ends, if its client reads.
func (c *meteredConn) sendAway() {
	if !c.mu.TryLock() {
		return // somebody writes, or waits for a client that does not read
	}
	defer c.mu.Unlock()
	if c.out.between() && c.Conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		const last = 1<<31 - 1 // of the streams before it, all may have been worked on
		_ = http2.NewFramer(c.Conn, nil).WriteGoAway(last, http2.ErrCodeEnhanceYourCalm, []byte(errFrames.Error()))
	}
}
