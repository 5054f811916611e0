package kernel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/recorded"
)

// checkListed refuses problem sizes other than the records'.
func (d *Definition) checkListed(problem []int64) error {
	if len(problem) == 0 || slices.Equal(problem, d.Problem) {
		return nil
	}
	return fmt.Errorf("kernel %s: the launch records of group %s are of problem size %v, not %v", d.Name, d.Group, d.Problem, problem)
}

// Complete is a configuration of which only the parameters named were given, the others being
// defaults. Of launch records it is the one that has what was given: with the others' defaults, if
// there is one.
func (d *Definition) Complete(cfg search.Config, given []string) (search.Config, error) {
	if d.listed == nil {
		return cfg, nil
	}
	if _, ok := d.listed.index[cfg.String()]; ok {
		return cfg, nil
	}
	var fits []int
	for i, c := range d.listed.configs {
		agrees := func(name string) bool {
			v, _ := cfg.Get(name)
			w, _ := c.Get(name)
			return v == w
		}
		if d.listed.first(i) && !slices.ContainsFunc(given, func(n string) bool { return !agrees(n) }) {
			fits = append(fits, i)
		}
	}
	switch len(fits) {
	case 0:
		return cfg, fmt.Errorf("kernel %s: no launch record of group %s has %s", d.Name, d.Group, partial(cfg, given))
	case 1:
		return d.listed.configs[fits[0]].Clone(), nil
	}
	return cfg, fmt.Errorf("kernel %s: %d launch records of group %s have %s, such as %s: give more parameters", d.Name, len(fits), d.Group, partial(cfg, given), d.listed.configs[fits[0]])
}

// partial is a configuration with the parameters named alone.
func partial(cfg search.Config, names []string) search.Config {
	var out search.Config
	for i, n := range cfg.Names {
		if slices.Contains(names, n) {
			out.Names, out.Values = append(out.Names, n), append(out.Values, cfg.Values[i])
		}
	}
	return out
}

// launchListed is Launch for launch records.
func (d *Definition) launchListed(cfg search.Config, problem []int64) (*call.Launch, error) {
	if err := d.checkListed(problem); err != nil {
		return nil, err
	}
	cfg, err := d.conform(cfg)
	if err != nil {
		return nil, err
	}
	i, ok := d.listed.index[cfg.String()]
	if !ok {
		return nil, fmt.Errorf("kernel %s: no launch record of group %s has %s", d.Name, d.Group, cfg)
	}
	r := d.listed.records[i]
	if r.Failed() {
		l := &call.Launch{KernelName: d.KernelName, CarveOut: -1, Recorded: true}
		l.Compile = call.Compile{Language: call.PTX, SourceFile: launchesFile, Missing: &RecordedError{strings.TrimSpace(r.Error)}}
		l.Compile.Key = l.Compile.Digest(nil)
		return l, nil
	}
	l, err := r.Launch()
	if err != nil {
		return nil, fmt.Errorf("launch record: %w", err)
	}
	l.Compile = call.Compile{Language: call.PTX, SourceFile: r.PTXFile()}
	if l.Compile.Source, err = d.files.ReadFile(r.PTXFile()); err != nil {
		l.Compile.Missing = err
	}
	l.Compile.Key = l.Compile.Digest(nil)
	return l, nil
}

// RecordedError is what a launch record says of why it could not be assembled.
type RecordedError struct{ Message string }

func (e *RecordedError) Error() string { return e.Message }

// launchableListed says why none of the records can be launched; nil: one may.
func (d *Definition) launchableListed() error {
	var first error
	for i, r := range d.listed.records {
		if r.Failed() {
			continue
		}
		_, err := r.Launch()
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("kernel %s: launch record %s: %w", d.Name, d.listed.configs[i], err)
		}
	}
	if first == nil {
		first = fmt.Errorf("kernel %s: none of the launch records of group %s could be assembled", d.Name, d.Group)
	}
	return first
}

// bundledListed are the records of the group, one line each, and their PTX.
func (d *Definition) bundledListed() (map[string][]byte, error) {
	var lines bytes.Buffer
	files := map[string][]byte{}
	for i, r := range d.listed.records {
		if !d.listed.first(i) {
			continue // the same launch again
		}
		lines.WriteString(recorded.JSON(d.listed.completed(i)) + "\n")
		if r.PTX == "" {
			continue
		}
		text, err := d.files.ReadFile(r.PTXFile())
		if err != nil {
			return nil, fmt.Errorf("launch record %s: %w", d.listed.configs[i], err)
		}
		files[r.PTXFile()] = text
	}
	files[launchesFile] = lines.Bytes()
	return files, nil
}
