package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/warptune/warptune/tuner"
)

// kttFile is what KTT writes as JSON (Source/Output/JsonConverters.cpp): like T4 in
// nothing but the name of its list, which Go's decoder does not tell from T4's.
type kttFile struct {
	Metadata struct {
		Version string `json:"KttVersion"`
		Device  string `json:"Device"`
		Unit    string `json:"TimeUnit"`
	} `json:"Metadata"`
	Results []json.RawMessage `json:"Results"`
}

type kttResult struct {
	Configuration []struct {
		Name  string          `json:"Name"`
		Value json.RawMessage `json:"Value"`
	} `json:"Configuration"`
	Kernel   string          `json:"KernelName"`
	Status   string          `json:"Status"`
	Duration json.RawMessage `json:"TotalDuration"`
}

// kttStatus are KTT's statuses of a result.
var kttStatus = map[string]tuner.Validity{
	"Ok": tuner.Correct, "ComputationFailed": tuner.Runtime, "ValidationFailed": tuner.Correctness,
	"CompilationFailed": tuner.Compile, "DeviceLimitsExceeded": tuner.Runtime,
}

// decodeKTT decodes KTT's JSON; false if the text is none.
func decodeKTT(text []byte) (*kttFile, bool) {
	var f kttFile
	if !bytes.Contains(text, []byte("KttVersion")) {
		return nil, false
	}
	err := json.Unmarshal(text, &f)
	return &f, err == nil && f.Metadata.Version != ""
}

// readKTT reads KTT's results. Parameters come in the order of the first result.
func (f *kttFile) readKTT() (*Run, error) {
	scale, err := unitUS(f.Metadata.Unit)
	if err != nil {
		return nil, fmt.Errorf("Metadata.TimeUnit: %w", err)
	}
	r := &Run{Device: f.Metadata.Device}
	for i := range f.Results {
		var result kttResult
		err := json.Unmarshal(f.Results[i], &result)
		if len(r.Params) == 0 {
			for _, p := range result.Configuration {
				r.Params = append(r.Params, p.Name)
			}
			r.Kernel = result.Kernel
		}
		t := Trial{}
		if err == nil {
			t, err = result.trial(r.Params, scale)
		}
		if err != nil {
			r.Odd.add(fmt.Sprintf("Results[%d]", i), err)
			continue
		}
		r.Trials = append(r.Trials, t)
	}
	return r, nil
}

// trial reads one result; scale is how many microseconds a duration is.
func (k *kttResult) trial(params []string, scale float64) (Trial, error) {
	validity, known := kttStatus[k.Status]
	t := Trial{Validity: validity}
	if !known {
		return t, fmt.Errorf("unknown status %q; known are Ok, ComputationFailed, ValidationFailed, CompilationFailed, DeviceLimitsExceeded", k.Status)
	}
	members := map[string]json.RawMessage{}
	for _, p := range k.Configuration {
		members[p.Name] = p.Value
	}
	var err error
	if t.Config, err = config(params, members); err != nil {
		return t, fmt.Errorf("its Configuration: %w", err)
	}
	if us, ok := float(k.Duration); ok && t.Validity == tuner.Correct {
		t.TimeUS = us * scale
	}
	return t, t.settle()
}
