package evaluate

import (
	"context"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/verify"
)

// relation is what a parameter has to do with what an argument holds in the end.
type relation uint8

const (
	unknown   relation = iota
	unrelated          // values of it agree: it is for speed alone
	computes           // no two values of it agree: it is part of what is computed
	outvotes           // values of it agree with each other, and none with the first configuration
)

type relationKey struct {
	base          string // the configuration
	output, param int
	tolerance     float64
}

// mostValues is how many values of a parameter are looked at besides the first configuration's.
const mostValues = 4

// relation finds out by configurations that differ from the first in one parameter. Of a parameter with two values
// that disagree, one may be wrong. It is taken for part of what is computed only if the values of the kernel's
// arguments name it, or if with each of the two other configurations agree.
func (s *answerSet) relation(ctx context.Context, first *member, output, param int, tolerance float64) (relation, error) {
	key := relationKey{first.cfg.String(), output, param, tolerance}
	if r, ok := s.related[key]; ok {
		return r, nil
	}
	others, err := s.line(ctx, first, output, param)
	if err != nil {
		return unknown, err
	}
	r := relate(&first.outputs[output], outputsOf(others, output), tolerance)
	if r == unrelated && len(others) == 1 && disagrees(&first.outputs[output], &others[0].outputs[output], tolerance) {
		class := slices.Contains(s.def.Bound(), first.cfg.Names[param])
		for _, m := range []*member{first, others[0]} {
			if class {
				break
			}
			if class, err = s.agreed(ctx, m, output, param, tolerance); err != nil {
				return unknown, err
			} else if !class {
				break
			}
			class = m != first
		}
		if class {
			r = computes
		}
	}
	s.related[key] = r
	return r, nil
}

// agreed reports whether a configuration that differs from a member in one parameter, not in this one,
// agrees with it.
func (s *answerSet) agreed(ctx context.Context, m *member, output, but int, tolerance float64) (bool, error) {
	for p := range m.cfg.Values {
		if p == but {
			continue
		}
		others, err := s.line(ctx, m, output, p)
		if err != nil {
			return false, err
		}
		for _, other := range others {
			if n, d := m.outputs[output].Compare(&other.outputs[output], tolerance); d == nil && n > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

func outputsOf(members []*member, output int) []*verify.Output {
	out := make([]*verify.Output, len(members))
	for i, m := range members {
		out[i] = &m.outputs[output]
	}
	return out
}

// line are configurations that differ from one in one parameter, and whose output can be compared.
func (s *answerSet) line(ctx context.Context, from *member, output, param int) ([]*member, error) {
	var out []*member
	for _, v := range s.space.Params()[param].Values {
		cfg := search.Config{Names: from.cfg.Names, Values: slices.Clone(from.cfg.Values)}
		if v == cfg.Values[param] {
			continue
		}
		if cfg.Values[param] = v; s.space.Check(cfg) != nil {
			continue
		}
		m, err := s.member(ctx, cfg)
		if err != nil {
			return nil, err
		}
		if comparable(m, output, &from.outputs[output]) != "" {
			continue
		}
		if out = append(out, m); len(out) == mostValues {
			break
		}
	}
	return out, nil
}

// relate decides by an output of the first configuration and of others on a line with it.
func relate(first *verify.Output, others []*verify.Output, tolerance float64) relation {
	pairs, withFirst, among := 0, false, false
	for i, a := range others {
		switch n, d := a.Compare(first, tolerance); {
		case d == nil && n > 0:
			withFirst = true
		case d != nil:
			pairs++
		}
		for _, b := range others[:i] {
			switch n, d := a.Compare(b, tolerance); {
			case d == nil && n > 0:
				among = true
			case d != nil:
				pairs++
			}
		}
	}
	switch {
	case withFirst:
		return unrelated
	case among && pairs > 0:
		return outvotes
	case pairs > 1:
		return computes
	case pairs == 1:
		return unrelated // one of two is wrong
	}
	return unknown
}

func disagrees(a, b *verify.Output, tolerance float64) bool {
	_, d := a.Compare(b, tolerance)
	return d != nil
}

// compareFirst compares the first configuration with one that differs from it in one parameter.
func (s *answerSet) compareFirst(ctx context.Context, c *comparison, first *member, i int, o *verify.Output, tolerance float64) error {
	for p := range first.cfg.Values {
		others, err := s.line(ctx, first, i, p)
		if err != nil {
			return err
		}
		for _, other := range others {
			n, d := o.Compare(&other.outputs[i], tolerance)
			if d == nil && n > 0 {
				c.add(n, other.cfg.String())
				return nil
			}
		}
		if relate(o, outputsOf(others, i), tolerance) == outvotes {
			for _, other := range others {
				if _, d := o.Compare(&other.outputs[i], tolerance); d != nil {
					c.wrong = differs(d, other.cfg) + ", with which others agree"
					return nil
				}
			}
		}
	}
	c.not(o, "it is what others are compared with")
	return nil
}

// voted compares a configuration with those that agree among themselves, where the first agrees with none.
func (s *answerSet) voted(ctx context.Context, c *comparison, first *member, i int, o *verify.Output, tolerance float64) error {
	var against *verify.Difference
	var with search.Config
	for p := range first.cfg.Values {
		if rel, err := s.relation(ctx, first, i, p, tolerance); err != nil {
			return err
		} else if rel != outvotes {
			continue
		}
		others, err := s.line(ctx, first, i, p)
		if err != nil {
			return err
		}
		for _, other := range others {
			n, d := o.Compare(&other.outputs[i], tolerance)
			if d == nil && n > 0 {
				c.add(n, other.cfg.String())
				return nil
			}
			if against == nil {
				against, with = d, other.cfg
			}
		}
	}
	if against == nil {
		c.not(o, "the first configuration is outvoted by others, none of which wrote the same elements")
		return nil
	}
	c.wrong = differs(against, with)
	return nil
}
