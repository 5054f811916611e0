package explain

import (
	"path"
	"strconv"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// Case is a configuration, explained.
type Case struct {
	Config search.Config
	*evaluate.Study
	Launch    *call.Launch // nil for one that is not valid, as are Explained and the Report
	Subject   Subject
	Explained *Explanation
}

// NewCase explains a configuration by its study.
func NewCase(def *kernel.Definition, d *arch.Descriptor, config search.Config, problem []int64, s *evaluate.Study) (Case, error) {
	c := Case{Config: config, Study: s}
	if s.Report == nil {
		return c, nil
	}
	var err error
	if c.Launch, err = def.Launch(config, problem); err != nil {
		return c, err
	}
	block, grid := c.Launch.Block, c.Launch.Grid
	c.Subject = Subject{
		Report: s.Report, WhatIfs: s.WhatIfs, Caps: s.Caps, Arch: d, Source: sourceOf(c.Launch),
		Threads: int(block[0] * block[1] * block[2]), CTAs: grid[0] * grid[1] * grid[2], Config: config,
	}
	c.Explained = Explain(&c.Subject)
	return c, nil
}

// sourceOf gives the text of lines of a launch's source.
func sourceOf(l *call.Launch) func(string) string {
	lines := strings.Split(string(l.Compile.Source), "\n")
	return func(line string) string {
		file, number, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(lines) || path.Base(l.Compile.SourceFile) != path.Base(file) {
			return ""
		}
		return strings.TrimSpace(lines[n-1])
	}
}

// Document is what explain prints as JSON (docs/explain.schema.json).
type Document struct {
	Schema         string             `json:"schema"`
	Kernel         string             `json:"kernel"`
	Arch           string             `json:"arch"`
	Level          string             `json:"level"`
	Chosen         string             `json:"chosen,omitempty"`
	Configurations []CaseDocument     `json:"configurations"`
	Comparisons    []ComparedDocument `json:"comparisons,omitempty"`
}

// CaseDocument is a configuration in the document.
type CaseDocument struct {
	Parameters  search.Config     `json:"parameters"`
	Validity    string            `json:"validity"`
	Message     string            `json:"message,omitempty"`
	Compiler    string            `json:"compiler,omitempty"`
	Explanation *Explanation      `json:"explanation,omitempty"`
	WhatIfs     []evaluate.WhatIf `json:"what_ifs,omitempty"`
	Report      *simengine.Report `json:"report,omitempty"`
}

// ComparedDocument is how a configuration differs from the first.
type ComparedDocument struct {
	From search.Config `json:"from"`
	To   search.Config `json:"to"`
	*Comparison
}

// NewDocument is the document of configurations of a kernel; chosen says where they come from, if nobody gave them.
func NewDocument(name, arch, level, chosen string, cases []Case) *Document {
	doc := &Document{Schema: "warptune.explain.v1", Kernel: name, Arch: arch, Level: level, Chosen: chosen}
	for i := range cases {
		c := &cases[i]
		o := &c.Outcome
		doc.Configurations = append(doc.Configurations, CaseDocument{c.Config, o.Validity.String(), o.Message, o.Compiler, c.Explained, c.WhatIfs, c.Report})
		if i > 0 && cases[0].Report != nil && c.Report != nil {
			doc.Comparisons = append(doc.Comparisons, ComparedDocument{cases[0].Config, c.Config, Compare(&cases[0].Subject, &c.Subject)})
		}
	}
	return doc
}
