package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each rule is broken once; each breach is named with its place.
func TestLintNamesWhatIsWrong(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "bad")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const source = `syntax = "proto3";
package worse;
// Commented.
message thing {
  // Commented.
  int64 camelCase = 1;
  int64 bare = 2;
}
// Commented.
enum Kind {
  // Commented.
  NONE = 0;
}
// Commented.
service Things {
  // Commented.
  rpc Do(thing) returns (thing);
}
`
	if err := os.WriteFile(filepath.Join(dir, "bad.proto"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := compile(root, []string{"bad/bad.proto"})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lint(files), "\n")
	for _, want := range []string{
		"package worse has no version suffix", "package worse does not live in worse", "bad/bad.proto:4:1: thing: is not spelled",
		"bad/bad.proto:6:3: camelCase: is not spelled", "bad/bad.proto:7:3: bare: has no comment", "NONE: does not begin with KIND_",
		"the zero value is not called KIND_UNSPECIFIED", "Things: does not end in Service", "Do: takes thing, want DoRequest", "Do: returns thing, want DoResponse",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no complaint %q in\n%s", want, text)
		}
	}
}

// The project's own definitions meet the rules.
func TestOwnDefinitionsAreClean(t *testing.T) {
	names, err := sources("..")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	files, err := compile("..", names)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range lint(files) {
		t.Error(c)
	}
}
