package cluster

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner/rpc"
)

// A database is one process's at a time: bbolt takes its file for itself, and what is
// shown of a running sweep is partly in memory. So the process that has it answers
// others of the same user, on the same machine, by the same service at a socket beside
// the file. A copy of the file would be another way, but stale, and as large as it is.

// socket is the path of the socket beside a database: that of the file itself, also if
// the path given is a link to it.
func socket(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	file, err = filepath.Abs(file)
	return file + ".sock", err
}

// listenBeside listens beside a database that this process has locked: a socket that
// is there already is of a process that was killed. Nobody but the user can connect.
func listenBeside(path string) (net.Listener, error) {
	at, err := socket(path)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	private := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { // before it is bound
		var denied error
		err := c.Control(func(fd uintptr) { denied = syscall.Fchmod(int(fd), 0o600) })
		return errors.Join(err, denied)
	}}
	return private.Listen(context.Background(), "unix", at)
}

// DialBeside connects to the process that has a database open; false if none answers
// there.
func DialBeside(path string) (*grpc.ClientConn, bool) {
	at, err := socket(path)
	if err != nil {
		return nil, false
	}
	probe, err := net.DialTimeout("unix", at, time.Second)
	if err != nil {
		return nil, false
	}
	probe.Close()
	conn, err := grpc.NewClient("unix://"+at, rpc.ClientOptions(nil)...)
	return conn, err == nil
}
