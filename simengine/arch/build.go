package arch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// build makes the descriptor of a chain of files, most specific first, and
// checks it. The error joins everything that is wrong.
func build(chain []*file) (*Descriptor, error) {
	top := chain[0]
	d := &Descriptor{
		Name: top.Name, Aliases: top.Aliases, Title: top.Title,
		Pipes:   Pipes{Lanes: map[string]float64{}},
		Latency: map[string]float64{},
		Numbers: map[string]Number{},
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if d.Name == "" || fold(d.Name) == "" {
		fault("no name")
	}
	if d.Title == "" {
		d.Title = d.Name
	}
	for i := len(chain) - 1; i >= 0; i-- {
		merge(d, chain[i], fault)
	}
	if d.CC == [2]int{} {
		fault("no compute capability (cc)")
	}
	for _, name := range figureNames() {
		n, ok := d.Numbers[name]
		if !ok && mayLack(name) {
			continue
		} else if !ok {
			fault("missing number %q (%s)", name, UnitOf(name))
			continue
		}
		assign(d, name, n, fault)
	}
	if len(faults) == 0 {
		faults = sanity(d)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("architecture descriptor %q: %w", top.Name, errors.Join(faults...))
	}
	d.DualIssue = d.IssueWidth > 1
	d.Digest = digest(d)
	return d, nil
}

// merge lays one file over what the files below it gave.
func merge(d *Descriptor, f *file, fault func(string, ...any)) {
	switch {
	case f.CC == nil:
	case len(f.CC) != 2 || f.CC[0] < 1 || f.CC[1] < 0:
		fault("cc must be [major, minor], got %v", f.CC)
	default:
		d.CC = [2]int(f.CC)
	}
	if c := f.CarveOut; c != nil {
		mergeCarveOuts(d, c, fault)
	}
	names := make([]string, 0, len(f.Numbers))
	for name := range f.Numbers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		n := f.Numbers[name]
		switch unit := UnitOf(name); {
		case unit == "":
			fault("unknown number %q", name)
		case n.Unit != unit:
			fault("number %q: unit is %q, must be %q", name, n.Unit, unit)
		case n.Source == "":
			fault("number %q has no source", name)
		case math.IsNaN(n.Value) || math.IsInf(n.Value, 0):
			fault("number %q is not finite", name)
		default:
			d.Numbers[name] = n
		}
	}
}

func mergeCarveOuts(d *Descriptor, c *list, fault func(string, ...any)) {
	if c.Unit != carveOutUnit || c.Source == "" || len(c.Values) == 0 {
		fault("%s needs values, a source and the unit %q", carveOutName, carveOutUnit)
		return
	}
	d.CarveOuts = make([]int, len(c.Values))
	for i, v := range c.Values {
		if v < 0 || v > 1<<20 || i > 0 && v <= c.Values[i-1] {
			fault("%s must be sizes in ascending order, got %v", carveOutName, c.Values)
			return
		}
		d.CarveOuts[i] = v << 10
	}
	// Numbers has one value a name: the list stands there by its largest.
	d.Numbers[carveOutName] = Number{
		Value: float64(c.Values[len(c.Values)-1]), Unit: c.Unit, Source: c.Source, Verified: c.Verified,
	}
}

// assign puts a number into its field.
func assign(d *Descriptor, name string, n Number, fault func(string, ...any)) {
	if key, ok := strings.CutPrefix(name, lanePrefix); ok {
		d.Lanes[key] = positive(name, n, fault)
		return
	}
	if key, ok := strings.CutPrefix(name, latencyPrefix); ok {
		d.Latency[key] = positive(name, n, fault)
		return
	}
	for i := range figures {
		f := &figures[i]
		if f.name != name {
			continue
		}
		if n.Value < 0 || n.Value == 0 && !f.zero {
			fault("number %q must be positive, got %v", name, n.Value)
		}
		switch {
		case f.real != nil:
			*f.real(d) = n.Value
		case f.flag != nil:
			if n.Value > 1 {
				fault("number %q is a flag: 0 or 1, got %v", name, n.Value)
			}
			*f.flag(d) = n.Value != 0
		default:
			if n.Value != math.Trunc(n.Value) || n.Value > 1<<53 {
				fault("number %q must be a whole number, got %v", name, n.Value)
				return
			}
			*f.integer(d) = int(n.Value)
		}
		return
	}
}

