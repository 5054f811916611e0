package arch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
)

func TestEveryNumberHasASource(t *testing.T) {
	names := arch.Names()
	for _, want := range []string{"k20", "k40", "p100", "v100", "t4", "rtx2080ti", "a100", "a100-40gb", "rtx3090", "a6000", "rtx4090", "l40s", "h100", "h200", "b200"} {
		if _, err := arch.Load(want); err != nil {
			t.Error(err)
		}
	}
	for _, name := range names {
		d := load(t, name)
		for figure, n := range d.Numbers {
			if n.Source == "" || n.Unit == "" {
				t.Errorf("%s: %s has no source or unit: %+v", name, figure, n)
			}
			if n.Verified && strings.Contains(n.Source, "memory") {
				t.Errorf("%s: %s is from memory, yet marked verified", name, figure)
			}
		}
	}
}

// TestPhysicalSanity holds what is true of all these GPUs beyond what Parse checks.
func TestPhysicalSanity(t *testing.T) {
	for _, name := range arch.Names() {
		d := load(t, name)
		must := func(ok bool, what string) {
			if !ok {
				t.Errorf("%s: %s", name, what)
			}
		}
		must(d.Lanes[arch.LaneMUFU] <= d.Lanes[arch.LaneFP32], "more special-function than fp32 lanes")
		must(d.Lanes[arch.LaneFP64] <= d.Lanes[arch.LaneFP32], "more fp64 than fp32 lanes")
		must(d.Latency[arch.LatencyALU] <= d.Latency[arch.LatencyMUFU], "ALU slower than MUFU")
		must(d.Latency[arch.LatencyShared] <= d.Latency[arch.LatencyL1], "shared memory slower than L1")
		must(d.Latency[arch.LatencyAtomicShared] >= d.Latency[arch.LatencyShared], "shared atomic faster than a shared load")
		// A measured atomic latency is of one address, in one slice, nearer or
		// farther than the mean of the slices that L2's latency is.
		must(d.Latency[arch.LatencyAtomicL2] >= 0.95*d.Latency[arch.LatencyL2], "global atomic faster than an L2 load")
		must(d.L2BytesPerCycle > d.DRAMBytesPerCycle(), "L2 slower than DRAM")
		must(d.L2BytesPerCycleSM*float64(d.SMs) >= d.L2BytesPerCycle, "the SMs together cannot take what L2 gives")
		must(d.CTATurnaroundEmpty <= d.CTATurnaround, "an empty CTA holds its slot longer than one that stores")
		must(d.ClockMHz > 500 && d.ClockMHz < 3000, "clock out of range")
		must(d.DRAMBytesPerSecond > 1e11 && d.DRAMBytesPerSecond < 2e13, "DRAM bandwidth out of range")
		for share := 0.0; share <= 1; share += 0.125 {
			e := d.DRAMEfficiency(share)
			must(e > 0.5 && e <= 1, "DRAM efficiency out of range")
		}
	}
}

func TestGenerations(t *testing.T) {
	kepler, pascal, turing, ada, ampere := load(t, "k40"), load(t, "p100"), load(t, "t4"), load(t, "rtx4090"), load(t, "a100")
	if !kepler.DualIssue || kepler.BankWidth != 8 || !kepler.BankWidthSwitch {
		t.Error("Kepler issues twice and switches between 4 and 8-byte banks")
	}
	if pascal.UnifiedL1 != 0 || pascal.L1Dedicated == 0 || pascal.SubPartitions != 2 || pascal.Lanes[arch.LaneFP32] != 64 {
		t.Error("Pascal's P100 has a split L1 and a 64-lane SM of two partitions")
	}
	if turing.Lanes[arch.LaneLSU] != 16 || turing.MaxThreads != 1024 {
		t.Error("Turing has 16 load/store lanes and 1,024 threads an SM")
	}
	if !ada.SharedFP32Int || ada.Lanes[arch.LaneFP32] != 128 || ada.Lanes[arch.LaneInt32] != 64 {
		t.Error("cc 8.6 and 8.9 share half of 128 fp32 lanes with int32")
	}
	if ampere.L2Partitions != 2 || ampere.L2EffectiveBytes*2 != ampere.L2Bytes || ampere.Latency[arch.LatencyL2Far] <= ampere.Latency[arch.LatencyL2] {
		t.Error("A100's L2 has two halves")
	}
}

func TestNames(t *testing.T) {
	for _, spelling := range []string{"h200", "H200", "NVIDIA H200", "rtx 4090", "RTX-4090", "GeForce RTX 4090", "titan_rtx"} {
		if _, err := arch.Load(spelling); err != nil {
			t.Errorf("%q: %v", spelling, err)
		}
	}
	_, err := arch.Load("rtx4080")
	var unknown *arch.UnknownError
	if !errors.As(err, &unknown) || unknown.Nearest != "rtx4090" || strings.Contains(err.Error(), "\n") {
		t.Errorf("rtx4080: %v", err)
	}
	for _, nonsense := range []string{"", "\x00", strings.Repeat("x", 1<<16), "zzzzzzzz"} {
		if _, err := arch.Load(nonsense); !errors.As(err, &unknown) || unknown.Nearest != "" {
			t.Errorf("%.20q: %v", nonsense, err)
		}
	}
}

