package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/store"
)

func TestBackupsAreStoresAndOldOnesGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "[a", "warptune.db") // what a pattern would make of it does not matter
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	start := time.Date(2026, 1, 2, 23, 59, 58, 0, time.UTC)
	var last string
	for i := range 5 { // across midnight: names sort by age; each after one more transaction
		if err := st.PutBundle(fmt.Sprint(i), []byte("content")); err != nil {
			t.Fatal(err)
		}
		if last, err = writeBackup(st, path, start.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if found, err := store.Check(last); err != nil || len(found.Problems) > 0 || found.Bundles != int64(i+1) {
			t.Errorf("backup %d holds %+v (%v)", i, found, err)
		}
		useRestored(t, last)
		if err := pruneBackups(path, 2); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".backup") {
			names = append(names, e.Name())
		}
	}
	if len(names) != 2 || names[1] != filepath.Base(last) {
		t.Errorf("left are %v, want two, the last %s", names, last)
	}
}

// useRestored puts a copy of a backup in the database's place and changes it.
func useRestored(t *testing.T, backup string) {
	t.Helper()
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "warptune.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
		if err != nil {
			t.Fatalf("the backup restored, after %d changes: %v", i, err)
		}
		if err := errors.Join(st.PutBundle(fmt.Sprint("new", i), nil), st.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

type broken struct{}

func (broken) Backup(w io.Writer) error {
	_, _ = w.Write([]byte("half"))
	return errors.New("no space left on device")
}

type ended struct{}

func (ended) Backup(w io.Writer) error {
	_, _ = w.Write([]byte("half"))
	panic("killed")
}

// What coordinators leave behind that end in the middle of a backup does not add up.
func TestEndedBackupsDoNotAddUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "warptune.db")
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	before, _ := os.ReadDir(dir)
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			_, _ = writeBackup(ended{}, path, time.Now())
		}()
	}
	name, err := writeBackup(st, path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	useRestored(t, name)
	if after, _ := os.ReadDir(dir); len(after) != len(before)+1 {
		t.Errorf("there are %v, before %v", after, before)
	}
}

func TestFailedBackupLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if name, err := writeBackup(broken{}, filepath.Join(dir, "warptune.db"), time.Now()); err == nil {
		t.Errorf("half a backup is called %s", name)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%v is left", entries)
	}
}
