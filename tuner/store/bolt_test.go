package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
	"github.com/warptune/warptune/tuner/tunertest"
)

func TestSecondOpenerIsToldWhoHoldsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	defer b.Close()
	synctest.Test(t, func(t *testing.T) {
		const wait = 100 * time.Millisecond
		started := time.Now()
		_, err := Open(path, OpenOptions{AnyFileSystem: true, Wait: wait})
		if tuner.KindOf(err) != tuner.Locked || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("second opener: %v", err)
		}
		if took := time.Since(started); took < wait || took > 2*wait {
			t.Errorf("it was told after %v", took)
		}
	})
}

// A file has one lock, whatever it is called by, and a link to nothing is not
// replaced by a new file.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, hard, broken := filepath.Join(dir, "sweeps.db"), filepath.Join(dir, "link.db"), filepath.Join(dir, "hard.db"), filepath.Join(dir, "broken.db")
	b := mustOpen(t, path)
	must(t, os.Symlink("sweeps.db", link))
	must(t, os.Link(path, hard))
	must(t, os.Symlink(filepath.Join(dir, "absent", "sweeps.db"), broken))
	for name, want := range map[string]struct {
		kind tuner.ErrorKind
		says string
	}{
		link:   {tuner.Locked, fmt.Sprintf("process %d", os.Getpid())},
		hard:   {tuner.Locked, hard},
		broken: {tuner.NotFound, filepath.Join(dir, "absent", "sweeps.db")},
	} {
		_, err := Open(name, OpenOptions{AnyFileSystem: true, Wait: time.Millisecond})
		if tuner.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Readlink(broken); err != nil {
		t.Errorf("the link was replaced: %v", err)
	}
	must(t, b.Close())
	must(t, mustOpen(t, link).Close())
}

// unopenable files are refused with a reason, and not touched.
func TestUnopenableFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	db, err := bolt.Open(other, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err }))
	must(t, db.Close())
	foreign, err := os.ReadFile(other)
	must(t, err)
	newer := filepath.Join(dir, "newer.db")
	b := mustOpen(t, newer)
	must(t, b.db.Update(func(tx *bolt.Tx) error { return putSchema(tx.Bucket(schemaBucket), b.id, "99") }))
	must(t, b.Close())
	fromFuture, err := os.ReadFile(newer)
	must(t, err)

	for name, c := range map[string]struct {
		content []byte
		kind    tuner.ErrorKind
		says    string
	}{
		"empty":   {nil, tuner.Damaged, "empty"},
		"jpeg":    {append([]byte("\xff\xd8\xff\xe0"), make([]byte, 9000)...), tuner.Damaged, "no bbolt file"},
		"foreign": {foreign, tuner.Damaged, "no store of warptune"},
		"newer":   {fromFuture, tuner.Conflict, "version 99"},
		"short":   {fromFuture[:3*4096], tuner.Damaged, "cut short"},
	} {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, c.content, 0o600))
		before := sha256.Sum256(c.content)
		_, err := Open(path, OpenOptions{AnyFileSystem: true})
		if tuner.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.kind, c.says)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if sha256.Sum256(after) != before {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if _, err := Open(dir, OpenOptions{AnyFileSystem: true}); err == nil {
		t.Error("a directory was opened")
	}
	pipe := filepath.Join(dir, "pipe.db")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := Open(pipe, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Invalid {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "absent.db"), OpenOptions{AnyFileSystem: true, Existing: true}); tuner.KindOf(err) != tuner.NotFound {
		t.Errorf("an absent file that must exist: %v", err)
	}
}

// filled returns the bytes of a store with some of everything.
func filled(t *testing.T, results int64) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	fill(t, b, results)
	var used int64
	must(t, b.db.View(func(tx *bolt.Tx) error {
		used = tx.Size()
		return nil
	}))
	must(t, b.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	return content[:used] // the rest is room to grow
}

func fill(t *testing.T, s Store, results int64) {
	t.Helper()
	bundle, digest := tunertest.Bundle{Size: results}.Content()
	putBundle(t, s, digest, bundle)
	for from := int64(0); from < results; from += 100 {
		c := tuner.Changes{Sweeps: []tuner.Sweep{testSweep(1), testSweep(2)}, Token: uint64(from), Bests: []tuner.Best{testBest(1, 5, nil)}}
		c.Acts = []tuner.Act{testAct(from), testAct(from + 1)}
		for i := from; i < min(from+100, results); i++ {
			c.Results = append(c.Results, testResult(1, i))
			c.Leases = append(c.Leases, tuner.LeaseRecord{Sweep: 2, Seq: i, Token: uint64(i), Holder: "a/1", Held: true})
		}
		must(t, s.Commit(&c))
	}
}

