package store

import (
	"encoding/binary"
	"slices"

	"github.com/warptune/warptune/tuner"
)

// bestKey returns the key of the best configuration: kernel and architecture,
// each ended by a zero byte, then the problem's dimensions big-endian, so that
// keys of one kernel and architecture are together, in the order of problems.
// Without a problem it is the prefix of all of them.
func bestKey(kernel, arch string, problem []int64) []byte {
	key := append([]byte(kernel), 0)
	key = append(append(key, arch...), 0)
	for _, p := range problem {
		key = binary.BigEndian.AppendUint64(key, uint64(p))
	}
	return key
}

// bestOf returns what a sweep's record says of its best; the parameters'
// values are in the record of the best it came from.
func bestOf(s *tuner.Sweep) (tuner.Best, bool) {
	if s.Best == nil || s.BestValues == nil || s.State == tuner.Deleting {
		return tuner.Best{}, false
	}
	return tuner.Best{
		Sweep: s.Num, ID: s.ID, Spec: s.Spec.Clone(), Result: s.Best.Clone(),
		Names: slices.Clone(s.Names), Values: slices.Clone(s.BestValues), Confirmed: s.Confirmed,
	}, true
}

func cloneBest(b tuner.Best) tuner.Best {
	b.Spec = b.Spec.Clone()
	b.Result = b.Result.Clone()
	b.Names, b.Values = slices.Clone(b.Names), slices.Clone(b.Values)
	return b
}

func cloneSweep(s tuner.Sweep) tuner.Sweep {
	s.Spec = s.Spec.Clone()
	s.Names, s.BestValues, s.Examples = slices.Clone(s.Names), slices.Clone(s.BestValues), slices.Clone(s.Examples)
	if s.Best != nil {
		b := s.Best.Clone()
		s.Best = &b
	}
	s.Workers, s.Rate, s.Aside = 0, 0, nil
	return s
}
