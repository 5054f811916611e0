package catalogue

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The source lines of the prebuilt PTX are kept apart from it: with lines it would be other PTX, of other digests.
//
//go:embed prebuilt/lines.zst
var linesArchive embed.FS

// LineRuns is the source lines of a PTX text's instructions: a line and how many instructions it has, in turns. Line 0
// is none.
type LineRuns []int

// Lines is the source lines of a kernel's variants.
type Lines struct {
	Source   string              `json:"source"`   // digest, as Provenance.Source
	Variants map[string]LineRuns `json:"variants"` // by macros
}

// variantLines is the source lines of a kernel's variants as JSON: of hundreds of variants few are asked for.
type variantLines struct {
	Source   string                     `json:"source"`
	Variants map[string]json.RawMessage `json:"variants"`
}

// undecoded is the source lines of kernels, each decoded when it is first asked for.
var undecoded = sync.OnceValues(func() (map[string]func() (variantLines, error), error) {
	b, err := linesArchive.ReadFile("prebuilt/lines.zst")
	if err != nil {
		return nil, err
	}
	return decodeLines(b)
})

// linesOf is the source lines of a variant, and the digest of the source that they are of; "": there are none.
func linesOf(kernel, macros string) (source string, runs LineRuns, err error) {
	table, err := undecoded()
	if err != nil || table[kernel] == nil {
		return "", nil, err
	}
	of, err := table[kernel]()
	if err != nil || of.Variants[macros] == nil {
		return of.Source, nil, err
	}
	if err := json.Unmarshal(of.Variants[macros], &runs); err != nil {
		return "", nil, fmt.Errorf("source lines of prebuilt PTX: %s %s: %w", kernel, macros, err)
	}
	return of.Source, runs, nil
}

// EncodeLines gives the bytes of the source lines of kernels.
func EncodeLines(table map[string]Lines) ([]byte, error) {
	text, err := json.Marshal(table)
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	return enc.EncodeAll(text, nil), nil
}

// decodeLines reads what EncodeLines wrote, as far as its kernels' names.
func decodeLines(b []byte) (map[string]func() (variantLines, error), error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArchive), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	text, err := dec.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("source lines of prebuilt PTX: %w", err)
	}
	var table map[string]json.RawMessage
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, fmt.Errorf("source lines of prebuilt PTX: %w", err)
	}
	of := map[string]func() (variantLines, error){}
	for kernel, text := range table {
		of[kernel] = sync.OnceValues(func() (v variantLines, err error) {
			if err = json.Unmarshal(text, &v); err != nil {
				err = fmt.Errorf("source lines of prebuilt PTX: %s: %w", kernel, err)
			}
			return v, err
		})
	}
	return of, nil
}

// Located is a variant's PTX with the lines of its source, where they are known: but for .file and .loc it is the
// same.
func (k *Kernel) Located(macros string) ([]byte, bool) {
	a, err := k.Prebuilt()
	if err != nil {
		return nil, false
	}
	ptx, ok, err := a.Find(macros)
	if !ok || err != nil || bytes.Contains(ptx, loc) {
		return nil, false
	}
	source, runs, err := linesOf(k.Name, macros)
	if err != nil || source != a.Source {
		return nil, false
	}
	return locate(ptx, k.SourceName(), runs)
}

var addressSize, loc = []byte(".address_size"), []byte("\t.loc\t")

// locate puts lines into PTX; false where they are not its.
func locate(ptx []byte, file string, runs LineRuns) ([]byte, bool) {
	out := make([]byte, 0, len(ptx)+len(ptx)/4)
	at, left, said := 0, 0, 0
	for line := range bytes.Lines(ptx) {
		if isInstruction(line) {
			for left == 0 && at+1 < len(runs) {
				left = runs[at+1]
				at += 2
			}
			if left == 0 {
				return nil, false
			}
			if left--; runs[at-2] != said && runs[at-2] > 0 {
				said = runs[at-2]
				out = append(append(append(out, "\t.loc\t1 "...), strconv.Itoa(said)...), " 0\n"...)
			}
		}
		out = append(out, line...)
		if bytes.HasPrefix(line, addressSize) {
			out = append(append(append(out, "\t.file\t1 \""...), file...), "\"\n"...)
		}
	}
	return out, left == 0 && at >= len(runs)
}

// isInstruction reports whether a line of a compiler's PTX is an instruction.
func isInstruction(line []byte) bool {
	return len(line) > 1 && line[0] == '\t' && (line[1] == '@' || line[1] >= 'a' && line[1] <= 'z')
}
