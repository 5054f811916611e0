package tunertest

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
)

// given are the addresses that FreeAddress has returned.
var given sync.Map

// FreeAddress returns a loopback address on which nobody listens, for processes
// that will, and again after they were killed. Where all of 127.0.0.0/8 is this
// machine it has a host part of this process's own: what other tests listen on or
// connect from meanwhile is not it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	pid := os.Getpid()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 64+pid>>16&63, pid>>8&255, pid&255))
		if err != nil {
			l, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		if _, again := given.LoadOrStore(address, true); !again {
			return address
		}
	}
	t.Fatal("no address is free")
	return ""
}
