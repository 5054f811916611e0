package page

import (
	"encoding/json"

	"github.com/warptune/warptune/search"
)

// Trial is all that is stored of one configuration.
type Trial struct {
	Schema     string        `json:"schema"`
	Sweep      string        `json:"sweep"`
	Trial      int64         `json:"trial"`
	Index      int64         `json:"index"` // in the space
	Parameters search.Config `json:"parameters"`
	Validity   string        `json:"validity"`
	Message    string        `json:"message,omitempty"`
	Level      string        `json:"level"`
	Compiler   string        `json:"compiler"`
	Digest     string        `json:"digest"`
	// Checked is what was executed of its launch and looked for; Of is 0 where that was not recorded.
	Checked CheckedCTAs `json:"checked"`
	TimeUS  float64     `json:"time_us"` // 0 unless valid
	// Use is how near each unit comes to its peak by the work that was counted, the nearest first; empty unless valid.
	Use []NamedNumber `json:"use"`
	// Memory is the hierarchy, registers first; empty unless valid.
	Memory []MemoryLevel `json:"memory"`
	// WarpStalls are warps that wait for each reason, a scheduler, per issued instruction; the largest first. Of every
	// issue slot see Explained.
	WarpStalls []NamedNumber `json:"warps_stalled_per_issue"`
	// Metrics are all counters under Nsight Compute's names.
	Metrics map[string]float64 `json:"metrics"`
}

// CheckedCTAs is what was executed of a launch, and looked for in it.
type CheckedCTAs struct {
	CTAs     int64  `json:"ctas"`     // that were executed
	Full     int64  `json:"full"`     // of those, in full: of the others what addresses and branches depend on
	Of       int64  `json:"of"`       // CTAs of the grid
	For      string `json:"for"`      // what was looked for in all of them
	ForFull  string `json:"for_full"` // and in those executed in full as well
	Outputs  string `json:"outputs"`  // what outputs were compared with, or why they were not
	Warnings string `json:"warnings"` // harmless faults that were found
}

// NamedNumber is a number with a name.
type NamedNumber struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// MemoryLevel is what one launch does at a level of the memory hierarchy. What is not known or makes no sense is null.
type MemoryLevel struct {
	Level string `json:"level"` // "registers", "shared", "l1", "l2", "dram"
	Title string `json:"title"`
	// Capacity is what an SM has (registers, shared, l1) or the device (l2, dram), InUse what the launch takes of it: of
	// shared memory and registers what resident CTAs hold.
	CapacityBytes *float64 `json:"capacity_bytes"`
	InUseBytes    *float64 `json:"in_use_bytes"`
	// Read and Written are bytes that pass between this level and the one nearer to the warps, of the whole launch; of
	// shared memory ReadBytes is both. Counts says in words what bytes they are.
	ReadBytes    *float64 `json:"read_bytes"`
	WrittenBytes *float64 `json:"written_bytes"`
	Counts       string   `json:"counts"`
	// HitShare is the part of the sectors looked up here that was found.
	HitShare *float64 `json:"hit_share"`
	// UseShare is how near the unit comes to its peak: the level nearest 1 bounds. It is BytesPerSecond over
	// PeakBytesPerSecond. RateOf says in words what both are of: of shared memory and L1 one unit, of L2 the peak at this mix
	// of reads and writes, as a byte written takes more. Saturated: 60 % or more.
	BytesPerSecond     *float64 `json:"bytes_per_second"`
	PeakBytesPerSecond *float64 `json:"peak_bytes_per_second"`
	UseShare           *float64 `json:"use_share"`
	RateOf             string   `json:"rate_of"`
	Saturated          bool     `json:"saturated"`
	// Figures are more of it: "per thread", "spilled per thread", "bank conflicts", "wavefronts", "requests".
	Figures []NamedNumber `json:"figures"`
}

// Explained is one or more configurations of a sweep, simulated again with what explains them.
type Explained struct {
	Schema string  `json:"schema"`
	Sweep  string  `json:"sweep"`
	Trials []int64 `json:"trials"` // in the order of Document's configurations
	// Document is what "warptune explain --json" prints (docs/explain.schema.json): for each configuration the explanation
	// in sentences, what-ifs, and the report with use, slots, lines, metrics; comparisons of the first with each other one.
	Document json.RawMessage `json:"document"`
	// Details belong to the configurations of Document, in their order.
	Details []Detail `json:"details"`
}

