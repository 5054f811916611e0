package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// maxRaw bounds the files of a definition's arguments: they travel with it.
const maxRaw = 32 << 20

// readRaw reads the file that DataSource names. Without it the space can be used
// and nothing be launched.
func (d *Definition) readRaw(r *reader, rec *record, a *argument) {
	name := clean(rec.text("DataSource", ""))
	if r.err != nil {
		return
	}
	raw, err := d.raw(name)
	if err != nil {
		a.refusal = fmt.Sprintf("FillType BinaryRaw: %v; use FillType Random where contents do not matter", err)
		return
	}
	a.arg.Fill.Kind, a.arg.Fill.Raw = call.FillBinaryRaw, raw
	if size := a.elementBytes(); size > 0 && len(raw.Data)%size != 0 {
		a.refusal = fmt.Sprintf("FillType BinaryRaw: the %d bytes of %s are not a number of elements of %d", len(raw.Data), name, size)
	} else if i := raw.Inexact(a.arg.Type); i >= 0 {
		a.refusal = fmt.Sprintf("FillType BinaryRaw: value %d of %s is an integer beyond 2^53, which cannot be simulated", i, name)
	}
}

// raw returns a file of an argument's elements, read once.
func (d *Definition) raw(name string) (*call.Raw, error) {
	if raw := d.raws[name]; raw != nil {
		return raw, nil
	}
	data, err := d.rawData(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	if d.raws == nil {
		d.raws = map[string]*call.Raw{}
	}
	d.raws[name] = &call.Raw{File: name, Data: data, Digest: hex.EncodeToString(sum[:])}
	return d.raws[name], nil
}

func (d *Definition) rawData(name string) ([]byte, error) {
	if name == "." {
		return nil, fmt.Errorf("DataSource is missing: it names the file")
	}
	if err := call.Inside(name); err != nil {
		return nil, err
	}
	data, err := d.files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	size := len(data)
	for _, other := range d.raws {
		size += len(other.Data)
	}
	if size > maxRaw {
		return nil, fmt.Errorf("with %s the arguments' files have %d bytes, more than the %d MiB that may be", name, size, maxRaw>>20)
	}
	return data, nil
}

// elementBytes is the size of one element, all its lanes.
func (a *argument) elementBytes() int { return a.arg.Type.Bytes() * a.arg.Lanes }

// elements is how many the argument's file holds, 0 without one.
func (a *argument) elements() int64 {
	if a.arg.Fill.Raw == nil || a.elementBytes() == 0 {
		return 0
	}
	return int64(len(a.arg.Fill.Raw.Data) / a.elementBytes())
}
