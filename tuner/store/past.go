package store

import (
	"encoding/json"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// Begin is in Store.
func (b *Bolt) Begin(name string, did tuner.Act) (past []tuner.Incarnation, err error) {
	err = b.view("read past", func(tx *bolt.Tx) (err error) {
		var before []tuner.Incarnation
		if sealed := tx.Bucket(stateBucket).Get(pastKey); sealed != nil {
			if err := readJSON(stateBucket, pastKey, sealed, &before); err != nil {
				return err
			}
		}
		token, err := state(tx, tokenKey)
		past = ended(before, b.id, token)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.begun.Store(&begun{past, name, did})
	return past, nil
}

// begun is an incarnation that is to be stored with the next write: until then no
// worker is answered in its time, so that nobody need know of it.
type begun struct {
	past []tuner.Incarnation
	name string
	did  tuner.Act
}

// write makes changes that are durable when it returns, and with them, before them, what
// is to be stored of the incarnation.
func (b *Bolt) write(op string, f func(tx *bolt.Tx) error) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	begun := b.begun.Load()
	err := b.update(op, func(tx *bolt.Tx) error {
		if begun != nil {
			if err := b.putBegun(tx, begun); err != nil {
				return err
			}
		}
		return f(tx)
	})
	if err == nil {
		err = b.Present()
	}
	if err != nil {
		b.texts.drop() // they may have texts that are not stored
		b.index.drop()
		b.log.drop()
		return err
	}
	b.begun.CompareAndSwap(begun, nil)
	return nil
}

func (b *Bolt) putBegun(tx *bolt.Tx, i *begun) error {
	text, err := json.Marshal(append(slices.Clone(i.past), tuner.Incarnation{Name: i.name}))
	if err != nil {
		return err
	}
	if err := tx.Bucket(stateBucket).Put(pastKey, seal.Close(stateBucket, pastKey, append([]byte{seal.Format}, text...))); err != nil {
		return err
	}
	return b.log.put(tx, []tuner.Act{i.did})
}

// ended returns the incarnations of a store of an identity before one that
// begins, given what it has stored of them and the greatest token that it knows.
// Before there were any, programs called themselves by the store's identity.
func ended(stored []tuner.Incarnation, id string, token uint64) []tuner.Incarnation {
	if len(stored) == 0 {
		return []tuner.Incarnation{{Name: id, Token: token}}
	}
	past := slices.Clone(stored[max(0, len(stored)-tuner.MaxPast):])
	past[len(past)-1].Token = token
	return past
}
