package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Fetch says where files of a set are that a checkout does not carry: in the repository's history.
type Fetch struct {
	File   string `json:"file,omitempty"`   // in the set's directory; "": all of it that no other entry names
	Commit string `json:"commit,omitempty"` // full hash; "": the manifest's
	Path   string `json:"path,omitempty"`   // of the file or directory in that commit; "": as it is now
	SHA256 string `json:"sha256"`           // of a file; of a directory as Sum says
}

func (f *Fetch) check() error {
	if !commitForm.MatchString(f.Commit) || f.Path == "" || !sumForm.MatchString(f.SHA256) {
		return fmt.Errorf("a commit's 40 digits, a path and the 64 digits of a sha256 are needed")
	}
	return nil
}

// Fetchable returns the sets of which something is to be fetched, and the results and programs as two of these names.
func (m *Manifest) Fetchable() []*Set {
	all := []*Set{m.results(), m.programs()}
	for i := range m.Sets {
		all = append(all, &m.Sets[i])
	}
	return slices.DeleteFunc(all, func(s *Set) bool { return len(s.Fetch) == 0 })
}

func (m *Manifest) results() *Set {
	return &Set{Name: "results", Fetch: m.Results, dir: filepath.Join(m.dir, "../results")}
}

func (m *Manifest) programs() *Set {
	return &Set{Name: "programs", Fetch: m.Programs, dir: filepath.Join(m.dir, "..")}
}

// Fetched reports whether what an entry names is here. It is an error if that is something else than was fetched.
func (s *Set) Fetched(f Fetch) (bool, error) {
	var except []string
	for _, other := range s.Fetch {
		if f.File == "" && other.File != "" {
			except = append(except, other.File)
		}
	}
	path := filepath.Join(s.dir, f.File)
	switch sum, err := Sum(path, except...); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case sum != f.SHA256:
		return true, fmt.Errorf("%s has another sha256 than the manifest says: remove it and fetch it again by \"make data\"", path)
	}
	return true, nil
}

// Sum is the sha256 of a file, in hex; of a directory, that of a line "sum  path" for each file below it, as sha256sum
// prints it, in the order of the paths. The files excepted are left out; a directory without others does not exist.
func Sum(path string, except ...string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return sumOf(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	}
	var lines []byte
	dir := os.DirFS(path)
	err = fs.WalkDir(dir, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || slices.Contains(except, file) {
			return err
		}
		sum, err := sumOf(dir, file)
		lines = fmt.Appendf(lines, "%s  %s\n", sum, file)
		return err
	})
	if err == nil && lines == nil {
		err = &fs.PathError{Op: "sum", Path: path, Err: fs.ErrNotExist}
	}
	return hexSum(lines), err
}

func sumOf(dir fs.FS, file string) (string, error) {
	content, err := fs.ReadFile(dir, file)
	return hexSum(content), err
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
