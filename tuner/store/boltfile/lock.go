package boltfile

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/warptune/warptune/tuner"
)

// Lock locks path for this process, by a file beside it that says who holds
// it. The lock goes when the process does; the file stays.
func Lock(path string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, err
		}
		if time.Now().After(deadline) {
			defer f.Close()
			return nil, tuner.Errorf(tuner.Locked, "lock store", "%s: stop it, or use another file", holder(f))
		}
		time.Sleep(20 * time.Millisecond)
	}
	host, _ := os.Hostname()
	text := fmt.Sprintf("process %d (%s) on %s since %s\n", os.Getpid(), program(), host, time.Now().UTC().Format(time.RFC3339))
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(text), 0)
		if err != nil && !errors.Is(err, syscall.ENOSPC) { // on a full disk the lock holds all the same
			_ = f.Close()
			return nil, err
		}
	}
	return f, nil
}

func program() string {
	name := os.Args[0]
	return name[strings.LastIndexByte(name, '/')+1:]
}

// holder says who holds the lock.
func holder(f *os.File) string {
	text := make([]byte, 256)
	n, _ := f.ReadAt(text, 0)
	if who := strings.TrimSpace(string(text[:n])); who != "" {
		return "it is held by " + who
	}
	return "it is held by another process"
}
