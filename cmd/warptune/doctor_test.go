package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// dataDirectory makes a directory with a sound database in it.
func dataDirectory(t *testing.T) (dir, database string) {
	t.Helper()
	dir = t.TempDir()
	database = filepath.Join(dir, "warptune.db")
	st, err := store.Open(database, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.PutBundle("abc", bytes.Repeat([]byte("content"), 1000), tuner.Act{}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, database
}

func doctor(t *testing.T, args ...string) (status int, out string) {
	t.Helper()
	var text bytes.Buffer
	status = run(t.Context(), append([]string{"doctor"}, args...), &text, &text)
	return status, text.String()
}

func TestDoctorChangesNoData(t *testing.T) {
	dir, database := dataDirectory(t)
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	if status, out := doctor(t, dir); status != exitDone || !strings.Contains(out, "1 kernel bundles") || !strings.Contains(out, "checksum") {
		t.Errorf("status %d:\n%s", status, out)
	}
	if after, _ := os.ReadFile(database); !bytes.Equal(before, after) {
		t.Error("the database has changed")
	}
}

// A database of an older schema is checked as it will be after the upgrade, which
// is left to the coordinator: an older program can go on with the file.
func TestDoctorDoesNotUpgrade(t *testing.T) {
	f, err := os.Open("../../tuner/store/testdata/v1.db.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer unzipped.Close()
	before, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	database := filepath.Join(dir, "warptune.db")
	if err := os.WriteFile(database, before, 0o600); err != nil {
		t.Fatal(err)
	}
	status, out := doctor(t, dir)
	if status != exitDone || !strings.Contains(out, "schema is version 1") || !strings.Contains(out, "every page, checksum and reference holds") {
		t.Errorf("status %d:\n%s", status, out)
	}
	if after, _ := os.ReadFile(database); !bytes.Equal(before, after) {
		t.Error("the database has changed")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.backup")); len(left) > 0 {
		t.Errorf("there is %v now", left)
	}
}

func TestDoctorFinds(t *testing.T) {
	wrong := map[string]func(t *testing.T, dir, database string) string{
		"cut short": func(t *testing.T, dir, database string) string {
			return errText(dir, os.Truncate(database, 8192))
		},
		"wrong checksum": func(t *testing.T, dir, database string) string {
			b, err := os.ReadFile(database)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(b, []byte("contentcontent"))
			b[at+3] ^= 1
			return errText(dir, os.WriteFile(database, b, 0o600))
		},
		"there is none": func(t *testing.T, dir, database string) string {
			return errText(dir, os.Remove(database))
		},
		"does not exist": func(t *testing.T, dir, _ string) string { return filepath.Join(dir, "none") },
		"other.db": func(t *testing.T, dir, _ string) string {
			return errText(dir, os.WriteFile(filepath.Join(dir, "other.db"), []byte("not a database"), 0o600))
		},
		"warptune.db.v1.backup, 0 B": func(t *testing.T, dir, database string) string {
			return errText(dir, os.WriteFile(database+".v1.backup", nil, 0o600))
		},
	}
	for says, damage := range wrong {
		dir, database := dataDirectory(t)
		if status, out := doctor(t, damage(t, dir, database)); status != exitFailed || !strings.Contains(out, says) {
			t.Errorf("want %q and status 1, got %d:\n%s", says, status, out)
		}
	}
	if status, _ := doctor(t); status != exitUsage {
		t.Errorf("without a directory the status is %d", status)
	}
}

// errText returns dir, or what no directory is called if err is set.
func errText(dir string, err error) string {
	if err != nil {
		return err.Error()
	}
	return dir
}

// A database in use is named with who uses it, and is nothing wrong.
func TestDoctorLeavesAUsedDatabaseAlone(t *testing.T) {
	dir, database := dataDirectory(t)
	st, err := store.Open(database, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if status, out := doctor(t, "--json", dir); status != exitDone || !strings.Contains(out, "in use") || !strings.Contains(out, `"severity": "note"`) {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// A backup is checked as the database is, and left as it is.
func TestDoctorChecksBackups(t *testing.T) {
	dir, database := dataDirectory(t)
	good, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	backup := database + ".20260102T030405Z.backup"
	if err := os.WriteFile(backup, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out := doctor(t, dir); status != exitDone || strings.Count(out, "every page, checksum and reference holds") != 2 {
		t.Errorf("status %d:\n%s", status, out)
	}
	bad := bytes.Clone(good)
	bad[bytes.Index(bad, []byte("contentcontent"))+3] ^= 1
	if err := os.WriteFile(backup, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out := doctor(t, dir); status != exitFailed || !strings.Contains(out, "backup") || !strings.Contains(out, "wrong checksum") {
		t.Errorf("of a damaged backup: status %d:\n%s", status, out)
	}
	if after, _ := os.ReadFile(backup); !bytes.Equal(after, bad) {
		t.Error("the backup has changed")
	}
	if entries, _ := filepath.Glob(backup + "?*"); len(entries) > 0 {
		t.Errorf("%v is left beside it", entries)
	}
}

// What is called like a database or a backup and is none is said to be, and
// neither waited for nor copied.
func TestDoctorMeetsOddFiles(t *testing.T) {
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	for name, c := range map[string]struct {
		make   func(path string) error
		file   string
		status int
		says   string
	}{
		"a pipe as the database":        {fifo, "warptune.db", exitFailed, "no regular file"},
		"a directory as the database":   {func(path string) error { return os.Mkdir(path, 0o700) }, "warptune.db", exitFailed, "no regular file"},
		"a device as the database":      {func(path string) error { return os.Symlink("/dev/zero", path) }, "warptune.db", exitFailed, "no regular file"},
		"a link to itself":              {func(path string) error { return os.Symlink(path, path) }, "warptune.db", exitFailed, "too many levels"},
		"a pipe as a backup":            {fifo, "x.backup", exitFailed, "no regular file"},
		"a device as a backup":          {func(path string) error { return os.Symlink("/dev/zero", path) }, "x.backup", exitFailed, "no regular file"},
		"a backup larger than the disk": {func(path string) error { return truncated(path, 1<<42) }, "x.backup", exitDone, "not checked"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, database := dataDirectory(t)
			if c.file == filepath.Base(database) {
				if err := os.Remove(database); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.make(filepath.Join(dir, c.file)); err != nil {
				t.Skip(err)
			}
			if status, out := doctor(t, dir); status != c.status || !strings.Contains(out, c.says) {
				t.Errorf("status %d, want %d with %q:\n%s", status, c.status, c.says, out)
			}
		})
	}
}

// truncated makes a file that is long and takes no room.
func truncated(path string, size int64) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}
