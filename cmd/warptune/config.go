package main

import (
	"encoding/json"
	"runtime"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

func defaultSlots() int { return runtime.GOMAXPROCS(0) }

// configRecord makes the record of one configuration given as NAME=V,….
func configRecord(def *kernel.Definition, text string, problem []int64) (record.Record, error) {
	rec := record.Record{Kernel: def.Name, Params: map[string]json.RawMessage{}, ProblemSize: problem, Line: 1}
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return rec, usagef("--config: %q is not NAME=VALUE", part)
		}
		raw := json.RawMessage(strings.TrimSpace(value))
		if !json.Valid(raw) {
			raw, _ = json.Marshal(strings.TrimSpace(value))
		}
		rec.Params[strings.TrimSpace(name)] = raw
	}
	if err := checkProblem(def, problem); err != nil {
		return rec, err
	}
	if _, err := evaluate.Config(def, &rec); err != nil {
		return rec, usagef("--config %s: %w", text, err)
	}
	var err error
	rec.Raw, err = json.Marshal(rec)
	return rec, err
}
