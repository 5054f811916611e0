package input

import (
	"encoding/json"
	"errors"
	"runtime"
	"strconv"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

// DefaultSlots is a configuration for each processor.
func DefaultSlots() int { return runtime.GOMAXPROCS(0) }

// ConfigRecord makes the record of one configuration given as NAME=V,….
func ConfigRecord(def *kernel.Definition, text string, problem []int64) (record.Record, error) {
	rec := record.Record{Kernel: def.Name, Params: map[string]json.RawMessage{}, ProblemSize: problem, Line: 1}
	list, err := search.ParseAssignments(text)
	if err == nil && len(list) == 0 {
		err = errors.New("want NAME=VALUE")
	}
	if err != nil {
		return rec, cli.Usagef("--config: %w", err)
	}
	for _, a := range list {
		raw := json.RawMessage(a.Text)
		if unquoted, err := strconv.Unquote(a.Text); err == nil && a.Text[0] == '"' {
			raw, _ = json.Marshal(unquoted)
		} else if !json.Valid(raw) {
			raw, _ = json.Marshal(a.Text)
		}
		rec.Params[a.Name] = raw
	}
	if err := checkProblem(def, problem); err != nil {
		return rec, err
	}
	if _, err := evaluate.Config(def, &rec); err != nil {
		return rec, cli.Usagef("--config %s: %w", text, err)
	}
	rec.Raw, err = json.Marshal(rec)
	return rec, err
}
