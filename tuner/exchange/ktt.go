package exchange

import (
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
	Results []struct {
		Configuration []struct {
			Name  string          `json:"Name"`
			Value json.RawMessage `json:"Value"`
		} `json:"Configuration"`
		Kernel   string  `json:"KernelName"`
		Status   string  `json:"Status"`
		Duration float64 `json:"TotalDuration"`
	} `json:"Results"`
}

// kttStatus are KTT's statuses of a result.
var kttStatus = map[string]tuner.Validity{
	"Ok": tuner.Correct, "ComputationFailed": tuner.Runtime, "ValidationFailed": tuner.Correctness,
	"CompilationFailed": tuner.Compile, "DeviceLimitsExceeded": tuner.Runtime,
}

// decodeKTT decodes KTT's JSON; false if the text is none.
func decodeKTT(text []byte) (*kttFile, bool) {
	var f kttFile
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
		result := &f.Results[i]
		members := map[string]json.RawMessage{}
		for _, p := range result.Configuration {
			members[p.Name] = p.Value
			if i == 0 {
				r.Params = append(r.Params, p.Name)
			}
		}
		r.Kernel = result.Kernel
		t := Trial{Validity: kttStatus[result.Status]}
		if _, known := kttStatus[result.Status]; !known {
			return nil, fmt.Errorf("Results[%d].Status: unknown status %q; known are Ok, ComputationFailed, ValidationFailed, CompilationFailed, DeviceLimitsExceeded", i, result.Status)
		}
		if t.Config, err = config(r.Params, members); err != nil {
			return nil, fmt.Errorf("Results[%d].Configuration: %w", i, err)
		}
		if t.Validity == tuner.Correct {
			t.TimeUS = result.Duration * scale
		}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("result %d: %w", i, err)
		}
		r.Trials = append(r.Trials, t)
	}
	return r, nil
}
