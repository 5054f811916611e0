package page

import (
	"github.com/warptune/warptune/search"
)

// Table is the configurations of a sweep that have ended, column by column. A row is one trial. Rows are in the order in
// which the server read them and never change, so a running sweep's table grows at its end: who has N rows asks for
// from=N with the epoch, and is answered those after. A sweep that starts over has another epoch, and from is 0 then.
type Table struct {
	Schema string `json:"schema"`
	Sweep  string `json:"sweep"`
	Epoch  string `json:"epoch"`
	From   int    `json:"from"` // the first row that is here
	Rows   int    `json:"rows"` // in all, those before From included
	// Complete says that every result there is now has been read: else ask again at once.
	Complete bool `json:"complete"`
	// Parameters are the columns of the configuration, in the order of the space; Columns what came out.
	Parameters []Column `json:"parameters"`
	Columns    []Column `json:"columns"`
	// Rooflines name the columns that are drawn under a roof; the first is the one to show.
	Rooflines []Roofline `json:"rooflines"`
	// DamagedRows are missing: their records are damaged in the store.
	DamagedRows int64 `json:"damaged_rows,omitempty"`
}

// Column is one column. Either Numbers has a number for each row, null where it is not known, or Codes has an index into
// Dictionary, -1 where it is not known. A dictionary is whole in every answer and only grows, in the order of first
// appearance. Shares and ratios have seven significant digits, other numbers all that they have. Codes are what parameters and names have; that values are numbers is to be seen in Kind.
type Column struct {
	// Name is the column's, as in other documents of warptune; of a parameter, the parameter's.
	Name  string `json:"name"`
	Title string `json:"title"` // for people
	// Unit is "us", "bytes", "percent", "share" (0 to 1), "bytes/s", "flop", "count" or "".
	Unit string `json:"unit,omitempty"`
	// Kind is "integer", "real", "truth" or "text".
	Kind string `json:"kind"`
	// Help says what it is, in a sentence. Shown says that it is shown unless somebody chooses otherwise.
	Help  string `json:"help,omitempty"`
	Shown bool   `json:"shown,omitempty"`
	// Better is "less" or "more" where one end is the good one.
	Better     string         `json:"better,omitempty"`
	Numbers    Numbers        `json:"numbers,omitzero"`
	Codes      []int32        `json:"codes,omitzero"`
	Dictionary []search.Value `json:"dictionary,omitzero"`
}

// The columns of a table are those of valueColumns (columns.go), always all of them and in that order. Drawings need
//
//	trial         integer  the trial's number in the sweep: its name in addresses
//	validity      text     "correct", else why it is not valid, or "abandoned"
//	time_us       real     predicted time, from start to start of launches back to back
//	gpu_time_us   real     on the GPU alone
//	level         text     "cycle" or "model": only rows of the sweep's last level are ranked
//
// Other counters of the simulator are in data/sweeps/ID/trials/TRIAL.

// Ranking is the valid rows of the table, best first. Rows that tie with the first, by the expected error of predictions
// and what sampling adds, stand together before the others, as in "warptune tune".
type Ranking struct {
	Schema string `json:"schema"`
	Sweep  string `json:"sweep"`
	Epoch  string `json:"epoch"`
	Rows   int    `json:"rows"`  // of the table that it is of
	Order  []int  `json:"order"` // row numbers of the table
	// Groups are where groups of ties begin in Order: the first is 0. The first of a group is its fastest, and the others
	// may as well be as fast.
	Groups []int `json:"groups"`
	// Ties is how many tie with the best, it included.
	Ties int `json:"ties"`
	// TiesShare is by how much the slowest of them is slower than the best. It is more than the expected error where times
	// are extrapolated from few CTAs.
	TiesShare float64 `json:"ties_share"`
	// Expected is the error by which ties are told. Its text says so of sampling, too, where that makes ties.
	Expected ExpectedError `json:"expected_error"`
	// Notes are to be read below the table: ties, raised register caps, cautions.
	Notes []string `json:"notes"`
}

// ExpectedError is how far predictions are to be trusted: "expected_error" of "warptune tune --json".
type ExpectedError struct {
	Share          float64  `json:"share"`
	Configurations int      `json:"configurations"` // measured, that it comes from
	Of             []string `json:"of"`             // architectures
	Borrowed       bool     `json:"borrowed"`       // none of this architecture or its like
	Text           string   `json:"text"`
}

// Failures are all configurations that are not valid, column by column, by trial.
type Failures struct {
	Schema string `json:"schema"`
	Sweep  string `json:"sweep"`
	// Trials are their numbers: rows of the table have them. Validity and Message have a code for each.
	Trials   []int64 `json:"trials"`
	Validity Column  `json:"validity"`
	Message  Column  `json:"message"`
}

// Importance is which parameters matter: a functional ANOVA of a random forest over the configurations evaluated.
type Importance struct {
	Schema string `json:"schema"`
	Sweep  string `json:"sweep"`
	// Method names the method and its paper, RestsOn what it was computed from, both in a sentence.
	Method  string `json:"method"`
	RestsOn string `json:"rests_on"`
	// Configurations is how many valid ones it rests on. Fit is the forest's coefficient of determination on configurations
	// that its trees did not see: below about 0.5 the shares say little. null where there are too few.
	Configurations int      `json:"configurations"`
	Fit            *float64 `json:"fit_r2"`
	// Main has a share for each parameter that has more than one value, the largest first; Interactions for pairs, beyond
	// what each of the two does by itself; RestShare is of higher orders. All are shares of the variance of log(time).
	Main         []MainEffect  `json:"main"`
	Interactions []Interaction `json:"interactions"`
	RestShare    float64       `json:"rest_share"`
}

// MainEffect is what one parameter does by itself.
type MainEffect struct {
	Parameter     string  `json:"parameter"`
	VarianceShare float64 `json:"variance_share"`
	// By value of the parameter: the mean over all others by the forest, geometric, and the best that was evaluated
	// with it, null where nothing valid was.
	Values     []search.Value `json:"values"`
	MeanTimeUS Numbers        `json:"mean_time_us"`
	BestTimeUS Numbers        `json:"best_time_us"`
	Evaluated  []int          `json:"evaluated"` // valid configurations with the value
	Failed     []int          `json:"failed"`    // not valid ones
}

// Interaction is what two parameters do together.
type Interaction struct {
	Parameters    [2]string `json:"parameters"`
	VarianceShare float64   `json:"variance_share"`
}
