package store

import (
	"encoding/json"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// The audit log: acts under ascending numbers. When they are more, or larger, than it
// may hold, the oldest goes of whoever has most of it, so that nobody can have what
// others did go. Numbers are missing then.

// Bounds on the log: of how many acts, and of how many bytes in all. An act is some 300
// bytes, and 5 kB at most (tuner.Act bounds its texts).
const (
	maxActs     = 100_000
	maxActBytes = 64 << 20
)

// mostDropped is how many go in one transaction, or twice as many as come.
const mostDropped = 1000

// shareOf says whose share of the log an act is in: its caller's; else, since the
// coordinator did it, that of whose sweep it did it to. All workers have one, since
// they call themselves what they like. No caller's name has a control character.
func shareOf(a *tuner.Act) string {
	switch {
	case a.By != nil:
		return a.By.Name
	case a.Owner != "":
		return a.Owner
	case a.Worker != "":
		return "\x00workers"
	}
	return "\x00"
}

// actLog is what is known of the log from when something is first appended to it. It is
// forgotten when a write fails. It is used by one write at a time.
type actLog struct {
	most      int   // acts
	mostBytes int64 // of keys and sealed values
	acts      int
	bytes     int64
	shares    map[string]*share // nil: not read yet
}

// share is somebody's part of the log, oldest first.
type share struct {
	bytes int64
	held  []heldAct
}

type heldAct struct {
	num  uint64
	size int64
}

func (l *actLog) drop() { l.acts, l.bytes, l.shares = 0, 0, nil }

// read reads what is stored. A damaged act is the coordinator's.
func (l *actLog) read(bucket *bolt.Bucket) error {
	l.drop()
	l.shares = map[string]*share{}
	return bucket.ForEach(func(k, v []byte) error {
		a := tuner.Act{}
		if err := readJSON(auditBucket, k, v, &a); err != nil && tuner.KindOf(err) != tuner.Damaged {
			return err
		}
		l.add(shareOf(&a), keyNumber(k), len(k)+len(v))
		return nil
	})
}

func (l *actLog) add(whose string, num uint64, size int) {
	s := l.shares[whose]
	if s == nil {
		s = &share{}
		l.shares[whose] = s
	}
	s.held = append(s.held, heldAct{num, int64(size)})
	s.bytes += int64(size)
	l.acts++
	l.bytes += int64(size)
}

// largest is whose share has most bytes; of two that have as many, whose oldest act is
// the oldest. The newest act of all stays: the next number follows from it.
func (l *actLog) largest(newest uint64) (whose string) {
	var most *share
	for name, s := range l.shares {
		if s.held[0].num == newest {
			continue
		}
		if most == nil || s.bytes > most.bytes || s.bytes == most.bytes && s.held[0].num < most.held[0].num {
			whose, most = name, s
		}
	}
	return whose
}

// Acts is in Store.
func (b *Bolt) Acts(before uint64, limit int) (page []tuner.Act, lost []uint64, err error) {
	limit = min(limit, PageLimit)
	err = b.view("read the audit log", func(tx *bolt.Tx) error {
		c := tx.Bucket(auditBucket).Cursor()
		k, v := c.Last()
		if before > 0 {
			if k, _ = c.Seek(number(before)); k == nil {
				k, v = c.Last()
			}
			for k != nil && keyNumber(k) >= before {
				k, v = c.Prev()
			}
		}
		for ; k != nil && len(page)+len(lost) < limit; k, v = c.Prev() {
			a := tuner.Act{Num: keyNumber(k)}
			switch err := readJSON(auditBucket, k, v, &a); {
			case err == nil:
				page = append(page, a)
			case tuner.KindOf(err) != tuner.Damaged:
				return err
			default:
				lost = append(lost, a.Num)
			}
		}
		return nil
	})
	return page, lost, err
}

// put appends acts, and drops what is too much then.
func (l *actLog) put(tx *bolt.Tx, acts []tuner.Act) error {
	if len(acts) == 0 {
		return nil
	}
	bucket := tx.Bucket(auditBucket)
	bucket.FillPercent = appendFill
	if l.shares == nil {
		if err := l.read(bucket); err != nil {
			return err
		}
	}
	last, _ := bucket.Cursor().Last()
	next := keyNumber(last)
	for i := range acts {
		next++
		text, err := json.Marshal(&acts[i])
		if err != nil {
			return err
		}
		key := number(next)
		value := seal.Close(auditBucket, key, append([]byte{seal.Format}, text...))
		if err := bucket.Put(key, value); err != nil {
			return err
		}
		l.add(shareOf(&acts[i]), next, len(key)+len(value))
	}
	if err := count(bucket, int64(len(acts))); err != nil {
		return err
	}
	return l.bound(bucket, next, max(mostDropped, 2*len(acts)))
}

// bound removes up to limit acts that are too much.
func (l *actLog) bound(bucket *bolt.Bucket, newest uint64, limit int) error {
	for ; limit > 0 && l.acts > 1 && (l.acts > l.most || l.bytes > l.mostBytes); limit-- {
		whose := l.largest(newest)
		s := l.shares[whose]
		oldest := s.held[0]
		if err := deleteCounted(bucket, number(oldest.num)); err != nil {
			return err
		}
		l.acts--
		l.bytes -= oldest.size
		s.bytes -= oldest.size
		if s.held = s.held[1:]; len(s.held) == 0 {
			delete(l.shares, whose)
		}
	}
	return nil
}

// upgraded is the act of bringing a schema up to date.
func upgraded(detail string) []tuner.Act {
	return []tuner.Act{{At: time.Now().UTC(), What: tuner.ActUpgrade, Detail: detail}}
}
