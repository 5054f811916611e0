package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// deviceMount is where clang sees the device headers, wherever they are.
const deviceMount = "/warptune-device"

// mount is what clang finds there in a compilation.
type mount struct {
	dir         string // "": the compilation's own directory
	precompiled string // the file in dir with what device.h comes to; ""; none
}

// include is how the front end comes to device.h.
func (m mount) include() []string {
	if m.precompiled == "" {
		return []string{"-include", "warptune/device.h"}
	}
	return []string{"-Xclang", "-include-pch", "-Xclang", deviceMount + "/" + m.precompiled}
}

var precompiledRefused = regexp.MustCompile(`PCH file|precompiled header|AST file|module file|compiler crashed`)

// refused reports whether a message is about the precompiled header and not about the source.
func (m mount) refused(message string) bool {
	return m.precompiled != "" && precompiledRefused.MatchString(message)
}

// headers are the device headers in a Clang's directory for them: DIR/device-DIGEST/ has their files and, by a
// digest of the compiler and its flags, and their own, KEY-DIGEST.pch of them precompiled. What is there is compared before it is used
// first, and what a process does not find right it does without.
type headers struct {
	mu          sync.Mutex
	looked      bool
	dir         string            // "": none
	old         bool              // an earlier process made it
	compiled    map[string]int    // compilations so far, by KEY
	precompiled map[string]string // names of files, "": not to be had
}

// mount has the device headers ready for a compilation with the flags.
func (c *Clang) mount(ctx context.Context, w workdir, f *clang, flags []string) (mount, error) {
	m := c.kept(ctx, f, flags)
	dir := m.dir
	if dir == "" {
		dir = w.path("device")
		if err := writeDevice(dir); err != nil {
			return mount{}, err
		}
	}
	return m, w.writeView(dir)
}

// mostPrecompiled bounds the files of one directory, some 1.2 MB each: flags may be the configuration's.
const mostPrecompiled = 64

// kept is what the directory has for a compilation. They are precompiled, which takes as long as two compilations without, for
// the second with the same flags, or the first where warptune ran before.
func (c *Clang) kept(ctx context.Context, f *clang, flags []string) mount {
	h := &c.headers
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.looked && c.keep != "" {
		h.looked = true
		h.dir, h.old = keptDevice(c.keep)
		h.compiled, h.precompiled = map[string]int{}, map[string]string{}
	}
	if h.dir == "" {
		return mount{}
	}
	key := headersKey(f, flags)
	h.compiled[key]++
	name, known := h.precompiled[key]
	if known {
		return mount{h.dir, name}
	}
	again := h.old || h.compiled[key] > 1
	if name = findPrecompiled(h.dir, key); name == "" && again && countPrecompiled(h.dir) < mostPrecompiled {
		name = c.precompile(ctx, f, flags, key)
	}
	if name != "" || again && ctx.Err() == nil {
		h.precompiled[key] = name
	}
	return mount{h.dir, name}
}

func headersKey(f *clang, flags []string) string {
	return digest([]byte(strings.Join(slices.Concat([]string{f.program, f.version}, flags), "\x00")))[:16]
}

// withoutPrecompiled goes on without a precompiled header that clang refuses.
func (k *compilation) withoutPrecompiled() {
	h := &k.c.headers
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = os.Remove(filepath.Join(h.dir, k.headers.precompiled))
	h.precompiled[headersKey(k.f, k.flags())] = ""
	k.headers.precompiled = ""
}

// keptDevice returns the headers' directory below a directory, which it makes if it is not there; "": it cannot.
func keptDevice(below string) (dir string, old bool) {
	dir = filepath.Join(below, "device-"+deviceDigest()[:16])
	if sameDevice(dir) {
		return realPath(dir), true
	}
	if os.MkdirAll(below, 0o755) != nil {
		return "", false
	}
	made, err := os.MkdirTemp(below, ".device-")
	if err != nil {
		return "", false
	}
	defer os.RemoveAll(made)
	if os.Chmod(made, 0o755) != nil || writeDevice(made) != nil {
		return "", false
	}
	_ = os.RemoveAll(dir) // one that is damaged
	if _ = os.Rename(made, dir); !sameDevice(dir) {
		return "", false
	}
	return realPath(dir), false
}

func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

// deviceTexts are all device headers, by name.
var deviceTexts = sync.OnceValue(func() map[string][]byte {
	texts := map[string][]byte{}
	for name, text := range hostFiles() {
		texts[name] = []byte(text)
	}
	err := fs.WalkDir(deviceFiles, "device", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		texts[strings.TrimPrefix(name, "device/")], err = deviceFiles.ReadFile(name)
		return err
	})
	if err != nil {
		panic(err) // an embedded file system always reads
	}
	return texts
})

// sameDevice reports whether a directory has the device headers, byte for byte.
func sameDevice(dir string) bool {
	for name, text := range deviceTexts() {
		if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !bytes.Equal(b, text) {
			return false
		}
	}
	return true
}

func writeDevice(dir string) error {
	for name, text := range deviceTexts() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeView says what clang sees of the file system: the compilation's directory, and the device headers in dir, by that
// name too: the file that was precompiled has to be an ordinary one.
func (w workdir) writeView(dir string) error {
	root := func(name, dir string) map[string]string {
		return map[string]string{"type": "directory-remap", "name": name, "external-contents": dir}
	}
	view, err := json.Marshal(map[string]any{
		"version": 0, "case-sensitive": true, "use-external-names": false, "fallthrough": false,
		"roots": []any{root(string(w), string(w)), root(deviceMount, dir), root(dir, dir)},
	})
	if err != nil {
		return err
	}
	return w.write("view.json", view)
}

// findPrecompiled returns an intact file of a key, "" where there is none.
func findPrecompiled(dir, key string) string {
	names, _ := filepath.Glob(filepath.Join(dir, key+"-*.pch")) // the pattern is well formed
	for _, path := range names {
		if b, err := os.ReadFile(path); err == nil && filepath.Base(path) == precompiledName(key, b) {
			return filepath.Base(path)
		}
	}
	return ""
}

func countPrecompiled(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "*.pch")) // the pattern is well formed
	return len(names)
}

func precompiledName(key string, b []byte) string {
	return fmt.Sprintf("%s-%s.pch", key, digest(b)[:16])
}

// precompile makes the file of a key and returns its name; "": it cannot.
func (c *Clang) precompile(ctx context.Context, f *clang, flags []string, key string) string {
	dir := c.headers.dir
	w, err := newWorkdir(&source.Source{Files: map[string][]byte{"none": nil}})
	if err != nil {
		return ""
	}
	defer w.remove()
	if w.writeView(dir) != nil {
		return ""
	}
	args := append(slices.Clone(flags), "-w", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-S", "-o", "../device.pch", filepath.Join(dir, "warptune", "precompiled.h"))
	e, err := sandbox.Run(ctx, c.limits, sandbox.NewWall(string(w), f.program).Grant(dir), w.path("src"), f.program, args...)
	if err != nil || e.Code != 0 || e.Killed != "" {
		return ""
	}
	b, err := os.ReadFile(w.path("device.pch"))
	if err != nil {
		return ""
	}
	name := precompiledName(key, b)
	if writeWhole(filepath.Join(dir, name), b) != nil {
		return ""
	}
	return name
}
