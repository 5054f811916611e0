package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"unicode/utf8"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// bundleFormat is the version of bundle; readers refuse others by name.
const bundleFormat = "warptune-bundle/1"

// bundle is the JSON form of a definition with its files. Coordinator and
// workers exchange kernels in it, known by its digest.
type bundle struct {
	Format     string          `json:"format"`
	Name       string          `json:"name"`
	Definition json.RawMessage `json:"definition"` // compact, fields in the author's order
	Files      []bundleFile    `json:"files"`      // ascending by name
}

type bundleFile struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"` // when the contents are not UTF-8
}

// Bundle returns the canonical bytes of the definition and all its files, and
// their digest (sha-256, hex). For PTX it holds the files that exist for any
// combination of the parameters in the path.
func (d *Definition) Bundle() (data []byte, digest string, err error) {
	files, err := d.bundled()
	if err != nil {
		return nil, "", fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, d.text); err != nil {
		return nil, "", fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	b := bundle{Format: bundleFormat, Name: d.Name, Definition: compact.Bytes()}
	for _, name := range sortedKeys(files) {
		f := bundleFile{Name: name, Text: string(files[name])}
		if !utf8.Valid(files[name]) {
			f.Text, f.Data = "", files[name]
		}
		b.Files = append(b.Files, f)
	}
	data, err = json.Marshal(b)
	if err != nil {
		return nil, "", fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	return data, Digest(data), nil
}

// Digest returns the digest of a bundle's bytes: sha-256, hex.
func Digest(bundle []byte) string {
	sum := sha256.Sum256(bundle)
	return hex.EncodeToString(sum[:])
}

// bundled returns the files that launches need, by name.
func (d *Definition) bundled() (map[string][]byte, error) {
	if d.listed != nil {
		return d.bundledListed()
	}
	files := map[string][]byte{}
	if d.Language == call.PTX {
		var err error
		if files, err = d.bundledPTX(); err != nil {
			return nil, err
		}
	} else if d.source.missing != nil {
		return nil, fmt.Errorf("%s: %w", d.source.path, d.source.missing)
	} else {
		files[d.source.file] = d.source.text
	}
	maps.Copy(files, d.source.headers)
	for name, raw := range d.raws {
		files[name] = raw.Data
	}
	return files, nil
}

// maxVariants bounds the PTX files of a definition.
const maxVariants = 1 << 16

func (d *Definition) bundledPTX() (map[string][]byte, error) {
	var params []search.Param
	for _, name := range d.source.template.names() {
		for _, p := range d.params {
			if p.Name == name {
				params = append(params, p)
			}
		}
	}
	s, err := search.New(params, nil)
	if err != nil {
		return nil, err
	}
	if s.Size() > maxVariants {
		return nil, fmt.Errorf("%s: %d files are more than the %d of a bundle", d.source.path, s.Size(), maxVariants)
	}
	files := map[string][]byte{}
	for _, cfg := range s.All() {
		name := clean(d.source.template.expand(cfg))
		text, err := d.files.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", d.source.path, err)
		}
		files[name] = text
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: none of its %d files exist, the first is %s", d.source.path, s.Size(), clean(d.source.template.expand(s.At(0))))
	}
	return files, nil
}

// OpenBundle reads what Bundle wrote. The bytes are not checked against a
// digest: who fetched them by one compares it with Digest.
func OpenBundle(data []byte) (*Definition, []Warning, error) {
	var b bundle
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return nil, nil, fmt.Errorf("kernel bundle is damaged: %w", err)
	}
	if b.Format != bundleFormat {
		return nil, nil, fmt.Errorf("kernel bundle has format %q, this version reads %q", b.Format, bundleFormat)
	}
	files := call.Memory{}
	for _, f := range b.Files {
		if err := call.Inside(f.Name); err != nil {
			return nil, nil, fmt.Errorf("kernel bundle: %w", err)
		}
		files[f.Name] = []byte(f.Text)
		if f.Data != nil {
			files[f.Name] = f.Data
		}
	}
	d, warnings, err := Parse(b.Name, b.Definition, files)
	if err != nil {
		return nil, warnings, fmt.Errorf("kernel bundle: %w", err)
	}
	return d, warnings, nil
}