// dump returns everything in a store as text, or the first error.
func dump(s Store) (text string, err error) {
	var out strings.Builder
	add := func(v any, e error) {
		fmt.Fprintf(&out, "%+v\n", v)
		if err == nil {
			err = e
		}
	}
	token, last, e := s.Numbers()
	add([]uint64{token, last}, e)
	sweeps, e := s.Sweeps()
	add(sweeps, e)
	leases, e := s.Leases(2)
	add(leases, e)
	for seq := int64(0); err == nil; {
		page, e := s.Results(1, seq, PageLimit)
		add(page, e)
		if len(page) == 0 {
			break
		}
		seq = page[len(page)-1].Seq + 1
	}
	bests, lost, e := s.Bests("kernel", tunertest.Arch)
	if lost > 0 && e == nil {
		e = seal.Damaged("%d bests", lost)
	}
	add(bests, e)
	for i := int64(0); err == nil && i < 300; i += 7 {
		want := testResult(1, i)
		a, found, e := s.Answer(want.Answer)
		add(!found || reflect.DeepEqual(a.Result, want.Result), e) // one not found is evaluated anew
	}
	_, digest := tunertest.Bundle{Size: 300}.Content()
	content, e := s.Bundle(digest)
	add(content, e)
	acts, wrong, e := s.Acts(0, PageLimit)
	if len(wrong) > 0 && e == nil {
		e = seal.Damaged("%d acts", len(wrong))
	}
	text, _ = actsText(acts)
	add(text, e)
	return out.String(), err
}

// A file with any one thing wrong either reads as it should or is refused as
// damaged: never a wrong answer, never a crash.
func TestDamageIsNeverSilent(t *testing.T) {
	content := filled(t, 300)
	dir := t.TempDir()
	read := func(mutated []byte) (string, error) {
		path := filepath.Join(dir, "sweeps.db")
		must(t, os.WriteFile(path, mutated, 0o600))
		b, err := Open(path, OpenOptions{AnyFileSystem: true})
		if err != nil {
			return "", err
		}
		defer b.Close()
		return dump(b)
	}
	want, err := read(content)
	must(t, err)

	rng := tunertest.Rand(t)
	pages := len(content) / 4096
	counts := map[string]int{}
	for i := range tunertest.Times(400, 20000) {
		mutated := bytes.Clone(content)
		var what string
		switch i % 4 {
		case 0, 1:
			at := rng.IntN(len(content))
			mutated[at] ^= 1 << rng.IntN(8)
			what = fmt.Sprintf("bit flip at %d", at)
		case 2:
			page := rng.IntN(pages)
			clear(mutated[page*4096 : (page+1)*4096])
			what = fmt.Sprintf("page %d zeroed", page)
		case 3:
			if a, b := rng.IntN(pages), rng.IntN(pages); i%8 == 3 {
				copy(mutated[a*4096:(a+1)*4096], content[b*4096:(b+1)*4096])
				what = fmt.Sprintf("page %d copied over %d", b, a)
			} else {
				mutated = mutated[:rng.IntN(len(content))]
				what = fmt.Sprintf("cut to %d bytes", len(mutated))
			}
		}
		got, err := read(mutated)
		switch {
		case err == nil && got == want:
			counts["harmless"]++
		case err == nil:
			t.Errorf("%s: a silent wrong answer", what)
		case tuner.KindOf(err) == tuner.Damaged:
			counts["refused"]++
		default:
			t.Errorf("%s: %v has kind %v", what, err, tuner.KindOf(err))
		}
	}
	t.Log(counts)
	if counts["refused"] < 50 {
		t.Errorf("only %d damages were found: does the test damage anything?", counts["refused"])
	}
}

