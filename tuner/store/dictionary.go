package store

import (
	"encoding/binary"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner/store/seal"
)

// Bounds on what a dictionary takes; other texts stand in the rows.
const (
	maxTexts   = 4096
	maxTextLen = 1024
)

// dictionary is the texts that many results of one sweep share. It is a cache
// of the sweep's bucket in texts, and is dropped when a commit fails.
type dictionary struct {
	mu    sync.RWMutex
	byID  []string
	texts map[string]uint64
}

// dictionaries holds those in use. It is safe for concurrent use.
type dictionaries struct {
	mu  sync.Mutex
	all map[uint64]*dictionary
}

// of returns a sweep's dictionary, read from the store if need be.
func (d *dictionaries) of(tx *bolt.Tx, num uint64) (*dictionary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if dict := d.all[num]; dict != nil {
		return dict, nil
	}
	dict := &dictionary{texts: map[string]uint64{}}
	if err := dict.refresh(tx, num); err != nil {
		return nil, err
	}
	if d.all == nil || len(d.all) > 256 {
		d.all = map[uint64]*dictionary{}
	}
	d.all[num] = dict
	return dict, nil
}

// drop forgets them all, or that of one sweep.
func (d *dictionaries) drop(nums ...uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(nums) == 0 {
		d.all = nil
	}
	for _, num := range nums {
		delete(d.all, num)
	}
}

// refresh reads the texts that the store has and the dictionary does not.
func (d *dictionary) refresh(tx *bolt.Tx, num uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	bucket := tx.Bucket(textsBucket).Bucket(number(num))
	if bucket == nil {
		return nil
	}
	c := bucket.Cursor()
	for k, v := c.Seek(number(uint64(len(d.byID)))); k != nil; k, v = c.Next() {
		text, err := seal.Open(textsBucket, k, v)
		if err != nil {
			return err
		}
		if len(k) != 8 || binary.BigEndian.Uint64(k) != uint64(len(d.byID)) {
			return seal.Damaged("texts: number %d is missing", len(d.byID))
		}
		d.texts[string(text)] = uint64(len(d.byID))
		d.byID = append(d.byID, string(text))
	}
	return nil
}

// lookup returns the text of a number.
func (d *dictionary) lookup(id uint64) (string, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if id >= uint64(len(d.byID)) {
		return "", false
	}
	return d.byID[id], true
}

// intern returns the number of a text, storing it when it is new and there is
// room.
func (d *dictionary) intern(tx *bolt.Tx, num uint64, s string) (uint64, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.texts[s]; ok {
		return id, true, nil
	}
	if len(d.byID) >= maxTexts || len(s) > maxTextLen {
		return 0, false, nil
	}
	bucket, err := subBucket(tx.Bucket(textsBucket), number(num))
	if err != nil {
		return 0, false, err
	}
	id := uint64(len(d.byID))
	key := number(id)
	if err := putCounted(bucket, key, seal.Close(textsBucket, key, append([]byte{seal.Format}, s...))); err != nil {
		return 0, false, err
	}
	d.texts[s] = id
	d.byID = append(d.byID, s)
	return id, true, nil
}
