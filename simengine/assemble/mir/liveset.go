package mir

import "encoding/binary"

// EachLive calls visit for every value with live words.
func EachLive(live []uint8, visit func(v int, m uint8)) {
	v := 0
	for ; v+8 <= len(live); v += 8 {
		if binary.LittleEndian.Uint64(live[v:]) == 0 {
			continue
		}
		for k, m := range live[v : v+8] {
			if m != 0 {
				visit(v+k, m)
			}
		}
	}
	for ; v < len(live); v++ {
		if live[v] != 0 {
			visit(v, live[v])
		}
	}
}
