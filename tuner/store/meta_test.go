package store

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/warptune/warptune/tuner"
)

// Whichever of the two meta pages is destroyed, that of the last transaction or that of
// the one before, the file is refused: bbolt itself would go on with the other, and
// forget a transaction.
func TestDestroyedMetaPages(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sweeps.db")
	for commits := range 3 {
		b := mustOpen(t, path)
		page := b.db.Info().PageSize
		must(t, b.Commit(&tuner.Changes{Token: uint64(commits + 1)}))
		must(t, b.Close())
		content, err := os.ReadFile(path)
		must(t, err)
		for meta := range 2 {
			for what, destroy := range map[string]func([]byte){
				"zeroed":          func(p []byte) { clear(p) },
				"a bit changed":   func(p []byte) { p[16+48] ^= 1 },
				"the other one's": func(p []byte) { copy(p, content[(1-meta)*page:(2-meta)*page]) },
			} {
				damaged := append([]byte(nil), content...)
				destroy(damaged[meta*page : (meta+1)*page])
				copied := filepath.Join(dir, fmt.Sprint(commits, meta, what))
				must(t, os.WriteFile(copied, damaged, 0o600))
				if b, err := Open(copied, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Damaged {
					t.Errorf("after %d commits, meta page %d %s: %v", commits+1, meta, what, err)
					if err == nil {
						must(t, b.Close())
					}
				}
			}
		}
	}
}

// A full disk, a used up quota and a file at its greatest size are one kind of fault: it
// goes by when there is space. A disk that fails is another.
func TestFullDisks(t *testing.T) {
	for err, want := range map[error]tuner.ErrorKind{
		syscall.ENOSPC: tuner.DiskFull, syscall.EDQUOT: tuner.DiskFull, bolterrors.ErrMaxSizeReached: tuner.DiskFull, syscall.EIO: tuner.Internal,
	} {
		wrapped := &os.PathError{Op: "write", Path: "sweeps.db", Err: err}
		if got := tuner.KindOf(translate("store changes", wrapped)); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}
