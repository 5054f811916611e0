package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// old writes a file that an earlier program left, and returns its path. v1.db
// has a completed sweep of 50 configurations and one of 200 that was killed
// after 88 results, with 4 trials leased.
func old(t *testing.T, name string) (path string, content []byte) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".zst"))
	must(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	must(t, err)
	defer z.Close()
	content, err = io.ReadAll(z)
	must(t, err)
	path = filepath.Join(t.TempDir(), "sweeps.db")
	must(t, os.WriteFile(path, content, 0o600))
	return path, content
}

// A file of schema 1 is backed up as it was, and then has everything it had.
func TestUpgradeFromVersion1(t *testing.T) {
	path, content := old(t, "v1.db")
	b := mustOpen(t, path)
	defer b.Close()
	sweeps, err := b.Sweeps()
	must(t, err)
	if len(sweeps) != 2 || sweeps[0].State != tuner.Completed || sweeps[1].State != tuner.Running {
		t.Fatalf("sweeps %+v", sweeps)
	}
	for _, s := range sweeps {
		rows, err := b.Results(s.Num, 0, PageLimit)
		must(t, err)
		if want := []int{0, 50, 88}[s.Num]; len(rows) != want {
			t.Errorf("sweep %d has %d results, want %d", s.Num, len(rows), want)
		}
		for _, r := range rows {
			want := tunertest.Oracle(r.Index)
			want.FloorUS, want.Checked = 0, tuner.Checked{} // not known to the program that wrote it
			values := tunertest.Space(1000).At(r.Index).Values
			a, found, err := b.Answer(tuner.AnswerKey(s.Spec.Scope(), values))
			if err != nil || !found || fmt.Sprint(a.Result.Outcome) != fmt.Sprint(want) {
				t.Errorf("the answer of trial %d of sweep %d: %v, %v (%v)", r.Seq, s.Num, a, found, err)
			}
			if want.Digest == "" {
				continue
			}
			if a, found, err := b.Digested(want.Digest); err != nil || !found || fmt.Sprint(a.Result.Outcome) != fmt.Sprint(want) {
				t.Errorf("the digest of trial %d of sweep %d: %v, %v (%v)", r.Seq, s.Num, a, found, err)
			}
		}
	}
	leases, err := b.Leases(2)
	must(t, err)
	if len(leases) != 4 {
		t.Errorf("%d leases, want 4", len(leases))
	}
	must(t, b.Close())
	if f, err := Check(path); err != nil || len(f.Problems) > 0 {
		t.Errorf("after the upgrade: %+v (%v)", f, err)
	}
	// bbolt writes its two meta pages anew in a copy.
	backup, err := os.ReadFile(path + ".v1.backup")
	must(t, err)
	if !bytes.Equal(backup[2*4096:], content[2*4096:]) {
		t.Errorf("the backup has %d bytes and differs, the file had %d", len(backup), len(content))
	}
	must(t, mustOpen(t, path).Close())
}

// A damaged old file is refused, and stays what it was.
func TestDamagedFileIsNotUpgraded(t *testing.T) {
	path, content := old(t, "v1.db")
	at := bytes.Index(content, []byte("oracle 1"))
	content[at] ^= 4
	must(t, os.WriteFile(path, content, 0o600))
	if _, err := Open(path, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Damaged {
		t.Fatalf("it opens: %v", err)
	}
	db, err := bolt.Open(path, 0o600, boltOptions(OpenOptions{}))
	must(t, err)
	defer db.Close()
	must(t, db.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket(schemaBucket).Get(versionKey); string(v) != "1" {
			t.Errorf("its schema is version %s", v)
		}
		return nil
	}))
}

// A page that says that it holds fewer entries than it does is noticed, in
// whichever bucket that would be a loss, also of a sweep that still runs.
func TestMissingEntriesAreNoticed(t *testing.T) {
	content := filled(t, 300)
	path := filepath.Join(t.TempDir(), "sweeps.db")
	read := func(content []byte) (string, error) {
		must(t, os.WriteFile(path, content, 0o600))
		b, err := Open(path, OpenOptions{AnyFileSystem: true})
		if err != nil {
			return "", err
		}
		defer b.Close()
		return dump(b)
	}
	want, err := read(content)
	must(t, err)
	const branch, leaf = 0x01, 0x02 // kinds of pages
	refused := map[uint16]int{}
	for page := 2; page < len(content)/4096; page++ {
		mutated := bytes.Clone(content)
		p := mutated[page*4096:]
		flags, n := binary.LittleEndian.Uint16(p[8:]), binary.LittleEndian.Uint16(p[10:])
		if n == 0 || flags != leaf && flags != branch {
			continue
		}
		binary.LittleEndian.PutUint16(p[10:], n-1)
		got, err := read(mutated)
		switch {
		case tuner.KindOf(err) == tuner.Damaged:
			refused[flags]++
		case err != nil || got != want:
			t.Errorf("page %d: an entry is missing and nobody says so (%v)", page, err)
		}
	}
	if refused[leaf] < 10 || refused[branch] < 1 {
		t.Errorf("refused for %d leaf and %d branch pages", refused[leaf], refused[branch])
	}
}
