// Package ideal makes machines, programs and traces of which a mechanism costs nothing: what a configuration loses to it
// is the difference. It changes what the timing levels are given and nothing of them.
package ideal

import (
	"fmt"
	"slices"
	"strings"
)

// Set is mechanisms that cost nothing. The zero value is the machine as it is.
type Set uint32

// Mechanisms.
const (
	Banks         Set = 1 << iota // no bank conflicts in shared memory
	Coalescing                    // loads and stores touch no more sectors and lines than their bytes fill
	Constants                     // lanes that load different constants are served at a time
	Atomics                       // each CTA sums its global atomics in shared memory, and adds to each word once
	SharedAtomics                 // lanes that update one word of shared memory do not wait for each other
	L2Atomics                     // L2 takes atomics at no cost
	L1                            // every load finds its data in L1
	DRAM                          // every access finds its data in L2
	Latency                       // loads, reads of shared memory and atomics answer after a cycle
	Dependency                    // arithmetic answers after a cycle
	Occupancy                     // registers and shared memory limit no occupancy
	Spills                        // spills and reloads take nothing
	LocalArrays                   // variables of a thread's own are in registers
	Divergence                    // lanes of a warp that take different ways are regrouped with those of other warps
	Barriers                      // no warp waits at a barrier of its CTA
	Launch                        // launching the grid's CTAs takes no time; between launches passes as much as before
	Pipes                         // arithmetic pipes take an instruction a cycle of each scheduler
	L1Bandwidth                   // L1 and shared memory move bytes at no cost
	L2Bandwidth                   // L2 moves bytes at no cost; atomics take as long
	CTAWork                       // launching CTAs, and what each does once (OncePerCTA), takes no time
	end
)

// All is every mechanism.
const All = end - 1

var names = []string{
	"bank conflicts", "coalescing", "constants", "global atomics", "shared atomics", "atomics in L2", "L1", "DRAM", "latency",
	"dependency", "occupancy", "spills", "local arrays", "divergence", "barriers", "launch",
	"arithmetic pipes", "L1 bandwidth", "L2 bandwidth", "work of a CTA",
}

// Has reports whether s has all of o.
func (s Set) Has(o Set) bool { return s&o == o }

// Each calls f for each mechanism of a set.
func (s Set) Each(f func(Set)) {
	for m := Set(1); m < end; m <<= 1 {
		if s&m != 0 {
			f(m)
		}
	}
}

// String lists the mechanisms of a set.
func (s Set) String() string {
	var list []string
	s.Each(func(m Set) {
		for i := range names {
			if m == 1<<i {
				list = append(list, names[i])
			}
		}
	})
	return strings.Join(list, ", ")
}

// Parse reads the name of a mechanism.
func Parse(name string) (Set, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown mechanism %q: want one of %s", name, strings.Join(names, ", "))
	}
	return 1 << i, nil
}

// MarshalText is in encoding.TextMarshaler.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
