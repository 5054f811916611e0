package standby

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// Files of a data directory that is one of two. A standby's copy of the database has
// another name than a database that is served, so that nobody serves it by mistake.
const (
	nodeFile   = "warptune.node"
	served     = "warptune.db"
	copied     = "standby.db"
	superseded = ".superseded" // after the name of a database that another has taken the place of
)

// Node is a data directory under a name: one of the two.
type Node struct {
	Name string `json:"node"`
	dir  string
	held *os.File // nil: it is not locked
}

// lock has no other process be this node.
func (n *Node) lock() error {
	f, err := os.OpenFile(filepath.Join(n.dir, nodeFile+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return tuner.Errorf(tuner.Locked, "start", "another process is %s already, in %s: stop it, or use another directory", n.Name, n.dir)
	}
	n.held = f
	return nil
}

// Close lets another process be this node.
func (n *Node) Close() error {
	if n == nil || n.held == nil {
		return nil
	}
	return n.held.Close()
}

// Database is the path of the database that is served.
func (n *Node) Database() string { return filepath.Join(n.dir, served) }

// Copy is the path of the copy that a standby keeps.
func (n *Node) Copy() string { return filepath.Join(n.dir, copied) }

// FindNode returns the node that a data directory is, nil if it is none.
func FindNode(dir string) (*Node, error) {
	text, err := os.ReadFile(filepath.Join(dir, nodeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	n := &Node{dir: dir}
	if err := json.Unmarshal(text, n); err != nil || !isName(n.Name) {
		return nil, tuner.Errorf(tuner.Damaged, "read the node's name", "%s in %s names none: remove it if this directory is to be another node", nodeFile, dir)
	}
	return n, nil
}

// MakeNode makes a data directory a node.
func MakeNode(dir string) (*Node, error) {
	n := &Node{Name: newNode(), dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	return n, writeFile(filepath.Join(dir, nodeFile), append(text, '\n'), 0o600)
}

// writeFile writes a file that is whole, and on disk, whenever it has its name.
func writeFile(path string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return store.SyncDir(filepath.Dir(path))
}

// has reports whether a file is there.
func has(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// setAside gives a database another name, since another node has taken its place:
// what it has more was acknowledged to nobody.
func (n *Node) setAside() (moved bool, err error) {
	if !has(n.Database()) {
		return false, nil
	}
	if err := os.Rename(n.Database(), n.Database()+superseded); err != nil {
		return false, err
	}
	return true, store.SyncDir(n.dir)
}

// promote makes the copy the database that is served.
func (n *Node) promote() error {
	switch {
	case has(n.Copy()) && has(n.Database()):
		return tuner.Errorf(tuner.Conflict, "take over", "%s has both %s and %s: move away the one that is not to be served", n.dir, served, copied)
	case !has(n.Copy()):
		return nil
	}
	if err := os.Rename(n.Copy(), n.Database()); err != nil {
		return fmt.Errorf("take over: %w", err)
	}
	return store.SyncDir(n.dir)
}

// makeDatabase makes a database if there is none, nor a copy of one.
func (n *Node) makeDatabase(options store.OpenOptions) error {
	if has(n.Database()) || has(n.Copy()) {
		return nil
	}
	st, err := store.Open(n.Database(), options)
	if err != nil {
		return err
	}
	return st.Close()
}

// Superseded reports whether there is a database here whose place another node has taken.
func (n *Node) Superseded() bool { return has(n.Database() + superseded) }
