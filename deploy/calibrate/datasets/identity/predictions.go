package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
)

// prediction is a record with its prediction, field by field.
type prediction map[string]json.RawMessage

// named are the fields that name the simulator, and so differ between any two builds of it.
var named = []string{"engine", "digest"}

// predict runs "warptune fidelity" and reads the predictions that it writes.
func predict(program, out string, args []string) ([]prediction, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(program, append([]string{"fidelity", "--predictions", out}, args...)...)
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", cmd, err, bytes.TrimSpace(stderr.Bytes()))
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []prediction
	for d := json.NewDecoder(f); ; {
		var p prediction
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", out, err)
		}
		all = append(all, p)
	}
}

// same fails with the first differences, and how many predictions differ.
func same(base, new []prediction) error {
	if len(base) != len(new) {
		return fmt.Errorf("%d predictions, and %d of the base", len(new), len(base))
	}
	var errs []error
	n := 0
	for i := range base {
		fields := differing(base[i], new[i])
		if len(fields) == 0 {
			continue
		}
		if n++; n <= 5 {
			f := fields[0]
			errs = append(errs, fmt.Errorf("%s %s: %s is %s, and %s of the base (%d fields differ)",
				new[i]["kernel"], new[i]["params"], f, text(new[i][f]), text(base[i][f]), len(fields)))
		}
	}
	if n == 0 {
		return nil
	}
	return errors.Join(append([]error{fmt.Errorf("%d of %d predictions differ", n, len(base))}, errs...)...)
}

// differing lists the fields in which two predictions differ.
func differing(a, b prediction) []string {
	all := map[string]bool{}
	for _, p := range []prediction{a, b} {
		for f := range p {
			all[f] = true
		}
	}
	return slices.Sorted(func(yield func(string) bool) {
		for f := range maps.Keys(all) {
			if !slices.Contains(named, f) && !bytes.Equal(a[f], b[f]) && !yield(f) {
				return
			}
		}
	})
}

// text is a field's value, shortened.
func text(raw json.RawMessage) string {
	const most = 100
	if raw == nil {
		return "missing"
	}
	return string(raw[:min(len(raw), most)])
}
