package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"github.com/warptune/warptune/tuner"
)

// A write of a Store can be made into bytes, and applied to a copy of the store by
// Bolt.Apply. What a write does depends on the store alone, so a copy that has all
// writes in their order has the same content. Both sides are of one schema.
//
// The bytes are the kind and what the write holds. Of a bundle that is its digest (text), act (JSON) and content;
// of a removal, the sweep and the limit (varints); of bundles to drop, JSON. Of a look through the index it is
// nothing. Of a write with which an incarnation begins it is its name (text), act (JSON) and the write. Of a commit
// it is:
//
//	length, changes          of a commitHead as JSON: all but leases and results
//	length, leases           each its sweep, trial and row (row.go)
//	results                  each its sweep, trial, answer key, length and row, whose
//	                         texts stand in commitHead
const (
	writeCommit byte = iota + 1
	writeBundle
	writeRemoval
	writeDrop
	writeBegun
	writeCompaction
)

// commitHead is what of a commit is written as JSON.
type commitHead struct {
	Revoked []uint64      `json:"revoked,omitempty"`
	Sweeps  []tuner.Sweep `json:"sweeps,omitempty"`
	Void    []uint64      `json:"void,omitempty"`
	Bests   []tuner.Best  `json:"bests,omitempty"`
	Acts    []tuner.Act   `json:"acts,omitempty"`
	Token   uint64        `json:"token,omitempty"`
	Texts   []string      `json:"texts,omitempty"`
	// Leases and Results are how many follow.
	Leases  int `json:"leases,omitempty"`
	Results int `json:"results,omitempty"`
}

// BegunWrite returns a write as bytes with which an incarnation begins (Begin).
func BegunWrite(name string, did tuner.Act, write []byte) ([]byte, error) {
	act, err := json.Marshal(&did)
	b := append(make([]byte, 0, len(name)+len(act)+len(write)+32), writeBegun)
	return append(appendBytes(appendBytes(b, []byte(name)), act), write...), err
}

// CommitWrite returns a Commit as bytes.
func CommitWrite(c *tuner.Changes) ([]byte, error) {
	head := commitHead{Revoked: c.Revoked, Sweeps: c.Sweeps, Void: c.Void, Bests: c.Bests, Acts: c.Acts, Token: c.Token, Leases: len(c.Leases), Results: len(c.Results)}
	numbers := map[string]uint64{}
	intern := func(s string) (uint64, bool) {
		id, known := numbers[s]
		if !known {
			id = uint64(len(head.Texts))
			numbers[s] = id
			head.Texts = append(head.Texts, s)
		}
		return id, true
	}
	var leases, row []byte
	for i := range c.Leases {
		l := &c.Leases[i]
		row = appendLease(row[:0], l)
		leases = binary.AppendUvarint(binary.AppendUvarint(leases, l.Sweep), uint64(l.Seq))
		leases = appendBytes(leases, row)
	}
	results := make([]byte, 0, len(c.Results)*usualRow)
	for i := range c.Results {
		r := &c.Results[i]
		row = appendRow(row[:0], &r.Result, intern)
		results = binary.AppendUvarint(binary.AppendUvarint(results, r.Sweep), uint64(r.Result.Seq))
		results = appendBytes(results, r.Answer)
		results = appendBytes(results, row)
	}
	text, err := json.Marshal(&head)
	if err != nil {
		return nil, tuner.Errorf(tuner.Internal, "write changes for a copy", "%w", err)
	}
	b := append(make([]byte, 0, len(text)+len(leases)+len(results)+32), writeCommit)
	return append(appendBytes(appendBytes(b, text), leases), results...), nil
}

// BundleWrite returns a PutBundle as bytes.
func BundleWrite(digest string, content []byte, did tuner.Act) ([]byte, error) {
	act, err := json.Marshal(&did)
	b := append(make([]byte, 0, len(digest)+len(act)+len(content)+32), writeBundle)
	return append(appendBytes(appendBytes(b, []byte(digest)), act), content...), err
}

// CompactionWrite returns a Compact as bytes. Which part it looks through each store
// knows itself; what it removes nobody finds.
func CompactionWrite() []byte { return []byte{writeCompaction} }

// RemovalWrite returns a Remove as bytes.
func RemovalWrite(sweep uint64, limit int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint([]byte{writeRemoval}, sweep), uint64(limit))
}

