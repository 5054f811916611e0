package catalogue

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// The archives, one file a kernel: prebuilt/NAME.zst. Decompressed, a line of
// JSON (archiveHeader), then of all variants the forms of their lines, then of all
// the numbers in them (columns.go).
//
//go:embed prebuilt
var archives embed.FS

// Archive is a kernel's prebuilt PTX. It is immutable and safe for concurrent use.
type Archive struct {
	Provenance
	forms    [][]string
	variants map[string]*packed
}

// Variant is the PTX of one compile variant.
type Variant struct {
	// Macros is the canonical text of the macros that matter to the source, as
	// source.Source.MacroKey gives it.
	Macros string
	PTX    []byte
}

type archiveHeader struct {
	Forms    []string       `json:"forms"`
	Variants []archiveEntry `json:"variants"`
}

type archiveEntry struct {
	Macros json.RawMessage `json:"macros"`
	Bytes  int             `json:"bytes"` // of PTX
	Lines  int             `json:"lines"` // bytes of what says the forms of its lines
}

// Has reports whether there is PTX of a variant.
func (a *Archive) Has(macros string) bool { return a.variants[macros] != nil }

// Find returns the PTX of a variant; false where the archive has none of it.
func (a *Archive) Find(macros string) (ptx []byte, ok bool, err error) {
	p := a.variants[macros]
	if p == nil {
		return nil, false, nil
	}
	if ptx, err = p.unpack(a.forms); err != nil {
		return nil, false, fmt.Errorf("prebuilt PTX of %s, %s: %w", a.Kernel, macros, err)
	}
	return ptx, true, nil
}

// Prebuilt returns the kernel's archive. The first call decompresses it, a
// millisecond or, of the largest, a few (BenchmarkPrebuiltSGEMM); Find makes the PTX.
func (k *Kernel) Prebuilt() (*Archive, error) { return k.prebuilt() }

func readArchive(name string) (*Archive, error) {
	all, err := index()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(p Provenance) bool { return p.Kernel == name })
	if i < 0 {
		return nil, fmt.Errorf("prebuilt PTX: no entry for %s; run make catalogue", name)
	}
	b, err := archives.ReadFile("prebuilt/" + name + ".zst")
	if err != nil {
		return nil, fmt.Errorf("prebuilt PTX: %w; run make catalogue", err)
	}
	forms, names, variants, err := openArchive(b)
	if err != nil {
		return nil, fmt.Errorf("prebuilt PTX of %s: %w", name, err)
	}
	a := &Archive{Provenance: all[i], forms: forms, variants: make(map[string]*packed, len(variants))}
	for i, p := range variants {
		a.variants[names[i]] = p
	}
	return a, nil
}

// window covers the largest archive, so that every variant can refer to every other.
const window = 32 << 20

// maxArchive bounds a decompressed archive.
const maxArchive = 256 << 20

// EncodeArchive gives the bytes of an archive and their sha-256, hex. The same
// variants, in any order, give the same bytes.
func EncodeArchive(variants []Variant) (archive []byte, sum string, err error) {
	variants = slices.SortedFunc(slices.Values(variants), func(a, b Variant) int { return cmp.Compare(a.Macros, b.Macros) })
	f := forms{ids: map[string]int{}}
	h := archiveHeader{}
	var lines []byte
	var all []*packed
	for i, v := range variants {
		if i > 0 && variants[i-1].Macros == v.Macros {
			return nil, "", fmt.Errorf("variant %s appears twice", v.Macros)
		}
		p, err := f.pack(v.PTX)
		if err != nil {
			return nil, "", fmt.Errorf("variant %s: %w", v.Macros, err)
		}
		h.Variants = append(h.Variants, archiveEntry{Macros: json.RawMessage(v.Macros), Bytes: len(v.PTX), Lines: len(p.ids)})
		lines, all = append(lines, p.ids...), append(all, p)
	}
	h.Forms = f.texts
	header, err := json.Marshal(h)
	if err != nil {
		return nil, "", err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, "", err
	}
	defer enc.Close()
	archive = enc.EncodeAll(slices.Concat(header, []byte("\n"), lines, interleave(parts(h.Forms), all)), nil)
	digest := sha256.Sum256(archive)
	return archive, hex.EncodeToString(digest[:]), nil
}

// DecodeArchive reads what EncodeArchive wrote.
func DecodeArchive(archive []byte) ([]Variant, error) {
	forms, names, variants, err := openArchive(archive)
	if err != nil {
		return nil, err
	}
	out := make([]Variant, len(variants))
	for i, p := range variants {
		ptx, err := p.unpack(forms)
		if err != nil {
			return nil, fmt.Errorf("variant %s: %w", names[i], err)
		}
		out[i] = Variant{Macros: names[i], PTX: ptx}
	}
	return out, nil
}

// openArchive decompresses an archive: the forms of lines, and of each variant its macros and what is packed of it.
func openArchive(archive []byte) (forms [][]string, names []string, variants []*packed, err error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArchive), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, nil, nil, err
	}
	defer dec.Close()
	content, err := dec.DecodeAll(archive, nil)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("decompress: %w", err)
	}
	header, rest, ok := bytes.Cut(content, []byte("\n"))
	var h archiveHeader
	if !ok || json.Unmarshal(header, &h) != nil {
		return nil, nil, nil, fmt.Errorf("no header line")
	}
	for _, e := range h.Variants {
		if e.Lines < 0 || e.Lines > len(rest) {
			return nil, nil, nil, fmt.Errorf("variant %s: the archive ends early", e.Macros)
		}
		names = append(names, string(e.Macros))
		variants = append(variants, &packed{Bytes: min(max(e.Bytes, 0), maxArchive), ids: rest[:e.Lines:e.Lines]})
		rest = rest[e.Lines:]
	}
	forms = parts(h.Forms)
	return forms, names, variants, separate(forms, variants, rest)
}

// parts are those of forms between gaps.
func parts(forms []string) (out [][]string) {
	for _, form := range forms {
		out = append(out, strings.Split(form, string(rune(gap))))
	}
	return out
}
