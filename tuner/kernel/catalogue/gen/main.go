// Command gen regenerates the built-in kernels' prebuilt PTX: prebuilt/NAME.zst
// and prebuilt/index.json beside it. It runs in the catalogue's folder (go
// generate, make catalogue).
//
// By default it compiles, with nvcc or else clang, the kernels whose archive does not fit their source and
// definition. With -from it takes existing PTX instead, which -records names: records with kernel, params and ptx
// (a file's stem), one JSON object a line, gzip or plain. The same PTX gives the same bytes. -lines writes the
// source lines of PTX that has some (see writeLines).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := generate(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	names := flags.String("kernels", "", "comma-separated `names`; default: those whose archive is stale")
	all := flags.Bool("all", false, "regenerate every kernel")
	compiler := flags.String("compiler", "", "nvcc, clang or a program; default: nvcc, else clang")
	target := flags.String("target", "sm_90", "architecture to compile for")
	from := flags.String("from", "", "take PTX from this `folder` instead of compiling")
	records := flags.String("records", "", "with -from: `file` of records that name the PTX")
	label := flags.String("label", "", "with -from: the compiler that made the PTX, e.g. \"nvrtc 13.0\"")
	lines := flags.String("lines", "", "write prebuilt/lines.zst from the PTX with lines in this `folder`, and nothing else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *lines != "" {
		return writeLines(*lines)
	}
	var src ptxSource
	var err error
	if *from != "" {
		src, err = newRecorded(*from, *records, *label)
	} else {
		src, err = newCompiling(*compiler, *target)
	}
	if err != nil {
		return err
	}
	wanted, err := choose(*names, *all)
	if err != nil {
		return err
	}
	index, err := catalogue.Index()
	if err != nil {
		return err
	}
	for _, k := range wanted {
		p, err := build(ctx, k, src)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		index = slices.DeleteFunc(index, func(x catalogue.Provenance) bool { return x.Kernel == k.Name })
		index = append(index, p)
		// After each kernel, so that an interrupted run leaves a matching pair.
		if err := writeIndex(index); err != nil {
			return err
		}
		fmt.Printf("%-16s %4d variants by %s for %s\n", p.Kernel, p.Variants, p.Compiler, p.Target)
	}
	return nil
}

// choose lists the kernels to regenerate.
func choose(names string, all bool) ([]*catalogue.Kernel, error) {
	if names != "" {
		var out []*catalogue.Kernel
		for _, n := range strings.Split(names, ",") {
			k, err := catalogue.Open(n)
			if err != nil {
				return nil, err
			}
			out = append(out, k)
		}
		return out, nil
	}
	if all {
		return catalogue.All(), nil
	}
	var out []*catalogue.Kernel
	for _, k := range catalogue.All() {
		why, err := catalogue.Stale(k)
		if err != nil {
			return nil, err
		}
		if why != "" {
			fmt.Printf("%s: %s\n", k.Name, why)
			out = append(out, k)
		}
	}
	return out, nil
}

// build makes and writes one kernel's archive.
func build(ctx context.Context, k *catalogue.Kernel, src ptxSource) (catalogue.Provenance, error) {
	digest, variants, err := catalogue.CompileVariants(k)
	if err != nil {
		return catalogue.Provenance{}, err
	}
	results := make([]compile.Result, len(variants))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, v := range variants {
		g.Go(func() (err error) {
			results[i], err = src.ptx(ctx, k.Name, v)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return catalogue.Provenance{}, err
	}
	p := catalogue.Provenance{Kernel: k.Name, Source: digest, Compiler: results[0].Compiler, Target: results[0].Target, Variants: len(variants)}
	out := make([]catalogue.Variant, len(variants))
	for i, r := range results {
		if r.Compiler != p.Compiler || r.Target != p.Target {
			return p, fmt.Errorf("%s is by %s for %s, others by %s for %s", variants[i].Macros, r.Compiler, r.Target, p.Compiler, p.Target)
		}
		out[i] = catalogue.Variant{Macros: variants[i].Macros, PTX: r.PTX}
	}
	archive, sum, err := catalogue.EncodeArchive(out)
	if err == nil {
		archive, sum, err = smaller(archive, sum)
	}
	if err != nil {
		return p, err
	}
	p.SHA256 = sum
	return p, os.WriteFile(filepath.Join("prebuilt", k.Name+".zst"), archive, 0o644)
}
