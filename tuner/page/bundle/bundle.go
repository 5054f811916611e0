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

// Names of the files of a bundle. Write compresses the script and the styles by gzip: their names then end in .gz.
const (
	Script = "page.js"
	Style  = "page.css"
	Digest = "SOURCES.sha256"
)

// static files are served as they are.
var static = []string{"index.html"}

// Build bundles the sources in the folder web, whose node_modules are installed, and returns the files by name.
func Build(web string) (map[string][]byte, error) {
	abs, err := filepath.Abs(web)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       abs,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "page"}},
		Outdir:              "dist",
		Bundle:              true,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		Format:              api.FormatESModule,
		Target:              api.ES2022,
		Charset:             api.CharsetUTF8,
		LegalComments:       api.LegalCommentsNone, // the licences stand above all
		Metafile:            true,
		LogLevel:            api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("bundling %s: %s (are the packages installed? make page-packages)", web, message(result.Errors[0]))
	}
	files := make(map[string][]byte)
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range static {
		if files[name], err = os.ReadFile(filepath.Join(abs, "src", name)); err != nil {
			return nil, err
		}
	}
	head, err := licences(abs, result.Metafile)
	if err != nil {
		return nil, err
	}
	files[Script] = append(head, files[Script]...)
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

// licences is a comment with the licence of every npm package that metafile says went into the bundle, each text once.
func licences(web, metafile string) ([]byte, error) {
	names, err := packages(metafile)
	if err != nil {
		return nil, err
	}
	var texts []string
	of := make(map[string][]string)
	for _, name := range names {
		title, text, err := licence(filepath.Join(web, "node_modules", name), name)
		if err != nil {
			return nil, err
		}
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], title)
	}
	var b bytes.Buffer
	b.WriteString("/*!\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "%s\n\n%s\n\n", strings.Join(of[text], ", "), text)
	}
	b.WriteString("*/\n")
	return b.Bytes(), nil
}

// packages are the npm packages that metafile says went into the bundle.
func packages(metafile string) ([]string, error) {
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	var names []string
	for path := range meta.Inputs {
		if _, rest, ok := strings.Cut(path, "node_modules/"); ok {
			parts := strings.SplitN(rest, "/", 3)
			name := parts[0]
			if strings.HasPrefix(name, "@") {
				name += "/" + parts[1]
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// licence is a package's name with version, and its licence's text.
func licence(dir, name string) (title, text string, err error) {
	about, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", "", err
	}
	var pkg struct{ Version, License string }
	if err := json.Unmarshal(about, &pkg); err != nil {
		return "", "", fmt.Errorf("%s: package.json: %w", name, err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "LICEN[SC]E*"))
	if err != nil || len(found) == 0 {
		return "", "", fmt.Errorf("%s is bundled but has no licence file", name)
	}
	words, err := os.ReadFile(found[0])
	if err != nil {
		return "", "", err
	}
	words = bytes.ReplaceAll(bytes.TrimSpace(words), []byte("*/"), []byte("* /"))
	return fmt.Sprintf("%s %s (%s)", name, pkg.Version, pkg.License), string(words), nil
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
