package call

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A value written as its bits is read as itself, of every type.
func TestRawValues(t *testing.T) {
	for h := range 1 << 16 {
		if v := fromHalf(uint16(h)); v != halfValue(uint16(h)) && !math.IsNaN(v) {
			t.Fatalf("half %#x is read as %v, want %v", h, v, halfValue(uint16(h)))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		typ := Type(rapid.IntRange(int(Int8), int(Double)).Draw(t, "type"))
		var data []byte
		var want []float64
		for range rapid.IntRange(1, 5).Draw(t, "count") {
			v := float64(rapid.Float32Range(-60000, 60000).Draw(t, "value"))
			if lo, hi, ok := typ.Integers(); ok {
				v = math.Trunc(min(max(v, lo), hi))
			} else if typ == Half {
				v = fromHalf(halfBits(float32(v)))
			}
			bits, ok := typ.Encode(false, 0, v)
			if !ok {
				t.Fatal(v)
			}
			data = append(data, binary.LittleEndian.AppendUint64(nil, bits)[:typ.Bytes()]...)
			want = append(want, v)
		}
		raw := &Raw{Data: data}
		for i, v := range want {
			if got := raw.Value(typ, int64(i)); got != v {
				t.Fatalf("%s %d: %v, want %v", typ, i, got, v)
			}
		}
		if raw.Value(typ, int64(len(want))) != 0 || raw.Inexact(typ) != -1 {
			t.Fatal("behind the end")
		}
	})
	large := &Raw{Data: binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 1<<53), 1<<63+1)}
	if large.Inexact(Uint64) != 1 || large.Inexact(Int64) != 1 || large.Inexact(Double) != -1 {
		t.Error("integers beyond 2^53")
	}
}
