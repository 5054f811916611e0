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
	s.Workers, s.Rate, s.TimeLeft, s.Aside = 0, 0, 0, nil
	return s
}
