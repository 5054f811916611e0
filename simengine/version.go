package simengine

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"strings"
	"sync"
)

// release is the number people speak of; it goes up with what they would notice.
const release = "1"

// source is the simulator's own source and data, so that Version changes with
// anything that can change a report, whether or not somebody remembers to.
//
//go:embed *.go arch assemble exec ir ptx timing trace verify
var source embed.FS

// Version names the simulator: its release and a digest of its source and data
// without the tests. It is part of every digest: a result of another version is
// never taken for an answer.
var Version = sync.OnceValue(func() string {
	h := sha256.New()
	err := fs.WalkDir(source, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		content, err := source.ReadFile(path)
		text(h, path)
		text(h, string(content))
		return err
	})
	if err != nil {
		panic(err) // embedded files can be read
	}
	return release + "-" + hex.EncodeToString(h.Sum(nil))[:10]
})
