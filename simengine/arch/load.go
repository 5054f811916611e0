package arch

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
)

// The data files: ccX.Y.json holds what every GPU of a compute capability
// shares, cc-common.json what most capabilities do; the others are one GPU each.
// A file names its base, and its numbers replace the base's. A number that does
// not say so is not verified.
//
//go:embed data/*.json
var data embed.FS

// file is a descriptor file as written. Unknown fields are errors.
type file struct {
	Name     string            `json:"name"`
	Aliases  []string          `json:"aliases"`
	Title    string            `json:"title"`
	Base     string            `json:"base"`
	CC       []int             `json:"cc"`
	CarveOut *list             `json:"carve_outs"`
	Numbers  map[string]Number `json:"numbers"`
}

// list is a figure with several values.
type list struct {
	Values   []int  `json:"values"`
	Unit     string `json:"unit"`
	Source   string `json:"source"`
	Verified bool   `json:"verified"`
}

// catalogue is the embedded descriptors by name, decoded once.
type catalogue struct {
	names  []string // sorted
	byName map[string]*Descriptor
	alias  map[string]string
}

var embedded = sync.OnceValues(readEmbedded)

// Names lists the embedded architectures, sorted.
func Names() []string {
	c, err := embedded()
	if err != nil {
		return nil
	}
	return append([]string(nil), c.names...)
}

// Load returns the embedded descriptor of that name or alias; letter case,
// spaces, dashes and underscores do not matter. The error for an unknown name is
// an *UnknownError.
func Load(name string) (*Descriptor, error) {
	c, err := embedded()
	if err != nil {
		return nil, err
	}
	if d, ok := c.byName[c.alias[fold(name)]]; ok {
		return d, nil
	}
	return nil, &UnknownError{Name: name, Nearest: nearest(fold(name), c), Known: c.names}
}

// Parse reads a user's descriptor: a GPU file as those in data. Its base may be
// one of the embedded bases or an embedded GPU; without a base the file must hold
// every figure. All that is wrong with it is reported in one error.
func Parse(content []byte) (*Descriptor, error) {
	chain, err := readChain(content)
	if err != nil {
		return nil, err
	}
	return build(chain)
}

// Over reads a user's descriptor as Parse does. own says which figures its file holds
// itself, was has those of what it is based on.
func Over(content []byte) (d *Descriptor, was map[string]Number, own map[string]bool, err error) {
	chain, err := readChain(content)
	if err != nil {
		return nil, nil, nil, err
	}
	if d, err = build(chain); err != nil {
		return nil, nil, nil, err
	}
	was = map[string]Number{}
	for _, f := range slices.Backward(chain[1:]) {
		maps.Copy(was, f.Numbers)
	}
	own = map[string]bool{}
	for name := range chain[0].Numbers {
		own[name] = true
	}
	return d, was, own, nil
}

// readChain decodes a descriptor file and those that it is based on, most specific first.
func readChain(content []byte) ([]*file, error) {
	f, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("architecture descriptor: %w", err)
	}
	chain := []*file{f}
	for base := f.Base; base != ""; {
		content, err := data.ReadFile("data/" + base + ".json")
		if err != nil || len(chain) > 8 {
			return nil, fmt.Errorf("architecture descriptor %q: unknown base %q (known: %s)", f.Name, base, strings.Join(bases(), ", "))
		}
		b, err := decode(content)
		if err != nil {
			return nil, fmt.Errorf("architecture base %q: %w", base, err)
		}
		chain = append(chain, b)
		base = b.Base
	}
	return chain, nil
}

func decode(content []byte) (*file, error) {
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	f := new(file)
	if err := dec.Decode(f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the end of the descriptor")
	}
	return f, nil
}

func readEmbedded() (*catalogue, error) {
	entries, err := data.ReadDir("data")
	if err != nil {
		return nil, err
	}
	c := &catalogue{byName: map[string]*Descriptor{}, alias: map[string]string{}}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "cc") {
			continue
		}
		content, err := data.ReadFile("data/" + e.Name())
		if err != nil {
			return nil, err
		}
		d, err := Parse(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if e.Name() != d.Name+".json" {
			return nil, fmt.Errorf("%s: descriptor is named %q", e.Name(), d.Name)
		}
		for _, a := range append([]string{d.Name}, d.Aliases...) {
			if other, taken := c.alias[fold(a)]; taken && other != d.Name {
				return nil, fmt.Errorf("%s: name %q is taken by %q", e.Name(), a, other)
			}
			c.alias[fold(a)] = d.Name
		}
		c.byName[d.Name] = d
		c.names = append(c.names, d.Name)
	}
	sort.Strings(c.names)
	return c, nil
}

// bases lists what a descriptor may be based on.
func bases() []string {
	entries, err := data.ReadDir("data")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}
