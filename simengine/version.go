package simengine

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"go/scanner"
	"go/token"
	"io/fs"
	"strings"
	"sync"
)

// release is the number people speak of; it goes up with what they would notice.
const release = "1"

// source is the code that a report depends on: this package and every package
// of ours that it imports. TestVersionCoversDependencies holds the list to what
// the Go tool says. The figures of GPUs are not part of it: a question names its
// descriptor by a digest of its own.
//
//go:embed *.go
//go:embed arch/*.go disjoint/*.go ideal/*.go ir/*.go ir/alias/*.go ir/bounds/*.go ir/demangle/*.go ir/flop/*.go ir/lower/*.go ir/origin/*.go ir/slice/*.go ir/sroa/*.go ir/unroll/*.go ptx/*.go sampling/*.go trace/*.go verify/*.go
//go:embed assemble/*.go assemble/converge/*.go assemble/hir/*.go assemble/hir/opt/*.go assemble/isel/*.go assemble/isel/expansion/*.go
//go:embed assemble/mir/*.go assemble/mir/peephole/*.go assemble/regalloc/*.go assemble/rules/*.go
//go:embed assemble/sched/*.go assemble/target/*.go assemble/vreg/*.go
//go:embed exec/*.go exec/alu/*.go exec/element/*.go exec/fault/*.go exec/internal/code/*.go exec/loopsample/*.go exec/mbarrier/*.go exec/memory/*.go exec/mma/*.go exec/racecheck/*.go exec/tensormap/*.go exec/texture/*.go
//go:embed timing/*.go timing/analytic/*.go timing/cache/*.go timing/clock/*.go timing/coalesce/*.go timing/cost/*.go
//go:embed timing/dram/*.go timing/footprint/*.go timing/makespan/*.go timing/pending/*.go
var source embed.FS

// Version names the simulator: its release and a digest of its code, without
// tests, comments and layout. It changes with anything that can change a report,
// whether or not somebody remembers to. It is part of every digest: a result of
// another version is never taken for an answer.
var Version = sync.OnceValue(version)

func version() string {
	var paths []string
	err := fs.WalkDir(source, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		panic(err) // embedded folders can be read
	}
	return release + "-" + hex.EncodeToString(digestOf(paths))[:10]
}

// digestOf is the digest of embedded files. Every command waits for it: files are read in parallel.
func digestOf(paths []string) []byte {
	codes := make([]string, len(paths))
	var g sync.WaitGroup
	for i, path := range paths {
		g.Go(func() {
			content, err := source.ReadFile(path)
			if err != nil {
				panic(err) // embedded files can be read
			}
			codes[i] = string(code(content))
		})
	}
	g.Wait()
	h := sha256.New()
	for i, path := range paths {
		text(h, path, codes[i])
	}
	return h.Sum(nil)
}

// code is the tokens of a Go file, a line each. Comments and white space leave no
// trace but for compiler directives (//go:...), which can change a program.
func code(src []byte) []byte {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, scanner.ScanComments)
	out := make([]byte, 0, len(src))
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return out
		case tok == token.COMMENT && !strings.HasPrefix(lit, "//go:"):
			continue
		case tok == token.SEMICOLON:
			lit = ";" // the scanner gives "\n" for one that a line's end implies
		case lit == "":
			lit = tok.String()
		}
		out = append(append(out, lit...), '\n')
	}
}
