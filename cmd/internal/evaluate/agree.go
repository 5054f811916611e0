package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/verify"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// comparison is what comparing a configuration's outputs came to.
type comparison struct {
	compared int64    // elements
	against  []string // configurations, in words
	notes    []string // arguments that were not compared, and why
	wrong    string   // the first element that differs where it must not; "": none
}

// text says in a line what was compared.
func (c *comparison) text() string {
	parts := slices.Clone(c.notes)
	if c.compared > 0 {
		parts = append([]string{"agree with " + strings.Join(c.against, " and ")}, parts...)
	}
	return strings.Join(parts, "; ")
}

// compare compares what a configuration wrote with what others do. Arguments that the definition
// says are not to be compared are left out.
//
// Tuning parameters may change what a kernel computes: sums of blocks, segments that a block sorts,
// a filter's radius. So a configuration that disagrees with the first is wrong only if the
// parameters that it has otherwise are not of that kind (relation): else it is compared with the
// one that differs from the first in those alone.
func (s *answerSet) compare(ctx context.Context, cfg search.Config, launch *call.Launch, outputs []verify.Output) (comparison, error) {
	var c comparison
	buffers := buffersOf(launch)
	for i := range outputs {
		arg := buffers[outputs[i].Name]
		if len(outputs[i].Runs) == 0 || !outputs[i].Written && !outputs[i].Whole {
			if n := outputs[i].Chance; n > 0 {
				c.not(&outputs[i], "what is written depends on which thread comes first")
			} else if n := outputs[i].Updated; n > 0 {
				c.not(&outputs[i], "CTAs that were not executed update it too")
			}
			continue
		}
		if arg != nil && arg.Access == call.ReadOnly && !outputs[i].Written {
			continue
		}
		if arg == nil || arg.Answer == call.AnswerNone {
			if outputs[i].Written {
				c.not(&outputs[i], "the definition says so")
			}
			continue
		}
		if arg.Expected != nil {
			c.expected(&outputs[i], arg)
		} else if err := s.compareOne(ctx, &c, cfg, i, arg.Position, &outputs[i], arg.Tolerance); err != nil {
			return c, err
		}
		if c.wrong != "" {
			return c, nil
		}
	}
	if c.compared == 0 && len(c.notes) == 0 {
		c.notes = append(c.notes, "nothing is written that could be compared")
	}
	return c, nil
}

// buffersOf are a launch's arguments by name.
func buffersOf(l *call.Launch) map[string]*call.Arg {
	out := map[string]*call.Arg{}
	for _, list := range [][]call.Arg{l.Args, l.Constants} {
		for i := range list {
			out[list[i].Name] = &list[i]
		}
	}
	return out
}

// expected compares an output with the file that the definition names.
func (c *comparison) expected(o *verify.Output, arg *call.Arg) {
	want := verify.Output{Name: o.Name, Elem: o.Elem, Count: o.Count, Runs: []verify.Run{{Bytes: arg.Expected.Data}}}
	n, d := o.Compare(&want, arg.Tolerance)
	if d != nil {
		c.wrong = fmt.Sprintf("argument %s, element %d is %s, and %s in %s", d.Name, d.Index, d.Got, d.Want, arg.Expected.File)
		return
	}
	c.add(n, arg.Expected.File)
}

func (c *comparison) add(n int64, with string) {
	c.compared += n
	if n > 0 && !slices.Contains(c.against, with) {
		c.against = append(c.against, with)
	}
}

func (c *comparison) not(o *verify.Output, format string, args ...any) {
	c.notes = append(c.notes, o.Name+" is not compared: "+fmt.Sprintf(format, args...))
}

// compareOne compares the i-th output, of the argument at a position of the definition.
func (s *answerSet) compareOne(ctx context.Context, c *comparison, cfg search.Config, i, position int, o *verify.Output, tolerance float64) error {
	base, err := s.base(ctx, cfg, i, position, o)
	if err != nil {
		return err
	}
	if base == nil {
		c.not(o, "none of the first %d configurations runs", mostFirst)
		return nil
	}
	if base.cfg.Equal(cfg) {
		if !o.Written {
			return nil
		}
		return s.compareFirst(ctx, c, base, i, o, tolerance)
	}
	if reason := comparable(base, i, o); reason != "" {
		c.not(o, "%s", reason)
		return nil
	}
	if !o.Written && !base.outputs[i].Written {
		return nil
	}
	n, d := o.Compare(&base.outputs[i], tolerance)
	switch {
	case d != nil:
		return s.disagree(ctx, c, cfg, base, i, o, d, tolerance)
	case n == 0:
		c.not(o, "it wrote no element that %v wrote, too", base.cfg)
	default:
		c.add(n, base.cfg.String())
	}
	return nil
}

