// Package message says what the protocol's messages hold: as JSON, and in words that
// more than one command prints.
package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/rpc"
)

// JSON makes messages printable by encoding/json, in protobuf's own JSON.
func JSON(v any) any {
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
			out[i] = JSON(m)
		}
		return out
	case []*warptunev1.Sweep:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = JSON(m)
		}
		return out
	}
	return v
}

// Fields are a message's fields as JSON has them, to add others to.
func Fields(m proto.Message) (map[string]any, error) {
	fields := map[string]any{}
	text, ok := JSON(m).(json.RawMessage)
	if !ok {
		return nil, fmt.Errorf("%s cannot be written as JSON", m.ProtoReflect().Descriptor().Name())
	}
	return fields, json.Unmarshal(text, &fields)
}

// Target is what a sweep is of: kernel, architecture, and the problem size if the
// kernel has one.
func Target(s *warptunev1.Spec) string {
	text := s.GetKernel() + " on " + s.GetArch()
	if len(s.GetProblem()) > 0 {
		text += ", problem " + ProblemText(s.GetProblem())
	}
	return text
}

// ProblemText is a problem size as --problem takes it.
func ProblemText(problem []int64) string {
	parts := make([]string, len(problem))
	for i, n := range problem {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ",")
}

// StateName is a state in lower case.
func StateName(s warptunev1.SweepState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "SWEEP_STATE_"))
}

// StateText is where a sweep stands, in a word.
func StateText(s *warptunev1.Sweep) string {
	if s.GetState() == warptunev1.SweepState_SWEEP_STATE_COMPLETED && s.GetCounts().GetAbandoned() > 0 {
		return "incomplete"
	}
	return StateName(s.GetState())
}

// IncompleteSweep is the error for a sweep that had to give configurations up.
func IncompleteSweep(s *warptunev1.Sweep) error {
	return cli.Incomplete(s.GetCounts().GetAbandoned(), s.GetId())
}

// Ended reports whether a sweep has completed, failed or was cancelled.
func Ended(s *warptunev1.Sweep) bool {
	switch s.GetState() {
	case warptunev1.SweepState_SWEEP_STATE_COMPLETED, warptunev1.SweepState_SWEEP_STATE_CANCELLED, warptunev1.SweepState_SWEEP_STATE_FAILED:
		return true
	}
	return false
}

// ValueText is a parameter's value as people write it.
func ValueText(v *warptunev1.Value) string {
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

// ConfigText is NAME=V,… as --config takes it.
func ConfigText(names []string, values []*warptunev1.Value) string {
	return search.Config{Names: names, Values: rpc.ToValues(values)}.String()
}
