// Package datasets reads manifest.json: which measured data sets there are, what each holds and where its files are.
// Everything that goes over data sets reads it: tests, "warptune fidelity --dataset", and the tables in docs.
package datasets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Manifest lists data sets in the order in which they were made.
type Manifest struct {
	Sets []Set `json:"sets"`
	// Commit is the one of what is fetched where an entry names none.
	Commit string `json:"commit,omitempty"`
	// Results are files of ../results that a checkout does not carry, Programs those of ../microbench and ../ptxas that
	// made them: programs of which nothing is built but what measures again.
	Results  []Fetch `json:"results,omitempty"`
	Programs []Fetch `json:"programs,omitempty"`

	dir string
}

// Set is one data set: configurations that were timed on one kind of GPU.
type Set struct {
	Name  string `json:"name"`
	Holds string `json:"holds"` // in words
	GPU   string `json:"gpu"`
	Arch  string `json:"arch"` // as --arch takes it
	// Driver is the GPU driver's version, Measured the day (2026-11-26); "" where they were not written down.
	Driver   string `json:"driver,omitempty"`
	Measured string `json:"measured,omitempty"`
	Compiler string `json:"compiler"` // what made the PTX that ran
	Author   Author `json:"author"`
	Role     Role   `json:"role"`
	// Outside says how to come by the files of a set that is not in the repository; "" for the others.
	Outside string  `json:"outside,omitempty"`
	Files   Files   `json:"files"`
	Fetch   []Fetch `json:"fetch,omitempty"` // what a checkout does not carry

	Configurations int `json:"configurations"`     // records in Files.Timings
	Profiled       int `json:"profiled,omitempty"` // records in Files.Counters
	Kernels        int `json:"kernels"`
	Groups         int `json:"groups"`

	// Blind is what versions that nobody had changed for the set came to, of all of it or one entry a part.
	Blind []Blind `json:"blind,omitempty"`
	// Latest is what a later version came to, of a set whose kernels are not in the repository.
	Latest  *Scores  `json:"latest,omitempty"`
	Sources []string `json:"sources,omitempty"` // what else there is to know of how it was made
	// TwoLevels says that docs/search has a page of what ranking by level model saves on the set.
	TwoLevels bool `json:"two_levels,omitempty"`

	dir string
}

// Author is who wrote the kernels of a set.
type Author string

// The authors.
const (
	Project     Author = "project"     // who works on the simulator
	Independent Author = "independent" // somebody who saw nothing of the simulator
	Others      Author = "others"      // who published them, for another tuner
)

// Role is what a set is used for.
type Role string

// The roles.
const (
	Development Role = "development" // the simulator was developed on it
	Seen        Role = "seen"        // predicted blind or not at all at first; what it showed was looked at since
	HeldOut     Role = "held out"    // nobody looks at its groups
)

// Files are paths in the set's directory. Timings is always there; others are "" where there is none.
type Files struct {
	Timings  string   `json:"timings"`            // records of times
	Counters string   `json:"counters,omitempty"` // records of Nsight Compute's counters
	Kernels  string   `json:"kernels,omitempty"`  // directory of definitions and sources; "": the kernels are built in
	PTX      string   `json:"ptx,omitempty"`      // archive of the PTX that ran
	Extra    []string `json:"extra,omitempty"`    // further files
}

// Blind is a blind prediction.
type Blind struct {
	Of             string `json:"of,omitempty"`             // the part of the set; "": all of it
	Configurations int    `json:"configurations,omitempty"` // of the part; 0: the set's
	Groups         int    `json:"groups,omitempty"`         // of the part; 0: the set's
	Half           bool   `json:"half,omitempty"`           // the version was made knowing what the set is for
	Scores
}

// Scores are what predictions of a set come to.
type Scores struct {
	Version string `json:"version,omitempty"` // of the simulator; "" where it was not written down
	Cycle   *Score `json:"cycle,omitempty"`
	Model   *Score `json:"model,omitempty"`
}

// Score is that of one level.
type Score struct {
	Regret1 float64 `json:"regret1"`         // geometric mean over groups
	Worst   float64 `json:"worst,omitempty"` // of a group; 0 where it was not written down
	MAPE    float64 `json:"mape"`            // percent, over all configurations
}

// Load reads the manifest of a directory of data sets. A field that is not known or a value that is not is an
// error that says where. It does not read the files of the sets: Check does.
func Load(dir string) (*Manifest, error) {
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.dir = dir
	for i := range m.Sets {
		m.Sets[i].dir = filepath.Join(dir, m.Sets[i].Name)
	}
	return m, nil
}

func parse(text []byte) (*Manifest, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var m Manifest
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something stands after the manifest")
	}
	m.complete("deploy/calibrate/results", m.Results)
	m.complete("deploy/calibrate", m.Programs)
	for _, f := range slices.Concat(m.Results, m.Programs) {
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("results or programs, %q: %w", f.File, err)
		}
	}
	seen := map[string]bool{}
	for i := range m.Sets {
		s := &m.Sets[i]
		m.complete("deploy/calibrate/datasets/"+s.Name, s.Fetch)
		if seen[s.Name] {
			return nil, fmt.Errorf("set %s is listed twice", s.Name)
		}
		seen[s.Name] = true
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("set %d, %q: %w", i+1, s.Name, err)
		}
	}
	return &m, nil
}

// complete fills in what entries leave out: the commit of all, and the place where the file is now.
func (m *Manifest) complete(dir string, entries []Fetch) {
	for i := range entries {
		f := &entries[i]
		f.Commit = cmp.Or(f.Commit, m.Commit)
		f.Path = cmp.Or(f.Path, path.Join(dir, f.File))
	}
}

// Find returns a set by its name, or an error that lists the names.
func (m *Manifest) Find(name string) (*Set, error) {
	var names []string
	for i := range m.Sets {
		if m.Sets[i].Name == name {
			return &m.Sets[i], nil
		}
		names = append(names, m.Sets[i].Name)
	}
	return nil, fmt.Errorf("no data set %q: there are %s", name, strings.Join(names, ", "))
}

// Here returns the sets whose files are all in the checkout.
func (m *Manifest) Here() []*Set {
	var here []*Set
	for i := range m.Sets {
		if m.Sets[i].Missing() == nil {
			here = append(here, &m.Sets[i])
		}
	}
	return here
}

// Missing says which file of a set a prediction of it lacks and how to come by it; nil if none.
func (s *Set) Missing() error {
	switch {
	case s.Outside != "":
		return fmt.Errorf("data set %s is %s", s.Name, s.Outside)
	case s.Author == Others:
		return fmt.Errorf("the kernels of data set %s are not in the repository: %s says where they are", s.Name, s.Path("README.md"))
	}
	for _, f := range []string{s.Files.Timings, s.Files.PTX} {
		if f == "" {
			continue // the PTX is built in
		}
		if _, err := os.Stat(s.Path(f)); err != nil {
			return fmt.Errorf("data set %s lacks %s: \"make data\" takes it out of the repository's history (%w)", s.Name, f, err)
		}
	}
	return nil
}

// Path is that of a file of the set; "" for "".
func (s *Set) Path(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Join(s.dir, file)
}

// Archives lists the PTX archives in the checkout.
func (m *Manifest) Archives() []string {
	var all []string
	for _, s := range m.Here() {
		if s.Files.PTX != "" {
			all = append(all, s.Path(s.Files.PTX))
		}
	}
	slices.Sort(all)
	return all
}
