package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
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
		if _, err := st.PutBundle(fmt.Sprint(i), []byte("content"), tuner.Act{}); err != nil {
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
		_, err = st.PutBundle(fmt.Sprint("new", i), nil, tuner.Act{})
		if err := errors.Join(err, st.Close()); err != nil {
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

type whole struct{}

func (whole) Backup(w io.Writer) error {
	_, err := w.Write([]byte("whole"))
	return err
}

// A backup that is there is not called failed, whatever goes wrong after it: that is said
// by its name.
func TestWhatFailsAfterABackup(t *testing.T) {
	for name, test := range map[string]struct {
		from  source
		keep  int
		stop  bool
		wants []string
	}{
		"nothing":        {whole{}, 3, false, []string{"backed up"}},
		"the audit log":  {whole{}, 3, true, []string{"backed up", "could not be recorded"}},
		"removal":        {whole{}, 1, false, []string{"backed up", "could not be removed"}},
		"the backup":     {broken{}, 3, false, []string{"the backup failed"}},
		"backup and log": {broken{}, 3, true, []string{"the backup failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			database := filepath.Join(t.TempDir(), "warptune.db")
			stuck := database + ".19990101T000000Z" + backupSuffix // a folder with something in it stays
			if err := os.MkdirAll(filepath.Join(stuck, "full"), 0o700); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, end := context.WithCancel(t.Context())
				running, stop := context.WithCancel(t.Context())
				go func() { _ = c.Run(running) }()
				if test.stop {
					stop()
					synctest.Wait()
				}
				var said bytes.Buffer
				o := options{backupEvery: time.Hour, backupKeep: test.keep}
				go o.backUp(ctx, test.from, database, c, hclog.New(&hclog.LoggerOptions{Output: &said}))
				time.Sleep(90 * time.Minute)
				end()
				stop()
				synctest.Wait()
				for _, line := range []string{"backed up", "could not be recorded", "could not be removed", "the backup failed"} {
					want := strings.Contains(strings.Join(test.wants, "\n"), line)
					if strings.Contains(said.String(), line) != want {
						t.Errorf("it says %q: %v, want %v:\n%s", line, !want, want, said.String())
					}
				}
			})
		})
	}
}

// A backup is synced before it has its name, and the name before anybody is told.
func TestBackupsAreSynced(t *testing.T) {
	if path := os.Getenv("WARPTUNE_BACK_UP"); path != "" { // this is traced
		name, err := writeBackup(whole{}, path, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("backed up", name)
		return
	}
	strace, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(strace, "-f", "-o", "/dev/null", "true").Run()
	}
	if err != nil {
		t.Skip("system calls are looked at by strace, which needs the right to trace: ", err)
	}
	dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	path := filepath.Join(dir, "warptune.db")
	cmd := exec.Command(strace, "-f", "-y", "-qq", "-o", trace, "-e", "trace=rename,renameat,renameat2,fsync,fdatasync,write", os.Args[0], "-test.run=^TestBackupsAreSynced$")
	cmd.Env = append(os.Environ(), "WARPTUNE_BACK_UP="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct{ what, call, of string }{
		{"the backup is written", "write(", "\"whole\""},
		{"it is synced", "sync(", "<" + path + store.Partial + ">"},
		{"it gets its name", "rename", "\"" + path + ".19700101T000000Z" + backupSuffix + "\""},
		{"the name is synced", "fsync(", "<" + dir + ">"},
		{"it is said", "write(", "\"backed up"},
	}
	for line := range strings.Lines(string(text)) {
		if len(steps) > 0 && strings.Contains(line, steps[0].call) && strings.Contains(line, steps[0].of) {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 {
		t.Errorf("in the order of system calls it is not so that %s:\n%s", steps[0].what, text)
	}
}
