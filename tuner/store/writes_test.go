package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// content returns everything that a store holds, a line an entry.
func content(t *testing.T, b *Bolt) string {
	t.Helper()
	var text bytes.Buffer
	var walk func(bucket *bolt.Bucket, path string) error
	walk = func(bucket *bolt.Bucket, path string) error {
		fmt.Fprintf(&text, "%s %d\n", path, bucket.Sequence())
		return bucket.ForEach(func(k, v []byte) error {
			if v == nil {
				return walk(bucket.Bucket(k), fmt.Sprintf("%s/%x", path, k))
			}
			fmt.Fprintf(&text, "%s/%x=%x\n", path, k, v)
			return nil
		})
	}
	must(t, b.db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bolt.Bucket) error { return walk(bucket, string(name)) })
	}))
	return text.String()
}

// drawn is what tests make one write after another of.
type drawn struct {
	*rand.Rand
	next  map[uint64]int64
	token uint64
}

// changes draws some.
func (d *drawn) changes() *tuner.Changes {
	c := &tuner.Changes{}
	for range d.IntN(40) {
		num := uint64(1 + d.IntN(2))
		d.token++
		lease := tuner.LeaseRecord{Sweep: num, Seq: d.next[num] + d.Int64N(20), Index: d.Int64N(100), Token: d.token, Attempt: d.IntN(3), Holder: "w/1", Held: d.IntN(2) == 0, Reason: "because", Losses: d.IntN(2)}
		c.Leases = append(c.Leases, lease)
	}
	for range d.IntN(40) {
		num := uint64(1 + d.IntN(2))
		r := testResult(num, d.next[num])
		r.Result.Outcome.Message = fmt.Sprint("message ", d.IntN(3))
		if d.IntN(5) == 0 {
			r.Answer = nil
		}
		c.Results = append(c.Results, r)
		d.next[num]++
	}
	if d.IntN(3) == 0 {
		s := testSweep(uint64(1 + d.IntN(2)))
		s.Counts.Done = d.Int64N(9)
		c.Sweeps = append(c.Sweeps, s)
		best := tuner.Best{Spec: s.Spec, Sweep: s.Num, Result: testResult(s.Num, 0).Result, Names: s.Names}
		c.Bests = append(c.Bests, best)
		c.Acts = append(c.Acts, tuner.Act{What: tuner.ActPause, Sweep: s.ID, By: &tuner.Caller{Name: "ann"}})
	}
	if d.IntN(20) == 0 {
		c.Revoked = append(c.Revoked, 1)
	}
	c.Token = d.token
	return c
}

// A copy that is given every write has, byte for byte, the same content.
func TestWritesMakeTheSameContent(t *testing.T) {
	r := tunertest.Rand(t)
	dir := t.TempDir()
	from := mustOpen(t, filepath.Join(dir, "from.db"))
	defer from.Close()
	withSweeps(t, from)
	copied, err := os.Create(filepath.Join(dir, "to.db"))
	must(t, err)
	must(t, from.Backup(copied))
	must(t, copied.Close())
	to := mustOpen(t, copied.Name())
	defer func() { to.Close() }()

	d := &drawn{r, map[uint64]int64{}, 0}
	begun := "incarnation"
	started := tuner.Act{What: tuner.ActStart, Detail: "the first"}
	_, err = from.Begin(begun, started)
	must(t, err)
	for i := range tunertest.Times(300, 3000) {
		var write []byte
		var err error
		switch n := r.IntN(30); {
		case n == 0:
			bundle, digest := tunertest.Bundle{Size: r.Int64N(5)}.Content()
			did := tuner.Act{What: tuner.ActPutBundle, Detail: digest}
			_, err = from.PutBundle(digest, bundle, did)
			must(t, err)
			write, err = BundleWrite(digest, bundle, did)
		case n == 1:
			named := map[string]bool{testSweep(1).Spec.Bundle: true}
			must(t, from.DropBundles(named))
			write, err = DropWrite(named)
		case n == 2 && d.next[2] > 50:
			more, err := from.Remove(2, 20)
			must(t, err)
			write = RemovalWrite(2, 20)
			if d.next[2] = 0; !more {
				must(t, to.Apply(write))
				write, err = CommitWrite(&tuner.Changes{Sweeps: []tuner.Sweep{testSweep(2)}})
				must(t, err)
				must(t, from.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{testSweep(2)}}))
			}
		default:
			c := d.changes()
			write, err = CommitWrite(c)
			must(t, from.Commit(c))
		}
		must(t, err)
		if begun != "" && write[0] <= writeBundle {
			write, err = BegunWrite(begun, started, write)
			must(t, err)
			begun = ""
		}
		must(t, to.Apply(write))
		if i%100 == 50 {
			must(t, to.Close())
			to = mustOpen(t, to.Path())
		}
	}
	if a, b := content(t, from), content(t, to); a != b {
		t.Errorf("the copy differs: %d bytes of text, want %d", len(b), len(a))
	}
}

// What is no write is an error, and changes nothing.
func TestWritesThatDoNotParse(t *testing.T) {
	b := mustOpen(t, filepath.Join(t.TempDir(), "a.db"))
	defer b.Close()
	withSweeps(t, b)
	d := &drawn{tunertest.Rand(t), map[uint64]int64{}, 0}
	write, err := CommitWrite(d.changes())
	must(t, err)
	before := content(t, b)
	for n := range len(write) {
		if n > 0 && n < len(write)-40 && d.IntN(10) > 0 {
			continue
		}
		if err := b.Apply(write[:n]); tuner.KindOf(err) != tuner.Invalid || content(t, b) != before {
			t.Fatalf("the first %d of %d bytes: %v", n, len(write), err)
		}
	}
	for _, bad := range []string{"", "\x00", "\x09abc", "\x01\x02{}", "\x01\x0e{\"unknown\": 1}\x00", "\x02\xff", "\x03\x01", "\x04{", "\x05\x01a", "\x05\x01a\x02{}\x05\x01a\x02{}\x03\x01\x01", "\x06a"} {
		if err := b.Apply([]byte(bad)); tuner.KindOf(err) != tuner.Invalid {
			t.Errorf("%q: %v, want invalid", bad, err)
		}
	}
}

// Whatever bytes come, they are a commit or an error.
func FuzzReadCommit(f *testing.F) {
	d := &drawn{rand.New(rand.NewPCG(1, 2)), map[uint64]int64{}, 0}
	for range 3 {
		write, err := CommitWrite(d.changes())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(write[1:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readCommit(b)
		if err != nil {
			return
		}
		again, err := CommitWrite(c)
		must(t, err)
		if _, err := readCommit(again[1:]); err != nil {
			t.Errorf("what was read is not read again: %v", err)
		}
	})
}
