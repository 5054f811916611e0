package exchange

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/pythonjson"
)

// MaxFile is the largest file that is read, bytes after decompression. The
// largest public ones have about 300 MB.
const MaxFile = 1 << 30

// ErrFormat says that a text is in none of the formats.
var ErrFormat = errors.New("neither a T4 results file (\"results\") nor a cache file of Kernel Tuner (\"cache\") nor KTT's results (\"KttVersion\")")

// Read reads a T4 or Kernel Tuner cache file, or the JSON of KTT's results, gzipped
// or not; which it is, its content says. A cache file may lack its end, as the one of a run
// that goes on does. An entry that makes no sense is passed over (Run.Odd). name is used in
// errors.
func Read(name string, r io.Reader) (*Run, error) {
	text, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text = pythonjson.Plain(text)
	var run *Run
	var f *file
	ktt, isKTT := decodeKTT(text)
	if !isKTT {
		if f, err = decode(text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case isKTT:
		run, err = ktt.readKTT()
	case f.Cache != nil:
		run, err = f.readKernelTuner()
	case f.Results != nil:
		run, err = f.readT4()
	default:
		err = ErrFormat
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(run.Trials) == 0 && run.Odd.Count > 0 {
		return nil, fmt.Errorf("%s: none of its %d entries can be used; the first is %s", name, run.Odd.Count, run.Odd.First)
	}
	if len(run.Params) == 0 || len(run.Trials) == 0 {
		return nil, fmt.Errorf("%s: no configurations in it", name)
	}
	return run, nil
}

// file is a text of either format: their members' names differ.
type file struct {
	cacheFile
	t4File
}

// decode decodes a text. One that ends too early is given the end that a cache
// file lacks while a run goes on, or after it was killed (util.py
// correct_open_cache does the same). An entry that was cut, by a full disk or a
// power cut, is left out: each is a line of its own.
func decode(text []byte) (*file, error) {
	var f file
	err := json.Unmarshal(text, &f)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		for _, open := range [][]byte{text, text[:max(bytes.LastIndexByte(text, '\n'), 0)]} {
			f = file{}
			end := append(bytes.TrimSuffix(bytes.TrimSpace(open), []byte(",")), "}\n}"...)
			if json.Unmarshal(end, &f) == nil && f.Cache != nil {
				return &f, nil
			}
		}
		return &f, fmt.Errorf("%w: it is no JSON: %w", ErrFormat, syntax)
	}
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) && other.Field == "" {
		err = fmt.Errorf("%w: it is a JSON %s", ErrFormat, other.Value)
	}
	return &f, err
}

// readAll returns the plain text of a file.
func readAll(r io.Reader) ([]byte, error) {
	b := bufio.NewReader(r)
	var plain io.Reader = b
	if head, err := b.Peek(2); err == nil && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		if plain, err = gzip.NewReader(b); err != nil {
			return nil, fmt.Errorf("not a valid gzip file: %w", err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(plain, MaxFile+1))
	if err == nil && len(text) > MaxFile {
		err = fmt.Errorf("over %d bytes", MaxFile)
	}
	return text, err
}

// failedMS is a time in milliseconds from which on it marks a failure: Kernel Tuner wrote
// 1e20 for one before it had texts for them, others write the largest of a double.
const failedMS = 1e20

// settle makes a failure of a time that marks one, and says why a trial makes no sense.
func (t *Trial) settle() error {
	if t.Validity == tuner.Correct && t.TimeUS >= failedMS*perMS {
		t.Validity, t.TimeUS = tuner.Runtime, 0
	}
	return t.check()
}

// mean is the mean of times that all are good, else 0.
func mean(times []json.RawMessage) float64 {
	sum := 0.0
	for _, raw := range times {
		v, ok := float(raw)
		if !ok || !(v > 0) {
			return 0
		}
		sum += v / float64(len(times))
	}
	return sum
}

// check says why a trial makes no sense, nil if it does.
func (t *Trial) check() error {
	if t.Validity == tuner.Correct && !(t.TimeUS > 0 && !math.IsInf(t.TimeUS, 1)) {
		return errors.New("no positive time: only results whose objective is \"time\" can be used")
	}
	return nil
}

// readValue is a parameter's value: a whole number is an Int, another one a
// Float.
func readValue(raw json.RawMessage) (search.Value, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return search.Value{}, err
	}
	switch v := v.(type) {
	case bool:
		return search.OfBool(v), nil
	case string:
		return search.OfString(v), nil
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return search.OfInt(i), nil
		}
		if f, err := v.Float64(); err == nil {
			return search.OfFloat(f), nil
		}
	}
	return search.Value{}, fmt.Errorf("%s is not a number, truth value or text", raw)
}

// float is a JSON number's value.
func float(raw json.RawMessage) (float64, bool) {
	var v *float64
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return 0, false
	}
	return *v, true
}

// problemSize is a problem size written as a number or a list of numbers; nil
// when it is something else, e.g. "callable".
func problemSize(raw json.RawMessage) []int64 {
	var list []int64
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one int64
	if json.Unmarshal(raw, &one) == nil {
		return []int64{one}
	}
	return nil
}

func sortedNames(members map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(members))
}
