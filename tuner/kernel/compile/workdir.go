package compile

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner/kernel/source"
)

// deviceFiles are the headers that stand in for the CUDA toolkit's under clang.
//
//go:embed device
var deviceFiles embed.FS

// clangFiles are how clang is called and what is done to its output on the way.
//
//go:embed clang.go clang_find.go clang_headers.go clang_host.go clang_prune.go clang_steps.go clang_target.go reached.go tail.go
//go:embed asnvcc/addresses.go asnvcc/alignment.go asnvcc/arithmetic.go asnvcc/asnvcc.go asnvcc/bytes.go asnvcc/convergence.go asnvcc/entry.go asnvcc/fragments.go asnvcc/invariant.go asnvcc/known.go asnvcc/launch.go asnvcc/lines.go asnvcc/nests.go asnvcc/places.go asnvcc/pointers.go asnvcc/unlaunchable.go asnvcc/vectorcopy.go
//go:embed asnvcc/stages/finish.go asnvcc/stages/loops.go asnvcc/stages/pointers.go asnvcc/stages/shared.go
//go:embed dialect/alignas.go dialect/assembly.go dialect/pragmas.go dialect/unroll.go
//go:embed prune/cut.go prune/mask.go prune/outline.go prune/reach.go
var clangFiles embed.FS

// deviceDigest is the digest of deviceFiles and clangFiles: what we make with clang depends on them.
var deviceDigest = sync.OnceValue(func() string {
	var all bytes.Buffer
	for _, files := range []embed.FS{deviceFiles, clangFiles} {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := files.ReadFile(name)
			fmt.Fprintf(&all, "%s %d\n%s", name, len(b), b)
			return err
		})
		if err != nil {
			panic(err) // an embedded file system always reads
		}
	}
	return digest(all.Bytes())
})

// workdir is the private directory of one compilation:
//
//	src/     the bundle's files, where the compiler runs
//	macros.h the macros, one #define each
//	device/  the device headers, under clang, where they are kept nowhere else
//	hostlibs/ headers of libraries of the host, under nvcc
//	view.json what clang sees of the file system: this directory, and the device headers
//	out.ll   what clang's front end writes
//	optimised.ll what it makes of that before its back end, where it stands in for nvcc
//	out.ptx  what the compiler writes
type workdir string

// newWorkdir creates one; the caller calls remove.
func newWorkdir(s *source.Source) (workdir, error) {
	root, err := os.MkdirTemp("", "warptune-compile-")
	if err != nil {
		return "", fmt.Errorf("directory for a compilation: %w", err)
	}
	// The compiler reports real paths.
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	w := workdir(root)
	for name, b := range s.Files {
		if err == nil {
			err = w.write("src/"+name, b)
		}
	}
	if err == nil {
		err = w.write("macros.h", macroHeader(s))
	}
	if err != nil {
		w.remove()
		return "", fmt.Errorf("directory for a compilation: %w", err)
	}
	return w, nil
}

// macroHeader defines the macros. A header, not -D: it keeps values out of every
// command line, whatever a compiler driver does with its own sub-processes.
func macroHeader(s *source.Source) []byte {
	var b bytes.Buffer
	for _, m := range s.Macros {
		fmt.Fprintf(&b, "#define %s %s\n", m.Name, m.Value)
	}
	return b.Bytes()
}

func (w workdir) write(name string, b []byte) error {
	p := w.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		return err
	}
	return os.WriteFile(p, b, 0o600)
}

func (w workdir) path(name string) string { return filepath.Join(string(w), filepath.FromSlash(name)) }

// named are the directories of this machine that a compiler's message may name, each followed by what stands for it.
func (w workdir) named() []string {
	return []string{string(w) + string(os.PathSeparator), "", deviceMount + "/", "device/"}
}

// rewrite replaces the contents of a file.
func (w workdir) rewrite(name string, change func([]byte) []byte) error {
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		return err
	}
	return os.WriteFile(w.path(name), change(b), 0o600)
}

// output reads what the compiler wrote.
func (w workdir) output() ([]byte, error) { return os.ReadFile(w.path("out.ptx")) }

// outside names a file that the dependency list deps.d shows to lie outside the
// directory and to be no device header, "" when there is none.
func (w workdir) outside(headers mount) (string, error) {
	b, err := os.ReadFile(w.path("deps.d"))
	if err != nil {
		return "", err
	}
	_, list, _ := strings.Cut(string(b), ":")
	for _, f := range prerequisites(list) {
		abs := f
		if !filepath.IsAbs(f) {
			abs = filepath.Join(w.path("src"), f)
		}
		if strings.HasPrefix(f, deviceMount+"/") || headers.dir != "" && strings.HasPrefix(f, headers.dir+"/") {
			continue
		}
		if rel, err := filepath.Rel(string(w), abs); err != nil || strings.HasPrefix(rel, "..") {
			return f, nil
		}
	}
	return "", nil
}

// prerequisites splits "a b \<newline> c" as make does, in which a blank of a name has a \ before
// it, and a $ another.
func prerequisites(list string) []string {
	list = strings.ReplaceAll(list, "\\\n", " ")
	list = strings.ReplaceAll(list, `\ `, "\x00")
	var names []string
	for _, f := range strings.Fields(list) {
		names = append(names, strings.NewReplacer("\x00", " ", "$$", "$", `\#`, "#").Replace(f))
	}
	return names
}

var absolutePath = regexp.MustCompile(`(?m)(?:^|[\s"'(])(/[^\s:"'()]+)`)

// foreign names a file that a diagnostic speaks of and that is neither of the directory nor of the compiler's
// installation: the diagnostic may quote it. It is "" when there is none. There is no view for nvcc as for clang,
// and not every system holds it to a wall.
func (w workdir) foreign(message, compiler string) string {
	installed, err := filepath.EvalSymlinks(compiler)
	if err != nil {
		installed = compiler
	}
	known := []string{string(w), filepath.Dir(filepath.Dir(installed)), filepath.Dir(filepath.Dir(compiler)), "/usr/include", "/usr/lib", "/usr/local/cuda"}
	for _, m := range absolutePath.FindAllStringSubmatch(message, -1) {
		path := filepath.Clean(m[1])
		if _, err := os.Stat(path); err == nil && !slices.ContainsFunc(known, func(dir string) bool { return dir != "/" && strings.HasPrefix(path, dir+"/") }) {
			return m[1]
		}
	}
	return ""
}

func (w workdir) remove() { _ = os.RemoveAll(string(w)) }
