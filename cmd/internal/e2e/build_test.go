package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/tunertest"
)

// module is the module's folder.
func module(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// built builds the commands of a source tree as make does, and returns their hashes.
func built(t *testing.T, source, cache string) map[string]string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", bin+string(filepath.Separator), "./cmd/coordinator", "./cmd/worker", "./cmd/warptune")
	cmd.Dir = source
	if cache != "" {
		cmd.Env = append(os.Environ(), "GOCACHE="+cache)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hashes := map[string]string{}
	for _, name := range []string{"coordinator", "worker", "warptune"} {
		content, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{source, bin, os.Getenv("HOME") + "/go/pkg"} {
			if bytes.Contains(content, []byte(path)) {
				t.Errorf("%s names %s, where it was built", name, path)
			}
		}
		hashes[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return hashes
}

// Two builds of the same source, in two places, are the same byte for byte. In the
// long form nothing that was compiled for one is used for the other.
func TestBuildsAreReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("builds")
	}
	here := module(t)
	there := filepath.Join(t.TempDir(), "elsewhere")
	list := exec.Command("git", "ls-files", "-z", "--", "*.go", "go.mod", "go.sum", "api", "search", "simengine", "tuner", "cmd", "deploy")
	list.Dir = here
	names, err := list.Output()
	if err != nil {
		t.Skipf("no git here that says what the source is: %v", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		if err := copyTo(filepath.Join(here, name), filepath.Join(there, name)); os.IsNotExist(err) {
			continue // it is deleted, and that is not committed yet
		} else if err != nil {
			t.Fatal(err)
		}
	}
	caches := [2]string{}
	if tunertest.Times(0, 1) == 1 {
		caches = [2]string{t.TempDir(), t.TempDir()}
	}
	first, second := built(t, here, caches[0]), built(t, there, caches[1])
	for name, hash := range first {
		if second[name] != hash {
			t.Errorf("%s is %s, built again elsewhere %s", name, hash, second[name])
		}
	}
}

func copyTo(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// The modules that are built from are those that go.sum names.
func TestModulesAreVerified(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every module")
	}
	cmd := exec.Command("go", "mod", "verify")
	cmd.Dir = module(t)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil && strings.Contains(text, "module lookup disabled") {
		t.Skipf("not all modules are in this machine's cache: %s", text)
	} else if err != nil || !strings.Contains(text, "all modules verified") {
		t.Errorf("%v: %s", err, out)
	}
}
