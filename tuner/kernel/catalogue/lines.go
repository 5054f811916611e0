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

var lines = sync.OnceValues(func() (map[string]Lines, error) {
	b, err := linesArchive.ReadFile("prebuilt/lines.zst")
	if err != nil {
		return nil, err
	}
	return DecodeLines(b)
})

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

// DecodeLines reads what EncodeLines wrote.
func DecodeLines(b []byte) (map[string]Lines, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArchive), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	text, err := dec.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("source lines of prebuilt PTX: %w", err)
	}
	var table map[string]Lines
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, fmt.Errorf("source lines of prebuilt PTX: %w", err)
	}
	return table, nil
}

// Located is a variant's PTX with the lines of its source, where they are known: but for .file and .loc it is the
// same.
func (k *Kernel) Located(macros string) ([]byte, bool) {
	a, err := k.Prebuilt()
	if err != nil {
		return nil, false
	}
	ptx, ok, err := a.Find(macros)
	if !ok || err != nil {
		return nil, false
	}
	table, err := lines()
	if err != nil || table[k.Name].Source != a.Source || bytes.Contains(ptx, loc) {
		return nil, false
	}
	return locate(ptx, k.SourceName(), table[k.Name].Variants[macros])
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