func TestDigest(t *testing.T) {
	parse := func(content string) *arch.Descriptor {
		t.Helper()
		d, err := arch.Parse([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	gpu := func(body string) string {
		return `{"name": "mine", "base": "h200", "numbers": {` + body + `}}`
	}
	sms := `"sms": {"value": 66, "unit": "count", "source": "made up", "verified": false}`
	clock := `"clock": {"value": 1000, "unit": "MHz", "source": "made up", "verified": false}`
	a := parse(gpu(sms + "," + clock))
	if b := parse(gpu(clock + "," + strings.Replace(sms, "made up", "measured", 1))); a.Digest != b.Digest {
		t.Error("order and source change the digest")
	}
	if b := parse(gpu(sms)); a.Digest == b.Digest {
		t.Error("a value does not change the digest")
	}
	if a.SMs != 66 || a.ClockMHz != 1000 || a.L2Bytes != load(t, "h200").L2Bytes {
		t.Errorf("base and own numbers do not combine: %d SMs at %v MHz", a.SMs, a.ClockMHz)
	}
	seen := map[string]string{}
	for _, name := range arch.Names() {
		d := load(t, name)
		if other, ok := seen[d.Digest]; ok || len(d.Digest) != 64 {
			t.Errorf("%s and %s: digest %q", name, other, d.Digest)
		}
		seen[d.Digest] = name
	}
}

func TestParseErrors(t *testing.T) {
	number := func(name, unit, value, source string) string {
		return `{"name": "x", "base": "h200", "numbers": {"` + name + `": {"value": ` + value + `, "unit": "` + unit + `", "source": "` + source + `", "verified": false}}}`
	}
	tests := map[string]string{
		``:                                                            "EOF",
		`{"name": "x", "colour": 3}`:                                  `unknown field "colour"`,
		`{"name": "x"}`:                                               `missing number "sms"`,
		`{"name": "x", "base": "gtx"}`:                                `unknown base "gtx"`,
		`{"name": "x", "base": "h200"}{}`:                             "text after the end",
		`{"name": "x", "base": "x"}`:                                  "unknown base",
		`{"base": "h200"}`:                                            "no name",
		number("smss", "count", "1", "s"):                             `unknown number "smss"`,
		number("sms", "MHz", "1", "s"):                                `unit is "MHz", must be "count"`,
		number("sms", "count", "1", ""):                               "has no source",
		number("sms", "count", "1.5", "s"):                            "whole number",
		number("sms", "count", "-1", "s"):                             "must be positive",
		number("sms", "count", "0", "s"):                              "must be positive",
		number("max_warps", "warps", "63", "s"):                       "32 x max_warps",
		number("latency.l1", "cycles", "400", "s"):                    "latency.l1 exceeds latency.l2",
		`{"name": "x", "base": "h200", "cc": [9]}`:                    "cc must be",
		`{"name": "x", "base": "h200", "carve_outs": {"values": []}}`: "carve_outs needs",
		`{"name": "x", "base": "h200", "carve_outs": {"values": [8, 0], "unit": "KiB", "source": "s"}}`: "ascending",
	}
	for content, want := range tests {
		if _, err := arch.Parse([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", content, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name": "x", "base": "h200"}`))
	f.Add([]byte(`{"name": "x", "base": "h200", "numbers": {"sms": {"value": 1e300, "unit": "count", "source": "s"}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := arch.Parse(content)
		if err != nil {
			return
		}
		k := arch.Kernel{Threads: 256, Registers: 32, Shared: 1000}
		if carveOut, err := arch.ChooseCarveOut(d, k, arch.DriverCarveOut); err == nil {
			if _, err := arch.Occupy(d, k, carveOut); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestRecordedChoices compares the carve-out rule with every launch the
// calibration recorded the driver's choice for.
func TestRecordedChoices(t *testing.T) {
	content := measured.Content(t, "../../deploy/calibrate/results/h200.jsonl.gz")
	d := load(t, "h200")
	checkChoices(t, d, strings.Split(string(content), "\n"), 1352)

	content = measured.Content(t, "../../deploy/calibrate/results/h200-carveout.jsonl.gz")
	checkChoices(t, d, strings.Split(string(content), "\n"), 3150)
}

func checkChoices(t *testing.T, d *arch.Descriptor, lines []string, want int) {
	t.Helper()
	n := 0
	for _, line := range lines {
		var r struct {
			Name   string
			Params struct{ Threads, Registers, Shared, Percent int }
			Value  int
		}
		if !strings.Contains(line, "carveout.choice") || json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		n++
		p := r.Params
		k := arch.Kernel{Threads: p.Threads, Registers: p.Registers, Shared: p.Shared}
		if got, err := arch.ChooseCarveOut(d, k, p.Percent); err != nil || got != r.Value {
			t.Fatalf("%+v: %d (%v), the driver chose %d", p, got, err, r.Value)
		}
	}
	if n != want {
		t.Errorf("%d recorded choices, expected %d", n, want)
	}
}
