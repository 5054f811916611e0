// Package bundle makes the files that the page serves of their sources in tuner/page/web: esbuild's Go module bundles
// TypeScript, styles and npm packages. Only the generator and tests import it.
package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Names of the files of a bundle.
const (
	Script   = "app.js"
	Style    = "app.css"
	Licences = "LICENCES.txt"
	Digest   = "SOURCES.sha256"
)

// Build bundles the sources in the folder web, whose node_modules are installed, and returns the files by name.
func Build(web string) (map[string][]byte, error) {
	abs, err := filepath.Abs(web)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       abs,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "app"}},
		Outdir:              "dist",
		Bundle:              true,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		Format:              api.FormatIIFE,
		Target:              api.ES2022,
		Charset:             api.CharsetUTF8,
		LegalComments:       api.LegalCommentsNone, // the licences are a file of their own
		Metafile:            true,
		LogLevel:            api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("bundling %s: %s (are the packages installed? npm ci --prefix %s)", web, message(result.Errors[0]), web)
	}
	files := make(map[string][]byte)
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	if files[Licences], err = licences(abs, result.Metafile); err != nil {
		return nil, err
	}
	digest, err := SourcesDigest(web)
	if err != nil {
		return nil, err
	}
	files[Digest] = []byte(digest + "\n")
	return files, nil
}

func message(m api.Message) string {
	if m.Location == nil {
		return m.Text
	}
	return fmt.Sprintf("%s:%d: %s", m.Location.File, m.Location.Line, m.Text)
}

// licences is the licence text of every npm package that metafile says went into the bundle.
func licences(web, metafile string) ([]byte, error) {
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	var names []string
	for path := range meta.Inputs {
		if _, rest, ok := strings.Cut(path, "node_modules/"); ok {
			name, tail, _ := strings.Cut(rest, "/")
			if strings.HasPrefix(name, "@") {
				scoped, _, _ := strings.Cut(tail, "/")
				name += "/" + scoped
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b bytes.Buffer
	for _, name := range slices.Compact(names) {
		if err := licence(&b, filepath.Join(web, "node_modules", name), name); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func licence(b *bytes.Buffer, dir, name string) error {
	var pkg struct{ Version, License string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &pkg); err != nil {
		return fmt.Errorf("%s: package.json: %w", name, err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "LICEN[SC]E*"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("%s is bundled but has no licence file", name)
	}
	if text, err = os.ReadFile(found[0]); err != nil {
		return err
	}
	fmt.Fprintf(b, "%s %s (%s)\n\n%s\n\n", name, pkg.Version, pkg.License, bytes.TrimSpace(text))
	return nil
}

// SourcesDigest is the SHA-256 of the names and contents of the sources in the folder web and of its lock file.
func SourcesDigest(web string) (string, error) {
	sum := sha256.New()
	add := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(web, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", filepath.ToSlash(name), len(text))
		sum.Write(text)
		return nil
	}
	err := filepath.WalkDir(filepath.Join(web, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(path)
	})
	if err != nil {
		return "", err
	}
	if err := add(filepath.Join(web, "package-lock.json")); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