// Detail is what a page shows of a configuration beside its explanation.
type Detail struct {
	// Sources are the source files that lines of the report are of (file:line), PTX the PTX that was simulated. Lines of
	// both count from 1.
	Sources []SourceFile `json:"sources"`
	PTX     string       `json:"ptx"`
	// Launch.
	Grid      [3]int64    `json:"grid"`
	Block     [3]int64    `json:"block"`
	Occupancy *Occupancy  `json:"occupancy"` // null unless valid
	Sentences []Statement `json:"sentences"` // findings in words, in the order of the explanation's findings
}

// Statement is a finding in words, with where it is.
type Statement struct {
	Topic string `json:"topic"`
	Line  string `json:"line,omitempty"`
	Text  string `json:"text"`
}

// SourceFile is a source file.
type SourceFile struct {
	Name string `json:"name"` // as lines of reports call it
	Text string `json:"text"`
}

// Occupancy is how many CTAs an SM holds, and how that depends on what a CTA takes: each curve varies one, the others
// stay as they are.
type Occupancy struct {
	Present     OccupancyPoint `json:"present"`
	ByThreads   Curve          `json:"by_threads"`       // of a CTA: 32, 64, … to the most
	ByRegisters Curve          `json:"by_registers"`     // of a thread
	ByShared    Curve          `json:"by_shared_bytes"`  // of a CTA
	Note        string         `json:"note"`             // how the carve-out is taken
	Limits      map[string]int `json:"ctas_by_resource"` // CTAs each resource alone would allow: warps, blocks, registers, shared_mem
}

// OccupancyPoint is where a configuration is.
type OccupancyPoint struct {
	Threads       int     `json:"threads"`
	Registers     int     `json:"registers"`
	SharedBytes   int     `json:"shared_bytes"`
	CarveOutBytes int     `json:"carve_out_bytes"`
	CTAs          int     `json:"ctas"`
	Warps         int     `json:"warps"`
	Share         float64 `json:"share"` // of the most warps
	Limiter       string  `json:"limiter"`
}

// Curve is occupancy against one quantity. Where not even one CTA fits, CTAs is 0.
type Curve struct {
	X       []int     `json:"x"`
	CTAs    []int     `json:"ctas"`
	Warps   []int     `json:"warps"`
	Share   []float64 `json:"share"`
	Limiter []string  `json:"limiter"`
}

// Comparison is one kernel on several architectures: what is best on each, and what each best costs on the others.
type Comparison struct {
	Schema string           `json:"schema"`
	Sweeps []ComparedSweep  `json:"sweeps"` // in the order asked for
	Pairs  []ComparedPair   `json:"pairs"`
	Common int              `json:"common"` // configurations that are valid on all of them
	Best   *CommonCandidate `json:"best_for_all"`
}

// ComparedSweep is one of them.
type ComparedSweep struct {
	Sweep   string  `json:"sweep"`
	Kernel  string  `json:"kernel"`
	Arch    string  `json:"arch"`
	Title   string  `json:"title"`
	Problem []int64 `json:"problem"`
	State   string  `json:"state"`
	Best    *Best   `json:"best"`
	Caution string  `json:"caution,omitempty"`
}

// ComparedPair is how the best of one sweep fares in another.
type ComparedPair struct {
	BestOf string `json:"best_of"`
	On     string `json:"on"`
	// Trial is that configuration's in the sweep On, TimeUS its time there, OverBest that over the best there; null: it was
	// not evaluated, or is not valid there.
	Trial    *int64   `json:"trial"`
	TimeUS   *float64 `json:"time_us"`
	OverBest *float64 `json:"over_best"`
	// RankCorrelation is Spearman's, of the configurations that are valid in both; null for fewer than three.
	RankCorrelation *float64 `json:"rank_correlation"`
	Common          int      `json:"common"`
}

// CommonCandidate is the configuration whose worst loss is the least over all architectures.
type CommonCandidate struct {
	Parameters search.Config `json:"parameters"`
	// OverBest is by sweep, in the order of Sweeps; WorstOverBest the largest.
	OverBest      []float64 `json:"over_best"`
	WorstOverBest float64   `json:"worst_over_best"`
}