// DropWrite returns a DropBundles as bytes.
func DropWrite(named map[string]bool) ([]byte, error) {
	text, err := json.Marshal(named)
	return append([]byte{writeDrop}, text...), err
}

func appendBytes(b, what []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(what))), what...)
}

// Apply does a write that another store did. It is durable when it returns.
func (b *Bolt) Apply(write []byte) error {
	if len(write) == 0 {
		return badWrite()
	}
	r := rowReader{b: write[1:]}
	switch write[0] {
	case writeCommit:
		c, err := readCommit(write[1:])
		if err != nil {
			return err
		}
		return b.Commit(c)
	case writeBegun:
		name, did := string(r.take(r.uvarint())), tuner.Act{}
		if json.Unmarshal(r.take(r.uvarint()), &did) != nil || r.bad || len(r.b) == 0 || r.b[0] == writeBegun {
			return badWrite()
		}
		if _, err := b.Begin(name, did); err != nil {
			return err
		}
		return b.Apply(r.b)
	case writeBundle:
		digest, did := string(r.take(r.uvarint())), tuner.Act{}
		if json.Unmarshal(r.take(r.uvarint()), &did) != nil || r.bad {
			return badWrite()
		}
		_, err := b.PutBundle(digest, r.b, did)
		return err
	case writeCompaction:
		if len(r.b) > 0 {
			return badWrite()
		}
		_, err := b.Compact()
		return err
	case writeRemoval:
		sweep, limit := r.uvarint(), int(r.uvarint())
		if r.bad || len(r.b) > 0 {
			return badWrite()
		}
		_, err := b.Remove(sweep, limit)
		return err
	case writeDrop:
		var named map[string]bool
		if json.Unmarshal(write[1:], &named) != nil {
			return badWrite()
		}
		return b.DropBundles(named)
	}
	return badWrite()
}

func badWrite() error {
	return tuner.Errorf(tuner.Invalid, "apply a write", "it does not parse: are both programs of one version?")
}

// readCommit reads what CommitWrite wrote after the kind.
func readCommit(b []byte) (*tuner.Changes, error) {
	r := rowReader{b: b}
	var head commitHead
	text := json.NewDecoder(bytes.NewReader(r.take(r.uvarint())))
	text.DisallowUnknownFields() // what this program does not know it would lose
	if err := text.Decode(&head); err != nil {
		return nil, tuner.Errorf(tuner.Invalid, "apply a write", "%w: are both programs of one version?", err)
	}
	c := &tuner.Changes{Revoked: head.Revoked, Sweeps: head.Sweeps, Void: head.Void, Bests: head.Bests, Acts: head.Acts, Token: head.Token}
	leases := rowReader{b: r.take(r.uvarint())}
	for len(leases.b) > 0 && !leases.bad {
		sweep, seq := leases.uvarint(), int64(leases.uvarint())
		read, ok := readLeases(c.Leases, leases.take(leases.uvarint()), sweep, seq)
		if leases.bad = leases.bad || !ok; ok {
			c.Leases = read
		}
	}
	lookup := func(id uint64) (string, bool) {
		if id >= uint64(len(head.Texts)) {
			return "", false
		}
		return head.Texts[id], true
	}
	for len(r.b) > 0 && !r.bad {
		change := tuner.ResultChange{Sweep: r.uvarint()}
		seq := int64(r.uvarint())
		if answer := r.take(r.uvarint()); len(answer) > 0 {
			change.Answer = bytes.Clone(answer)
		}
		result, ok := readRow(r.take(r.uvarint()), seq, lookup)
		r.bad = r.bad || !ok
		change.Result = result
		c.Results = append(c.Results, change)
	}
	if r.bad || leases.bad || len(c.Leases) != head.Leases || len(c.Results) != head.Results {
		return nil, badWrite()
	}
	return c, nil
}

// OpenCopy opens a copy of another store, to apply its writes to: one that is there,
// and of this program's schema.
func OpenCopy(path string, opts OpenOptions) (*Bolt, error) {
	opts.Existing, opts.asStored = true, true
	return Open(path, opts)
}

// DiskError gives an error of writing a copy of a store its kind.
func DiskError(op string, err error) error { return translate(op, err) }
