package tune

import (
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
)

// tunedDocument is what tune prints of a sweep as JSON (docs/tune.schema.json).
type tunedDocument struct {
	Schema   string             `json:"schema"`
	Sweep    any                `json:"sweep"`
	Names    []string           `json:"parameters"`
	Top      []any              `json:"top"`
	Ties     int                `json:"ties"`
	Margin   fidelity.Margin    `json:"expected_error"`
	Caution  string             `json:"caution,omitempty"`
	Failures []sweep.FailedJSON `json:"failures"`
}

// printTunedJSON prints the documents of a command's sweeps as one: an array of them where there are several.
func printTunedJSON(a *cli.App, docs []*tunedDocument) error {
	if len(docs) == 1 {
		return a.PrintJSON(docs[0])
	}
	return a.PrintJSON(docs)
}