// A bucket whose name is damaged is named as missing.
func TestMissingBucketIsNamed(t *testing.T) {
	for _, name := range allBuckets[1:] {
		path := filepath.Join(t.TempDir(), "sweeps.db")
		must(t, os.WriteFile(path, filled(t, 10), 0o600))
		db, err := bolt.Open(path, 0o600, boltOptions(OpenOptions{}))
		must(t, err)
		must(t, db.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket(name) }))
		must(t, db.Close())
		if _, err := Open(path, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Damaged || !strings.Contains(err.Error(), "bucket "+string(name)+" is missing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that bbolt has left open and mapped can be opened again.
func TestAbandonedFileIsNotLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	must(t, os.WriteFile(path, filled(t, 10), 0o600))
	var file *os.File
	left := Bolt{path: path}
	must(t, left.open(OpenOptions{}, &file))
	abandon(file)
	b, err := Open(path, OpenOptions{AnyFileSystem: true, Wait: time.Millisecond})
	must(t, err)
	must(t, b.Close())
}

func TestUpgradeBacksUpFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	fill(t, b, 300)
	before, err := dump(b)
	must(t, err)
	step := func(_ *Bolt, tx *bolt.Tx) error { return raise(tx, []byte("upgraded"), 1) }
	failing := func(*Bolt, *bolt.Tx) error { return fmt.Errorf("this step fails") }
	backedUp := fmt.Sprintf("%s.v%d.backup", path, len(migrations)+1)
	further := func(steps ...migration) []migration { return append(slices.Clone(migrations), steps...) }
	if err := b.upgrade(further(failing), false); err == nil || !strings.Contains(err.Error(), "this step fails") {
		t.Errorf("a failing step: %v", err)
	}
	must(t, b.upgrade(further(step, step), false)) // the backup of before is in nobody's way
	if err := b.upgrade(nil, false); tuner.KindOf(err) != tuner.Conflict {
		t.Errorf("downgrade: %v", err)
	}
	must(t, b.Close())
	for _, name := range []string{backedUp, strings.TrimSuffix(backedUp, "backup") + "2.backup"} {
		backup := mustOpen(t, name)
		if after, err := dump(backup); err != nil || after != before {
			t.Errorf("the backup %s differs (%v)", name, err)
		}
		must(t, backup.Close())
	}
	if left, err := filepath.Glob(path + Partial); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestFullDiskIsAnErrorAndNothingIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b, err := Open(path, OpenOptions{AnyFileSystem: true, MaxSize: 1 << 20})
	must(t, err)
	withSweeps(t, b)
	var stored []tuner.Result
	var full error
	for seq := int64(0); full == nil && seq < 1e5; seq += 50 {
		var c tuner.Changes
		for i := range int64(50) {
			c.Results = append(c.Results, testResult(1, seq+i))
		}
		if full = b.Commit(&c); full == nil {
			for _, r := range c.Results {
				stored = append(stored, r.Result)
			}
		}
	}
	if tuner.KindOf(full) != tuner.DiskFull {
		t.Fatalf("a full disk gives %v", full)
	}
	must(t, b.Close())
	b = mustOpen(t, path)
	defer b.Close()
	var got []tuner.Result
	for seq := int64(0); ; seq = got[len(got)-1].Seq + 1 {
		page, err := b.Results(1, seq, PageLimit)
		must(t, err)
		if got = append(got, page...); len(page) == 0 {
			break
		}
	}
	if !reflect.DeepEqual(got, stored) {
		t.Errorf("%d results stored, %d read", len(stored), len(got))
	}
	must(t, b.Commit(&tuner.Changes{Results: []tuner.ResultChange{testResult(1, 1e6)}}))
}

// A row is read as it was written, whatever is in it.
func TestRowRoundTrip(t *testing.T) {
	outcomes := []tuner.Outcome{
		{},
		{Validity: tuner.Correct, TimeUS: 0.1, Occupancy: 0.3, CarveOut: -1, Digest: "short", Metrics: map[string]float64{"a": -3, "b": 0.1, "c": 1e300, "d": 1 << 60, "": 0}},
		{Validity: tuner.Compile, Message: strings.Repeat("é", 2000), Digest: strings.Repeat("0", 64), Compiler: "x", Limiter: "x", Bound: "x"},
		tunertest.Oracle(77),
	}
	dict := map[string]uint64{}
	var texts []string
	intern := func(s string) (uint64, bool) {
		if len(s) > 100 {
			return 0, false
		}
		id, ok := dict[s]
		if !ok {
			id = uint64(len(texts))
			dict[s], texts = id, append(texts, s)
		}
		return id, true
	}
	lookup := func(id uint64) (string, bool) {
		if id >= uint64(len(texts)) {
			return "", false
		}
		return texts[id], true
	}
	for _, o := range outcomes {
		want := tuner.Result{Seq: 5, Index: 1 << 40, Attempts: 3, Reused: true, Abandoned: o.Validity == 0, Outcome: o}
		row := appendRow(nil, &want, intern)
		got, ok := readRow(row, 5, lookup)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v (%v), wrote %+v", got, ok, want)
		}
		for n := range row {
			if _, ok := readRow(row[:n], 5, lookup); ok {
				t.Errorf("the first %d of %d bytes read as a row", n, len(row))
			}
		}
	}
}