func positive(name string, n Number, fault func(string, ...any)) float64 {
	if n.Value <= 0 {
		fault("number %q must be positive, got %v", name, n.Value)
	}
	return n.Value
}

// sanity checks relations that hold on every GPU.
func sanity(d *Descriptor) []error {
	var faults []error
	must := func(ok bool, what string) {
		if !ok {
			faults = append(faults, errors.New(what))
		}
	}
	must(d.MaxWarps*WarpSize == d.MaxThreads, "max_threads must be 32 x max_warps")
	must(d.MaxWarps%d.SubPartitions == 0, "max_warps must divide among the sub_partitions")
	must(d.Registers%d.SubPartitions == 0, "registers must divide among the sub_partitions")
	must(len(d.CarveOuts) > 0, "missing "+carveOutName)
	must((d.UnifiedL1 == 0) != (d.L1Dedicated == 0), "exactly one of unified_l1 and l1_dedicated must be 0")
	if n := len(d.CarveOuts); n > 0 {
		most := d.CarveOuts[n-1]
		must(d.UnifiedL1 == 0 || most <= d.UnifiedL1, "carve_outs exceed unified_l1")
		must(d.SharedPerCTAOptIn+d.SharedReserved <= most, "shared_per_cta_optin exceeds the largest carve-out")
	}
	must(d.SharedPerCTA <= d.SharedPerCTAOptIn, "shared_per_cta exceeds shared_per_cta_optin")
	must(d.L2EffectiveBytes <= d.L2Bytes, "l2_effective exceeds l2_size")
	must(d.L2Kept < d.L2KeptUntil, "l2_kept must be under l2_kept_until")
	must(d.DRAMPieceBytes >= d.DRAMGranule, "dram_piece is smaller than dram_granule")
	must(d.IssueWidth <= 2, "issue_width must be 1 or 2")
	for _, e := range []float64{d.DRAMReadEfficiency, d.DRAMWriteEfficiency, d.DRAMMixEfficiency} {
		must(e <= 1, "a dram efficiency exceeds 1")
	}
	order := []string{LatencyL1, LatencyL2, LatencyL2Far, LatencyDRAM}
	for i, key := range order[1:] {
		must(d.Latency[order[i]] <= d.Latency[key], "latency."+order[i]+" exceeds latency."+key)
	}
	order = []string{LatencyConstant, LatencyConstantL15, LatencyConstantMiss}
	for i, key := range order[1:] {
		must(d.Latency[order[i]] <= d.Latency[key], "latency."+order[i]+" exceeds latency."+key)
	}
	must(d.Latency[LatencyShared] <= d.Latency[LatencyL2], "latency.shared exceeds latency.l2")
	return faults
}

// digest is the sha-256 of everything that can change an answer: name, compute
// capability, carve-outs and values. Sources, titles and aliases are left out, so
// that finding a better source for the same value keeps results.
func digest(d *Descriptor) string {
	var b strings.Builder
	fmt.Fprintf(&b, "arch 1\nname %s\ncc %d.%d\ncarve_outs %v\n", d.Name, d.CC[0], d.CC[1], d.CarveOuts)
	names := figureNames()
	sort.Strings(names)
	for _, name := range names {
		if _, ok := d.Numbers[name]; !ok && isAddition(name) {
			continue
		}
		b.WriteString(name + " " + strconv.FormatFloat(d.Numbers[name].Value, 'g', -1, 64) + "\n")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
