package simengine

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/sroa"
	"github.com/warptune/warptune/simengine/timing"
)

// Report is what simulating one configuration gave. It owns its memory.
type Report struct {
	// Provenance: equal provenance means an equal report.
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"`
	Level  string `json:"level"`
	Engine string `json:"engine"` // Version()
	Module string `json:"module"` // digest of the PTX
	Device string `json:"device"` // digest of the descriptor
	Digest string `json:"digest"` // of the whole question

	TimeUS float64 `json:"time_us"` // start to start of back-to-back launches, microseconds
	Cycles float64 `json:"cycles"`  // of the grid alone, SM clock
	// FloorUS is a time that TimeUS is not below at either level, microseconds.
	// It is the same at both, and known without clocking anything.
	FloorUS float64 `json:"floor_us"`
	// ErrorShare estimates the relative error that sampling the grid and its
	// loops adds to TimeUS; 0 when everything was simulated.
	ErrorShare float64 `json:"error_share"`

	Registers  int `json:"registers"`   // per thread
	SpillBytes int `json:"spill_bytes"` // per thread
	// Assembler is who said these and SharedStatic, "" the model of one.
	Assembler  string `json:"assembler,omitempty"`
	LocalBytes int    `json:"local_bytes"` // per thread, spills included
	// LocalArrays are the variables of a thread's own that are in local memory.
	LocalArrays   []LocalArray `json:"local_arrays,omitempty"`
	SharedStatic  int          `json:"shared_static"`
	SharedDynamic int          `json:"shared_dynamic"`
	CarveOut      int          `json:"carve_out"` // bytes of shared memory the driver configures
	L1Bytes       int          `json:"l1_bytes"`  // what that leaves to L1

	CTAsPerSM int     `json:"ctas_per_sm"`
	Occupancy float64 `json:"occupancy"` // theoretical, 0 to 1
	Limiter   string  `json:"limiter"`
	Waves     float64 `json:"waves"`

	// Bound is the unit nearest its peak (timing.Bound's names) if it comes to timing.BoundFrom of it,
	// else "latency"; Nearest is the unit in any case.
	Bound   string `json:"bound"`
	Nearest string `json:"nearest"`
	// Stall is the reason that most issue slots go unused for, Nsight Compute's name ("idle": no warp is there); ""
	// at level model, which clocks none.
	Stall string `json:"stall,omitempty"`
	// Use is how near each unit comes to its peak, 1 being there, the nearest first: counted work (see
	// timing.Work) over Cycles, of the whole device.
	Use []Share `json:"use"`
	// Slots accounts for every issue slot of the device over Cycles: issued + the stalls are 1.
	Slots []Share `json:"slots"`
	// Metrics are simulated counters under Nsight Compute's names, of the launch that the time is of. That is one
	// between others of its kind, which finds in L2 what the one before left there, or one by itself if
	// Request.Cold asks for that.
	Metrics map[string]float64 `json:"metrics"`
	// Migration is what managed memory adds to the first launch, nil where nothing migrates or it is not known how fast.
	Migration *Migration `json:"migration,omitempty"`
	// NotModelled names what the kernel uses and the simulator leaves out.
	NotModelled []string `json:"not_modelled,omitempty"`

	// Lines is what each line of the source does and costs, in the order of the PTX: where Request.Lines asks for it,
	// at level cycle.
	Lines []SourceLine `json:"lines,omitempty"`
	// Operations are the floating-point operations of the launch: where Request.Lines asks for lines and the level, model,
	// clocks none.
	Operations []Operations `json:"operations,omitempty"`

	Checked   Checked    `json:"checked"`
	Execution *Execution `json:"-"` // what Checked rests on; shared with other reports of the launch

	SampledCTAs         int   `json:"sampled_ctas"`
	SampledInstructions int64 `json:"sampled_instructions"` // warp instructions
}

// Share is a named part of a whole.
type Share struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// NearestUnits are the units that may be nearest their peaks, the nearest first: those within timing.Tie of it. It is
// a part of Use.
func (r *Report) NearestUnits() []Share {
	n := min(1, len(r.Use))
	for n > 0 && n < len(r.Use) && r.Use[n].Value >= timing.Tie*r.Use[0].Value {
		n++
	}
	return r.Use[:n]
}

// BoundText is the bound in a word or two: "dram", or "latency (long_scoreboard)".
func (r *Report) BoundText() string {
	if r.Bound == r.Nearest || r.Stall == "" {
		return r.Bound
	}
	return r.Bound + " (" + r.Stall + ")"
}

// LocalArray is a variable that is in local memory though no register is spilled for it.
type LocalArray struct {
	Name  string `json:"name"` // in the PTX
	Bytes int    `json:"bytes"`
	// Line of the PTX where it is first accessed at a place known at run time only, 0 for none: it is
	// then accessed in parts of words, or its address is used otherwise.
	Line int `json:"line,omitempty"`
}

func localArrays(k *ir.Kernel) (out []LocalArray) {
	for _, a := range sroa.LocalArrays(k) {
		out = append(out, LocalArray{a.Name, a.Bytes, a.Indexed.Line})
	}
	return out
}
