package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/singleflight"
)

// DefaultCacheDir is warptune/ptx in the user's cache directory.
func DefaultCacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("place for compiled PTX: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(base, "warptune", "ptx"), nil
}

// Cached is a Driver that remembers what another one made: in memory the most
// recent results, on disk all of them. Compile errors are not kept.
//
// On disk an entry is dir/xx/KEY.ptx: a line of JSON (entryHeader), then the PTX.
// KEY is the digest of all that the PTX depends on. Entries are written to a
// temporary file and renamed, so any number of processes may share the directory;
// an entry whose digest does not fit is compiled again and replaced. A directory
// that cannot be written costs compilations, never results.
type Cached struct {
	// Constant fields.
	driver Driver
	dir    string // "": memory only

	// Mutable fields.
	flight singleflight.Group
	mu     sync.Mutex
	recent recent
}

var _ Driver = (*Cached)(nil)

// recentResults and recentBytes bound the results kept in memory, some tens of
// KiB each as a rule.
const (
	recentResults = 1024
	recentBytes   = 128 << 20
)

// NewCached wraps a driver; dir "" keeps results in memory only.
func NewCached(d Driver, dir string) *Cached {
	return &Cached{driver: d, dir: dir, recent: newRecent(recentResults)}
}

// Name returns the wrapped driver's name.
func (c *Cached) Name() string { return c.driver.Name() }

// Identify asks the wrapped driver.
func (c *Cached) Identify(ctx context.Context) (string, error) { return c.driver.Identify(ctx) }

// Compile answers from memory, from disk, or from the wrapped driver; requests
// for the same result at the same time compile once.
func (c *Cached) Compile(ctx context.Context, r Request) (Result, error) {
	key, err := c.key(ctx, r)
	if err != nil {
		return Result{}, err
	}
	for {
		v, err, shared := c.flight.Do(key, func() (any, error) { return c.fill(ctx, key, r) })
		if err == nil {
			return v.(Result), nil
		}
		// Another caller's cancellation is not ours.
		if shared && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			continue
		}
		return Result{}, err
	}
}

// key is the digest of everything the PTX depends on.
func (c *Cached) key(ctx context.Context, r Request) (string, error) {
	who, err := c.driver.Identify(ctx)
	if err != nil {
		return "", err
	}
	src, err := readSource(r)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal([]any{"warptune ptx 3", who, r.Target, r.Language, src.Digest, src.MacroKey(), r.Options, r.Entry})
	if err != nil {
		return "", err
	}
	return digest(b), nil
}

func (c *Cached) fill(ctx context.Context, key string, r Request) (Result, error) {
	if res, ok := c.remembered(key); ok {
		return res, nil
	}
	res, err := c.driver.Compile(ctx, r)
	if err != nil {
		return Result{}, err
	}
	c.write(key, res)
	c.keep(key, res)
	return res, nil
}

// made answers from memory or from disk.
func (c *Cached) made(ctx context.Context, r Request) (Result, error) {
	key, err := c.key(ctx, r)
	if err != nil {
		return Result{}, err
	}
	res, ok := c.remembered(key)
	if !ok {
		return Result{}, errNotMade
	}
	return res, nil
}

// remembered looks in memory, then on disk.
func (c *Cached) remembered(key string) (Result, bool) {
	c.mu.Lock()
	res, ok := c.recent.get(key)
	c.mu.Unlock()
	if ok {
		return res, true
	}
	if res, ok = c.read(key); ok {
		c.keep(key, res)
	}
	return res, ok
}

// keep remembers a result in memory.
func (c *Cached) keep(key string, res Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent.put(key, res)
}

// entryHeader is the first line of an entry.
type entryHeader struct {
	Key      string `json:"key"`
	Compiler string `json:"compiler"`
	Target   string `json:"target"`
	Digest   string `json:"sha256"` // of the PTX that follows
	Entry    string `json:"entry,omitempty"`
}

func (c *Cached) path(key string) string { return filepath.Join(c.dir, key[:2], key+".ptx") }

// read returns an intact entry; anything else counts as none.
func (c *Cached) read(key string) (Result, bool) {
	if c.dir == "" {
		return Result{}, false
	}
	b, err := os.ReadFile(c.path(key))
	if err != nil {
		return Result{}, false
	}
	line, ptx, ok := bytes.Cut(b, []byte("\n"))
	var h entryHeader
	if !ok || json.Unmarshal(line, &h) != nil || h.Key != key || h.Digest != digest(ptx) {
		return Result{}, false
	}
	return Result{PTX: ptx, Compiler: h.Compiler, Target: h.Target, Digest: h.Digest, Entry: h.Entry}, true
}

// write stores an entry, or silently does not: the cache is no one's only copy.
func (c *Cached) write(key string, res Result) {
	if c.dir == "" {
		return
	}
	line, err := json.Marshal(entryHeader{Key: key, Compiler: res.Compiler, Target: res.Target, Digest: res.Digest, Entry: res.Entry})
	if err != nil {
		return
	}
	path := c.path(key)
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	_ = writeWhole(path, append(append(line, '\n'), res.PTX...))
}

// writeWhole writes a file that nobody sees half of.
func writeWhole(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
