package store

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/warptune/warptune/tuner"
)

// A result's row, in order; all integers are varints:
//
//	flags, index, attempts, validity
//	time                     8 bytes, if flagTime
//	floor                    8 bytes, if flagFloor
//	registers, spill bytes, shared bytes, carve-out (signed)
//	occupancy                number
//	compiler, limiter, bound, message   text
//	digest                   32 bytes if flagSHA256, else text
//	worker                   text, if flagWorker
//	CTAs executed, of those in full, of the grid, elements compared; what was looked for, and in full,
//	what outputs were compared with, warnings (texts), if flagChecked
//	device                   text, if flagDevice
//	number of metrics, and for each its name (text) and value (number)
//
// A text is 0 and an inline string, or 1 + its number in the sweep's
// dictionary. A number is even: a signed integer, or 1 and 8 bytes of float.
const (
	flagAbandoned = 1 << iota
	flagReused
	flagTime
	flagSHA256
	flagFloor
	flagWorker
	flagChecked
	flagDevice
)

// appendRow writes a result. intern returns a text's number in the dictionary.
func appendRow(b []byte, r *tuner.Result, intern func(string) (uint64, bool)) []byte {
	o := &r.Outcome
	var flags uint64
	set := func(on bool, f uint64) {
		if on {
			flags |= f
		}
	}
	digest, raw := rawDigest(o.Digest)
	set(r.Abandoned, flagAbandoned)
	set(r.Reused, flagReused)
	set(o.TimeUS != 0, flagTime)
	set(raw, flagSHA256)
	set(o.FloorUS != 0, flagFloor)
	set(r.Worker != "", flagWorker)
	set(o.Checked.Recorded(), flagChecked)
	set(o.Device != "", flagDevice)
	for _, v := range []uint64{flags, uint64(r.Index), uint64(r.Attempts), uint64(o.Validity)} {
		b = binary.AppendUvarint(b, v)
	}
	if o.TimeUS != 0 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.TimeUS))
	}
	if o.FloorUS != 0 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.FloorUS))
	}
	for _, v := range []int{o.Registers, o.SpillBytes, o.Shared} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = binary.AppendVarint(b, int64(o.CarveOut))
	b = appendNumber(b, o.Occupancy)
	for _, s := range []string{o.Compiler, o.Limiter, o.Bound, o.Message} {
		b = appendText(b, s, intern)
	}
	if raw {
		b = append(b, digest[:]...)
	} else {
		b = appendText(b, o.Digest, nil)
	}
	if r.Worker != "" {
		b = appendText(b, r.Worker, intern)
	}
	if c := &o.Checked; c.Recorded() {
		for _, v := range []int64{c.CTAs, c.Full, c.Of, c.Compared} {
			b = binary.AppendUvarint(b, uint64(v))
		}
		for _, s := range []string{c.For, c.ForFull, c.Outputs, c.Warnings} {
			b = appendText(b, s, intern)
		}
	}
	if o.Device != "" {
		b = appendText(b, o.Device, intern)
	}
	var room [16]string
	names := room[:0]
	for name := range o.Metrics {
		names = append(names, name)
	}
	slices.Sort(names)
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendText(b, name, intern)
		b = appendNumber(b, o.Metrics[name])
	}
	return b
}

// rawDigest returns the bytes that a digest of 64 lower-case hexadecimal digits
// stands for; false if it is none.
func rawDigest(s string) (raw [32]byte, ok bool) {
	if len(s) != 2*len(raw) {
		return raw, false
	}
	for i := range s {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return raw, false
		}
		raw[i/2] = raw[i/2]<<4 | c
	}
	return raw, true
}

func appendNumber(b []byte, v float64) []byte {
	if i := int64(v); float64(i) == v && i > -1<<52 && i < 1<<52 && !(v == 0 && math.Signbit(v)) {
		return binary.AppendUvarint(b, uint64(i<<1^i>>63)<<1)
	}
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, 1), math.Float64bits(v))
}

func appendText(b []byte, s string, intern func(string) (uint64, bool)) []byte {
	if intern != nil && s != "" {
		if id, ok := intern(s); ok {
			return binary.AppendUvarint(b, id+1)
		}
	}
	b = append(b, 0)
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// rowReader reads a row; the first thing that does not fit makes it bad.
type rowReader struct {
	b      []byte
	lookup func(uint64) (string, bool)
	bad    bool
}

func (r *rowReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *rowReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *rowReader) signed() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *rowReader) float() float64 {
	if b := r.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *rowReader) number() float64 {
	u := r.uvarint()
	if u&1 == 1 {
		return r.float()
	}
	u >>= 1
	return float64(int64(u>>1) ^ -int64(u&1))
}

func (r *rowReader) text() string {
	id := r.uvarint()
	if id == 0 {
		return string(r.take(r.uvarint()))
	}
	s, ok := r.lookup(id - 1)
	r.bad = r.bad || !ok
	return s
}