// A row that has what was checked, of no CTA, is damage: FuzzRow found that it was read, and written without.
func TestRowCheckedOfNothing(t *testing.T) {
	r := tuner.Result{Outcome: tunertest.Oracle(3)}
	r.Outcome.Checked = tuner.Checked{CTAs: 1, Full: 1, Of: 48, Compared: 2}
	row := appendRow(nil, &r, nil)
	checked := []byte{1, 1, 48, 2}
	at := bytes.Index(row, checked)
	if got, ok := readRow(row, 0, nil); !ok || got.Outcome.Checked.Of != 48 || at < 0 || bytes.Count(row, checked) != 1 {
		t.Fatalf("%v: %+v of %x", ok, got, row)
	}
	row[at+2] = 0
	if got, ok := readRow(row, 0, nil); ok {
		t.Errorf("of no CTA is read as %+v", got)
	}
}

func FuzzRow(f *testing.F) {
	r := tuner.Result{Outcome: tunertest.Oracle(3)}
	f.Add(appendRow(nil, &r, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, ok := readRow(b, 1, func(id uint64) (string, bool) { return fmt.Sprint(id), id < 4 })
		if !ok {
			return
		}
		again, ok := readRow(appendRow(nil, &r, nil), 1, nil)
		if a, b := fmt.Sprint(again), fmt.Sprint(r); !ok || a != b {
			t.Errorf("%s is written and read as %s", b, a)
		}
	})
}

// A value that verifies, but under another key or in another bucket, is found.
func TestMisplacedValuesAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	defer b.Close()
	fill(t, b, 300)
	must(t, b.db.Update(func(tx *bolt.Tx) error {
		results := tx.Bucket(resultsBucket).Bucket(number(1))
		return results.Put(number(7), bytes.Clone(results.Get(number(8))))
	}))
	if _, err := b.Results(1, 7, 1); tuner.KindOf(err) != tuner.Damaged {
		t.Errorf("a row under another trial's key: %v", err)
	}
	if _, err := b.Results(1, 8, 1); err != nil {
		t.Errorf("the row in its place: %v", err)
	}
	key := number(1)
	if _, err := seal.Open(leasesBucket, key, seal.Close(resultsBucket, key, []byte{seal.Format, 1})); tuner.KindOf(err) != tuner.Damaged {
		t.Errorf("a value from another bucket: %v", err)
	}
}

// What a commit that fails has put into memory is not believed: not its texts,
// which later rows would name, nor what it found the results by.
func TestFailedCommitsLeaveNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	withSweeps(t, b)
	var failing, later tuner.Changes
	for i := range int64(100) {
		r := testResult(1, i)
		r.Result.Outcome.Limiter, r.Result.Outcome.Bound = fmt.Sprint("limiter ", i%7), "a bound"
		later.Results = append(later.Results, r)
		never := testResult(1, 1e6+i)
		never.Result.Outcome.Limiter = fmt.Sprint("limiter ", i%7)
		failing.Results = append(failing.Results, never)
	}
	best := testBest(1, 5, nil)
	best.Spec.Kernel = strings.Repeat("k", 1<<16) // no key may be as long
	failing.Bests = []tuner.Best{best}
	if err := b.Commit(&failing); err == nil {
		t.Fatal("a key of 64 KiB is stored")
	}
	must(t, b.Commit(&later))
	for from := int64(100); from < 100+flushEntries; from += 512 { // makes a run of the index
		var c tuner.Changes
		for i := range int64(512) {
			c.Results = append(c.Results, testResult(1, from+i))
		}
		must(t, b.Commit(&c))
	}
	must(t, b.Close())
	b = mustOpen(t, path)
	rows, err := b.Results(1, 0, 100)
	must(t, err)
	for i, r := range rows {
		if want := later.Results[i].Result; !reflect.DeepEqual(r, want) {
			t.Fatalf("row %d is %+v, want %+v", i, r, want)
		}
	}
	must(t, b.Close())
	if f, err := Check(path); err != nil || len(f.Problems) > 0 {
		t.Errorf("%+v (%v)", f, err)
	}
}
