package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Wall is what a compiler may touch of the machine while it has a submitter's
// source in hand. On Linux the kernel holds it to that (Landlock, from 5.13 on),
// with every sub-process; on older kernels and other systems nothing does, and
// there is only what a driver does itself: clang's view, and nvcc's diagnostics
// being looked through.
type Wall struct {
	work string   // a directory to work in; nothing else is written to
	read []string // files and directories to read and run programs from, if they exist
}

// systemFiles are what programs need to start, and toolkits to compile.
var systemFiles = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt/cuda", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
	"/dev/zero", "/dev/random", "/dev/urandom",
}

// hostCompilers are what nvcc runs.
var hostCompilers = []string{"gcc", "g++", "cc", "c++", "cpp", "as", "ld"}

// NewWall returns the wall round a directory for a compiler at an absolute path.
func NewWall(dir, program string) *Wall {
	all := &Wall{work: dir, read: append([]string(nil), systemFiles...)}
	all.install(program)
	for _, name := range hostCompilers {
		if path, err := exec.LookPath(name); err == nil {
			all.install(path)
		}
	}
	return all
}

// Grant adds a directory to read from; "" is none.
func (w *Wall) Grant(dir string) *Wall {
	if dir != "" {
		w.read = append(w.read, dir)
	}
	return w
}

// install adds where a program is installed: PREFIX of PREFIX/bin/program, as
// it is named and as it really is. Somebody's home, or all there is, is no such
// place: then it is the program's directory.
func (w *Wall) install(program string) {
	for _, follow := range []func(string) (string, error){filepath.Abs, filepath.EvalSymlinks} {
		path, err := follow(program)
		if err != nil {
			continue
		}
		bin := filepath.Dir(path)
		prefix := filepath.Dir(bin)
		if home, err := os.UserHomeDir(); prefix == "/" || filepath.Base(bin) != "bin" || err == nil && strings.HasPrefix(home+"/", prefix+"/") {
			prefix = bin
		}
		w.read = append(w.read, prefix)
	}
}
