package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func decoded(t *testing.T, text string) prediction {
	t.Helper()
	var p prediction
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// Any field but those that name the simulator tells predictions apart: another value, one more, one less.
func TestSame(t *testing.T) {
	base := decoded(t, `{"kernel": "k", "time_us": 1.5, "metrics": {"a": 1}, "engine": "1-a", "digest": "x"}`)
	for text, want := range map[string]string{
		`{"kernel": "k", "time_us": 1.5, "metrics": {"a": 1}, "engine": "1-b", "digest": "y"}`:            "",
		`{"kernel": "k", "time_us": 1.6, "metrics": {"a": 1}, "engine": "1-a", "digest": "x"}`:            "time_us is 1.6, and 1.5",
		`{"kernel": "k", "time_us": 1.5, "metrics": {"a": 2}, "engine": "1-a", "digest": "x"}`:            "metrics",
		`{"kernel": "k", "time_us": 1.5, "engine": "1-a", "digest": "x"}`:                                 "metrics is missing",
		`{"kernel": "k", "time_us": 1.5, "metrics": {"a": 1}, "bound": "dram", "engine": "1-a"}`:          "bound",
		`{"kernel": "k", "time_us": 1.5, "metrics": {"a": 1}, "validity": "runtime", "message": "other"}`: "2 fields",
	} {
		err := same([]prediction{base}, []prediction{decoded(t, text)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if same([]prediction{base}, nil) == nil {
		t.Error("none is the same as one")
	}
}

// script is a program that writes text where fidelity would write predictions.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "warptune")
	if err := os.WriteFile(name, []byte("#!/bin/sh\nprintf '%s\\n' '"+text+"' >\"$3\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// The whole command on a data set of the repository: two programs that predict the same, and two that do not.
func TestRun(t *testing.T) {
	one, other := script(t, `{"kernel": "k", "time_us": 1}`), script(t, `{"kernel": "k", "time_us": 2}`)
	c := comparison{base: one, new: one, sample: 1, levels: []string{"model"}}
	if err := c.run("..", []string{"h200-constant-tables"}); err != nil {
		t.Error(err)
	}
	c.new = other
	if err := c.run("..", []string{"h200-constant-tables"}); err == nil || !strings.Contains(err.Error(), "time_us is 2") {
		t.Errorf("two that differ: %v", err)
	}
	if err := c.run("..", []string{"nothing"}); err == nil {
		t.Error("a set that is none was compared")
	}
}
