package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// ptxSource makes the PTX of a kernel's compile variants and says who made it. It
// is safe for concurrent use.
type ptxSource interface {
	ptx(ctx context.Context, kernel string, v catalogue.CompileVariant) (compile.Result, error)
}

// compiling compiles, never from the catalogue itself.
type compiling struct {
	compiler *compile.Compiler
	target   string
}

func newCompiling(choice, target string) (*compiling, error) {
	if choice == "prebuilt" {
		return nil, errors.New("-compiler prebuilt is what is to be generated")
	}
	if choice == "" {
		limits := sandbox.DefaultLimits()
		return &compiling{compile.Of(compile.NewNVCC("", limits), compile.NewClang("", limits)), target}, nil
	}
	c, err := compile.New(compile.Options{Compiler: choice, CacheDir: "-"})
	return &compiling{c, target}, err
}

func (c *compiling) ptx(ctx context.Context, _ string, v catalogue.CompileVariant) (compile.Result, error) {
	res, err := c.compiler.Compile(ctx, compile.Request{Compile: v.Compile, Target: c.target})
	var e *compile.Error
	if errors.As(err, &e) {
		return res, fmt.Errorf("%s: %w\n%s", v.Macros, err, e.Message)
	}
	return res, err
}

// recorded takes PTX from a folder.
type recorded struct {
	dir, label string
	stems      map[string]map[string]string // kernel, macros -> file stem
}

// record is what of a measurement's record names its PTX.
type record struct {
	Kernel string                 `json:"kernel"`
	Params map[string]json.Number `json:"params"`
	PTX    string                 `json:"ptx"`
}

func newRecorded(dir, records, label string) (*recorded, error) {
	if records == "" || label == "" {
		return nil, errors.New("-from needs -records and -label")
	}
	text, err := readPlain(records)
	if err != nil {
		return nil, err
	}
	r := &recorded{dir: dir, label: label, stems: map[string]map[string]string{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var rec record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", records, n, err)
		}
		if err := r.add(rec); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", records, n, err)
		}
	}
	return r, lines.Err()
}

// add notes which compile variant a record's PTX is.
func (r *recorded) add(rec record) error {
	k, err := catalogue.Open(rec.Kernel)
	if err != nil {
		return nil // records may hold other kernels too
	}
	c := call.Compile{Language: call.CUDA, SourceFile: k.SourceName(), Source: k.Source()}
	for name, value := range rec.Params {
		c.Macros = append(c.Macros, call.Macro{Name: name, Value: value.String()})
	}
	src, err := source.Read(c)
	if err != nil {
		return err
	}
	if r.stems[rec.Kernel] == nil {
		r.stems[rec.Kernel] = map[string]string{}
	}
	key := src.MacroKey()
	if old := r.stems[rec.Kernel][key]; old != "" && old != rec.PTX {
		return fmt.Errorf("%s has PTX %s and %s", key, old, rec.PTX)
	}
	r.stems[rec.Kernel][key] = rec.PTX
	return nil
}

var (
	stem       = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	targetLine = regexp.MustCompile(`(?m)^\.target\s+(sm_\w+)`)
)

func (r *recorded) ptx(_ context.Context, kernel string, v catalogue.CompileVariant) (compile.Result, error) {
	name := r.stems[kernel][v.Macros]
	if !stem.MatchString(name) {
		return compile.Result{}, fmt.Errorf("no record names the PTX of %s", v.Macros)
	}
	b, err := os.ReadFile(filepath.Join(r.dir, name+".ptx"))
	if err != nil {
		return compile.Result{}, err
	}
	m := targetLine.FindSubmatch(b)
	if m == nil {
		return compile.Result{}, fmt.Errorf("%s.ptx has no .target", name)
	}
	return compile.Result{PTX: b, Compiler: r.label, Target: string(m[1])}, nil
}

// readPlain reads a file, decompressed if it is gzip.
func readPlain(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return io.ReadAll(z)
}

// writeIndex writes prebuilt/index.json in the order the kernels are listed.
func writeIndex(index []catalogue.Provenance) error {
	names := catalogue.Names()
	slices.SortFunc(index, func(a, b catalogue.Provenance) int {
		return slices.Index(names, a.Kernel) - slices.Index(names, b.Kernel)
	})
	index = slices.DeleteFunc(index, func(p catalogue.Provenance) bool { return !slices.Contains(names, p.Kernel) })
	b, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("prebuilt", "index.json"), append(b, '\n'), 0o644)
}
