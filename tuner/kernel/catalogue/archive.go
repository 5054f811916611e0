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

	"github.com/klauspost/compress/zstd"
)

// The archives, one file a kernel: prebuilt/NAME.zst. Decompressed, a line of
// JSON (archiveHeader), then the PTX of all variants, one after another: one
// solid stream, because the variants of a kernel are much alike.
//
//go:embed prebuilt
var archives embed.FS

// Archive is a kernel's prebuilt PTX. It is immutable and safe for concurrent use.
type Archive struct {
	Provenance
	variants map[string][]byte
}

// Variant is the PTX of one compile variant.
type Variant struct {
	// Macros is the canonical text of the macros that matter to the source, as
	// source.Source.MacroKey gives it.
	Macros string
	PTX    []byte
}

type archiveHeader struct {
	Variants []archiveEntry `json:"variants"`
}

type archiveEntry struct {
	Macros json.RawMessage `json:"macros"`
	Bytes  int             `json:"bytes"`
}

// Find returns the PTX of a variant; it is not to be modified.
func (a *Archive) Find(macros string) ([]byte, bool) {
	b, ok := a.variants[macros]
	return b, ok
}

// Prebuilt returns the kernel's archive. The first call decompresses it: a few
// milliseconds, up to 30 for the largest (sgemm, 20 MB of PTX).
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
	variants, err := DecodeArchive(b)
	if err != nil {
		return nil, fmt.Errorf("prebuilt PTX of %s: %w", name, err)
	}
	a := &Archive{Provenance: all[i], variants: make(map[string][]byte, len(variants))}
	for _, v := range variants {
		a.variants[v.Macros] = v.PTX
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
	var h archiveHeader
	var bodies bytes.Buffer
	for i, v := range variants {
		if i > 0 && variants[i-1].Macros == v.Macros {
			return nil, "", fmt.Errorf("variant %s appears twice", v.Macros)
		}
		h.Variants = append(h.Variants, archiveEntry{Macros: json.RawMessage(v.Macros), Bytes: len(v.PTX)})
		bodies.Write(v.PTX)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return nil, "", err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, "", err
	}
	defer enc.Close()
	archive = enc.EncodeAll(append(append(line, '\n'), bodies.Bytes()...), nil)
	digest := sha256.Sum256(archive)
	return archive, hex.EncodeToString(digest[:]), nil
}

// DecodeArchive reads what EncodeArchive wrote. The variants share one buffer.
func DecodeArchive(archive []byte) ([]Variant, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArchive), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	text, err := dec.DecodeAll(archive, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	line, bodies, ok := bytes.Cut(text, []byte("\n"))
	var h archiveHeader
	if !ok || json.Unmarshal(line, &h) != nil {
		return nil, fmt.Errorf("no header line")
	}
	var out []Variant
	for _, e := range h.Variants {
		if e.Bytes < 0 || e.Bytes > len(bodies) {
			return nil, fmt.Errorf("variant %s: the archive ends early", e.Macros)
		}
		out = append(out, Variant{Macros: string(e.Macros), PTX: bodies[:e.Bytes:e.Bytes]})
		bodies = bodies[e.Bytes:]
	}
	if len(bodies) > 0 {
		return nil, fmt.Errorf("%d bytes after the last variant", len(bodies))
	}
	return out, nil
}