// readRow reads a result that appendRow wrote; false if it does not parse.
func readRow(b []byte, seq int64, lookup func(uint64) (string, bool)) (tuner.Result, bool) {
	r := rowReader{b: b, lookup: lookup}
	flags := r.uvarint()
	res := tuner.Result{Seq: seq, Abandoned: flags&flagAbandoned != 0, Reused: flags&flagReused != 0}
	res.Index, res.Attempts = int64(r.uvarint()), int(r.uvarint())
	o := &res.Outcome
	o.Validity = tuner.Validity(r.uvarint())
	if flags&flagTime != 0 {
		o.TimeUS = r.float()
	}
	if flags&flagFloor != 0 {
		o.FloorUS = r.float()
	}
	o.Registers, o.SpillBytes, o.Shared = int(r.uvarint()), int(r.uvarint()), int(r.uvarint())
	o.CarveOut, o.Occupancy = int(r.signed()), r.number()
	o.Compiler, o.Limiter, o.Bound, o.Message = r.text(), r.text(), r.text(), r.text()
	if flags&flagSHA256 != 0 {
		o.Digest = hex.EncodeToString(r.take(32))
	} else {
		o.Digest = r.text()
	}
	if flags&flagWorker != 0 {
		res.Worker = r.text()
	}
	if c := &o.Checked; flags&flagChecked != 0 {
		c.CTAs, c.Full, c.Of, c.Compared = int64(r.uvarint()), int64(r.uvarint()), int64(r.uvarint()), int64(r.uvarint())
		c.For, c.ForFull, c.Outputs, c.Warnings = r.text(), r.text(), r.text(), r.text()
		r.bad = r.bad || !c.Recorded() // nothing writes such a row
	}
	if flags&flagDevice != 0 {
		o.Device = r.text()
	}
	if n := r.uvarint(); n > uint64(len(r.b)) {
		r.bad = true
	} else if n > 0 {
		o.Metrics = make(map[string]float64, n)
		for range n {
			name := r.text()
			o.Metrics[name] = r.number()
		}
	}
	return res, !r.bad && len(r.b) == 0
}

// Flags of a lease's row.
const (
	leaseHeld    = 1 << iota
	leaseDoubted // something speaks against the configuration
)

// appendLease writes a lease's row: index, token, attempt, flags, holder, reason
// and, if leaseDoubted, losses, deaths, their weight, faults and who failed.
func appendLease(b []byte, l *tuner.LeaseRecord) []byte {
	flags := uint64(0)
	if l.Held {
		flags = leaseHeld
	}
	doubted := l.Losses+l.Deaths+l.Faults > 0 || l.By != ""
	if doubted {
		flags |= leaseDoubted
	}
	for _, v := range []uint64{uint64(l.Index), l.Token, uint64(l.Attempt), flags} {
		b = binary.AppendUvarint(b, v)
	}
	b = appendText(appendText(b, l.Holder, nil), l.Reason, nil)
	if doubted {
		for _, v := range []int{l.Losses, l.Deaths, l.Weight, l.Faults} {
			b = binary.AppendUvarint(b, uint64(v))
		}
		b = appendText(b, l.By, nil)
	}
	return b
}

// appendLeases writes the row of leases of consecutive trials under consecutive
// tokens that are alike otherwise: the first one's row and, if there are more,
// their number and how much each index is greater than the one before.
func appendLeases(b []byte, run []*tuner.LeaseRecord) []byte {
	b = appendLease(b, run[0])
	if len(run) == 1 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(run)-1))
	for i := range run[1:] {
		b = binary.AppendVarint(b, run[i+1].Index-run[i].Index)
	}
	return b
}

// readLeases appends what appendLeases wrote to all.
func readLeases(all []tuner.LeaseRecord, b []byte, sweep uint64, seq int64) ([]tuner.LeaseRecord, bool) {
	r := rowReader{b: b, lookup: func(uint64) (string, bool) { return "", false }}
	l := tuner.LeaseRecord{Sweep: sweep, Seq: seq, Index: int64(r.uvarint()), Token: r.uvarint(), Attempt: int(r.uvarint())}
	flags := r.uvarint()
	l.Held, l.Holder, l.Reason = flags&leaseHeld != 0, r.text(), r.text()
	if flags&leaseDoubted != 0 {
		l.Losses, l.Deaths, l.Weight, l.Faults, l.By = int(r.uvarint()), int(r.uvarint()), int(r.uvarint()), int(r.uvarint()), r.text()
	}
	all = append(all, l)
	if len(r.b) > 0 {
		n := r.uvarint()
		if n > uint64(len(r.b)) {
			return nil, false
		}
		all = slices.Grow(all, int(n))
		for range n {
			l.Seq, l.Token, l.Index = l.Seq+1, l.Token+1, l.Index+r.signed()
			all = append(all, l)
		}
	}
	return all, !r.bad && len(r.b) == 0
}
