package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/rpc"
)

// protoJSON makes messages printable by encoding/json, in protobuf's own JSON.
func protoJSON(v any) any {
	switch v := v.(type) {
	case proto.Message:
		text, err := protojson.MarshalOptions{EmitDefaultValues: true, UseProtoNames: true}.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return json.RawMessage(text)
	case []*warptunev1.Act:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = protoJSON(m)
		}
		return out
	case []*warptunev1.Sweep:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = protoJSON(m)
		}
		return out
	}
	return v
}

// protoFields are a message's fields as protoJSON has them, to add others to.
func protoFields(m proto.Message) (map[string]any, error) {
	fields := map[string]any{}
	text, ok := protoJSON(m).(json.RawMessage)
	if !ok {
		return nil, fmt.Errorf("%s cannot be written as JSON", m.ProtoReflect().Descriptor().Name())
	}
	return fields, json.Unmarshal(text, &fields)
}

// shortID is enough of a sweep's identity to name it.
func shortID(id string) string { return id[:min(12, len(id))] }

// target is what a sweep is of: kernel, architecture, and the problem size if the
// kernel has one.
func target(s *warptunev1.Spec) string {
	text := s.GetKernel() + " on " + s.GetArch()
	if len(s.GetProblem()) > 0 {
		text += ", problem " + problemText(s.GetProblem())
	}
	return text
}

func problemText(problem []int64) string {
	parts := make([]string, len(problem))
	for i, n := range problem {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ",")
}

func stateName(s warptunev1.SweepState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "SWEEP_STATE_"))
}

// stateText is where a sweep stands, in a word.
func stateText(s *warptunev1.Sweep) string {
	if s.GetState() == warptunev1.SweepState_SWEEP_STATE_COMPLETED && s.GetCounts().GetAbandoned() > 0 {
		return "incomplete"
	}
	return stateName(s.GetState())
}

// incompleteSweep is the error for a sweep that had to give configurations up.
func incompleteSweep(s *warptunev1.Sweep) error {
	return incomplete(s.GetCounts().GetAbandoned(), s.GetId())
}

func validityName(v warptunev1.Validity) string {
	return strings.ToLower(strings.TrimPrefix(v.String(), "VALIDITY_"))
}

func ended(s *warptunev1.Sweep) bool {
	switch s.GetState() {
	case warptunev1.SweepState_SWEEP_STATE_COMPLETED, warptunev1.SweepState_SWEEP_STATE_CANCELLED, warptunev1.SweepState_SWEEP_STATE_FAILED:
		return true
	}
	return false
}

// outcomeName is a validity as it reads after a number: «2 correctness» would be
// taken for its opposite.
func outcomeName(v warptunev1.Validity) string {
	switch v {
	case warptunev1.Validity_VALIDITY_CORRECT:
		return "ran clean"
	case warptunev1.Validity_VALIDITY_CORRECTNESS:
		return "gave wrong results"
	}
	return validityName(v)
}

func valueText(v *warptunev1.Value) string {
	switch k := v.GetKind().(type) {
	case *warptunev1.Value_Integer:
		return fmt.Sprint(k.Integer)
	case *warptunev1.Value_Real:
		return fmt.Sprint(k.Real)
	case *warptunev1.Value_Truth:
		return fmt.Sprint(k.Truth)
	case *warptunev1.Value_Text:
		return k.Text
	}
	return ""
}

// configText is NAME=V,… as --config takes it.
func configText(names []string, values []*warptunev1.Value) string {
	return search.Config{Names: names, Values: rpc.ToValues(values)}.String()
}

func oneLineText(s string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if rest != "" {
		line += " …"
	}
	return plainText(line)
}

// plainText is a text of somebody else's, as a terminal may be given it: without
// what would steer the terminal.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return '\uFFFD'
		}
		return r
	}, s)
}
