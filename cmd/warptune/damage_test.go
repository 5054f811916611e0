package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// spoil flips a bit in the values of some keys of a database's bucket.
func spoil(t *testing.T, db string, path []string, keys ...uint64) {
	t.Helper()
	d, err := bolt.Open(db, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(path[0]))
		for _, name := range path[1:] {
			b = b.Bucket([]byte(name))
		}
		for _, key := range keys {
			k := binary.BigEndian.AppendUint64(nil, key)
			v := slices.Clone(b.Get(k))
			v[len(v)/2] ^= 4
			if err := b.Put(k, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A sweep whose record or texts are damaged keeps no other from being listed, answered
// from or exported.
func TestDamagedSweepsAreLeftOut(t *testing.T) {
	for _, at := range [][]string{{"sweeps"}, {"texts", string(binary.BigEndian.AppendUint64(nil, 1))}} {
		db := tuned(t)
		warptune(t, append([]string{"tune", "transpose_tiled", "--db", db}, quick...)...)
		whole := warptune(t, "sweep", "list", "--db", db).ok(t)
		if n := strings.Count(whole.stdout, "\n"); n != 3 {
			t.Fatalf("the list is %q", whole.stdout)
		}
		if len(at) == 1 {
			spoil(t, db, at, 1)
		} else {
			spoil(t, db, at, 0)
		}
		for _, args := range [][]string{{"export", "--all", "--format", "csv"}, {"sweep", "list"}, {"best", "transpose_tiled", "--arch", "h200"}} {
			r := warptune(t, append(args, "--db", db)...)
			if record := len(at) == 1; r.code != exitIncomplete && (record || args[0] == "export") || !strings.Contains(r.stdout, "transpose_tiled") || strings.Contains(r.stdout, "copy") && (record || args[0] == "export") {
				t.Errorf("%s damaged: %s: exit status %d, %s%s", at[0], args, r.code, r.stdout, r.stderr)
			}
		}
		if len(at) == 1 {
			if r := warptune(t, append([]string{"tune", "copy", "--db", db, "--seed", "5"}, quick...)...); r.code != exitFailed || !strings.Contains(r.stderr, "records of sweeps number 1 are damaged") {
				t.Errorf("something new is taken: exit status %d, %s", r.code, r.stderr)
			}
		}
	}
}

// Damaged rows keep nothing else from being exported: what is left out is named, and
// the exit status says that it is not all.
func TestDamagedRowsAreLeftOut(t *testing.T) {
	db := tuned(t)
	one := string(binary.BigEndian.AppendUint64(nil, 1))
	all := warptune(t, "export", "--db", db, "--all", "--format", "csv").ok(t).stdout
	if n := strings.Count(all, "\n"); n != 25 {
		t.Fatalf("%d lines are exported of a sound database", n)
	}
	spoil(t, db, []string{"results", one}, 7, 11)
	for _, format := range []string{"csv", "json", "markdown", "c-header", "t4", "kernel-tuner"} {
		r := warptune(t, "export", "--db", db, "--all", "--format", format)
		if r.code != exitIncomplete || !strings.Contains(r.stderr, "2 rows of sweep") || !strings.Contains(r.stderr, "trials 7, 11") {
			t.Errorf("--format %s: exit status %d, %s", format, r.code, r.stderr)
		}
		if format != "csv" {
			continue
		}
		left := strings.SplitAfter(r.stdout, "\n")
		for line := range strings.Lines(r.stdout) {
			if !strings.Contains(all, line) {
				t.Errorf("%q was not exported before", line)
			}
		}
		if len(left) != 24 {
			t.Errorf("%d of 22 rows and a header are exported", len(left)-1)
		}
	}
	if r := warptune(t, "export", "--db", db); r.code != exitIncomplete || r.stdout == "" || !strings.Contains(r.stderr, "trials 7, 11") {
		t.Errorf("of the best: exit status %d, %s", r.code, r.stderr)
	}
	again := warptune(t, append([]string{"tune", "copy", "--db", db, "--plot"}, quick...)...)
	if again.code != exitIncomplete || !strings.Contains(again.stdout, "best:") || !strings.Contains(again.stderr, "trials 7, 11") {
		t.Errorf("tune: exit status %d, %s", again.code, fmt.Sprint(again.stdout, again.stderr))
	}
}

// Damaged acts keep no others from being shown, and are named.
func TestDamagedActsAreLeftOut(t *testing.T) {
	db := tuned(t)
	whole := warptune(t, "sweep", "audit", "--db", db).ok(t)
	if n := strings.Count(whole.stdout, "\n"); n != 5 || !strings.Contains(whole.stdout, "submit") { // start, put bundle, submit, complete
		t.Fatalf("the log is\n%s", whole.stdout)
	}
	if last := warptune(t, "sweep", "audit", "--db", db, "--last", "1").ok(t).stdout; !strings.Contains(last, "complete") || strings.Count(last, "\n") != 2 {
		t.Errorf("the last act is\n%s", last)
	}
	spoil(t, db, []string{"audit"}, 2)
	r := warptune(t, "sweep", "audit", "--db", db)
	if r.code != exitIncomplete || strings.Count(r.stdout, "\n") != 4 || strings.Contains(r.stdout, "put bundle") || !strings.Contains(r.stderr, "left out, number 2;") {
		t.Errorf("exit status %d, %s%s", r.code, r.stdout, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		if strings.Contains(line, "T") && !strings.Contains(strings.Join(strings.Fields(whole.stdout), " "), strings.Join(strings.Fields(line), " ")) {
			t.Errorf("%q was not there before", line)
		}
	}
	for _, args := range [][]string{{"--last", "-1"}, {"a", "b"}} {
		if r := warptune(t, append([]string{"sweep", "audit", "--db", db}, args...)...); r.code != exitUsage {
			t.Errorf("%q: exit status %d, %s", args, r.code, r.stderr)
		}
	}
}
