package store

import (
	"encoding/binary"
	"encoding/json"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

// The audit log: acts under ascending numbers, the oldest of which go when there
// are more than maxActs.

// maxActs is how many acts are kept: at some 300 bytes each, 30 MB.
const maxActs = 100_000

// mostDropped is how many of the oldest go in one transaction.
const mostDropped = 1000

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

// putActs appends acts.
func putActs(tx *bolt.Tx, acts []tuner.Act, most uint64) error {
	if len(acts) == 0 {
		return nil
	}
	bucket := tx.Bucket(auditBucket)
	bucket.FillPercent = appendFill
	last, _ := bucket.Cursor().Last()
	next := keyNumber(last)
	for i := range acts {
		next++
		text, err := json.Marshal(&acts[i])
		if err != nil {
			return err
		}
		key := number(next)
		if err := bucket.Put(key, seal(auditBucket, key, append([]byte{format}, text...))); err != nil {
			return err
		}
	}
	if err := count(bucket, int64(len(acts))); err != nil {
		return err
	}
	return dropActs(bucket, most)
}

// dropActs removes the oldest of those that are more than most.
func dropActs(bucket *bolt.Bucket, most uint64) error {
	excess := int(min(mostDropped, max(bucket.Sequence(), most)-most))
	var oldest [][]byte
	c := bucket.Cursor()
	for k, _ := c.First(); k != nil && len(oldest) < excess; k, _ = c.Next() {
		oldest = append(oldest, binary.BigEndian.AppendUint64(nil, keyNumber(k)))
	}
	for _, k := range oldest {
		if err := deleteCounted(bucket, k); err != nil {
			return err
		}
	}
	return nil
}

// upgraded is the act of bringing a schema up to date.
func upgraded(detail string) []tuner.Act {
	return []tuner.Act{{At: time.Now().UTC(), What: tuner.ActUpgrade, Detail: detail}}
}