// base is what a configuration is compared with: the first that runs or, where that has another
// size of the buffer, the one that differs from it in the parameters that the size names; nil: none
// runs.
func (s *answerSet) base(ctx context.Context, cfg search.Config, i, position int, o *verify.Output) (*member, error) {
	first, err := s.reference(ctx)
	if err != nil || first == nil || i >= len(first.outputs) || first.outputs[i].Count == o.Count {
		return first, err
	}
	with := s.like(first.cfg, cfg, s.def.Sizes(position))
	if s.space.Check(with) != nil {
		return first, nil
	}
	return s.member(ctx, with)
}

// like is a configuration with another's values of some parameters.
func (s *answerSet) like(cfg, other search.Config, names []string) search.Config {
	out := search.Config{Names: cfg.Names, Values: slices.Clone(cfg.Values)}
	for p, name := range out.Names {
		if slices.Contains(names, name) {
			out.Values[p] = other.Values[p]
		}
	}
	return out
}

// comparable says why an output cannot be compared with a member's; "": it can.
func comparable(m *member, i int, o *verify.Output) string {
	switch {
	case m.reason != "":
		return fmt.Sprintf("%v was not executed: %s", m.cfg, m.reason)
	case i >= len(m.outputs) || m.outputs[i].Name != o.Name || m.outputs[i].Elem != o.Elem:
		return fmt.Sprintf("%v has other arguments", m.cfg)
	case m.outputs[i].Count != o.Count:
		return fmt.Sprintf("it has %d elements, and %d in %v", o.Count, m.outputs[i].Count, m.cfg)
	}
	return ""
}

// disagree decides about an element that differs from that of another configuration, the base.
func (s *answerSet) disagree(ctx context.Context, c *comparison, cfg search.Config, base *member, i int, o *verify.Output, d *verify.Difference, tolerance float64) error {
	computed, open, outvoted, err := s.differing(ctx, cfg, base, i, tolerance)
	switch {
	case err != nil:
		return err
	case outvoted:
		return s.voted(ctx, c, base, i, o, tolerance)
	case len(computed) == 0 && len(open) == 0:
		c.wrong = differs(d, base.cfg)
		return nil
	}
	with := s.like(base.cfg, cfg, computed)
	if len(computed) == 0 {
		c.not(o, "it differs from %v, perhaps by %s, of which no other value can be tried there", base.cfg, strings.Join(open, " and "))
		return nil
	}
	on := strings.Join(computed, " and ")
	if with.Equal(cfg) {
		c.not(o, "what is computed differs with %s", on)
		return nil
	}
	if s.space.Check(with) != nil {
		c.not(o, "what is computed differs with %s, and there is no configuration %v", on, with)
		return nil
	}
	m, err := s.member(ctx, with)
	if err != nil {
		return err
	}
	if reason := comparable(m, i, o); reason != "" {
		c.not(o, "what is computed differs with %s, and %s", on, reason)
		return nil
	}
	n, d := o.Compare(&m.outputs[i], tolerance)
	switch {
	case d != nil && len(open) > 0:
		c.not(o, "it differs from %v, perhaps by %s, of which no other value can be tried there", m.cfg, strings.Join(open, " and "))
	case d != nil:
		c.wrong = differs(d, m.cfg)
	case n == 0:
		c.not(o, "it wrote no element that %v wrote, too", m.cfg)
	default:
		c.add(n, m.cfg.String())
	}
	return nil
}

// differing sorts the parameters in which a configuration differs from the base: those that are part
// of what is computed, and those of which it is not known. outvoted says that the base is wrong.
func (s *answerSet) differing(ctx context.Context, cfg search.Config, base *member, i int, tolerance float64) (computed, open []string, outvoted bool, err error) {
	for p, name := range base.cfg.Names {
		if base.cfg.Values[p] == cfg.Values[p] {
			continue
		}
		rel, err := s.relation(ctx, base, i, p, tolerance)
		if err != nil {
			return nil, nil, false, err
		}
		switch rel {
		case computes:
			computed = append(computed, name)
		case unknown:
			open = append(open, name)
		case outvotes:
			outvoted = true
		}
	}
	return computed, open, outvoted, nil
}

func differs(d *verify.Difference, cfg search.Config) string {
	return fmt.Sprintf("argument %s, element %d is %s, and %s in configuration %v", d.Name, d.Index, d.Got, d.Want, cfg)
}
