package main

import (
	"context"
	"errors"
	"io"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/rpc"
)

// tunedDocument is what tune prints of a sweep as JSON (docs/tune.schema.json).
type tunedDocument struct {
	Schema   string          `json:"schema"`
	Sweep    any             `json:"sweep"`
	Names    []string        `json:"parameters"`
	Top      []any           `json:"top"`
	Ties     int             `json:"ties"`
	Margin   fidelity.Margin `json:"expected_error"`
	Caution  string          `json:"caution,omitempty"`
	Failures []failedJSON    `json:"failures"`
}

// failedJSON is a configuration that is not valid.
type failedJSON struct {
	Trial      int64         `json:"trial"`
	Parameters search.Config `json:"parameters"`
	Validity   string        `json:"validity"`
	Message    string        `json:"message"`
}

// printTunedJSON prints the documents of a command's sweeps as one: an array of them where there are several.
func (a *app) printTunedJSON(docs []*tunedDocument) error {
	if len(docs) == 1 {
		return a.printJSON(docs[0])
	}
	return a.printJSON(docs)
}

// failures are all configurations of a sweep that are not valid, by trial.
func failures(ctx context.Context, c *client, s *warptunev1.Sweep) ([]failedJSON, error) {
	out := []failedJSON{}
	stream, err := c.Results(ctx, &warptunev1.ResultsRequest{Id: s.GetId()})
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		page, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if len(page.GetNames()) > 0 {
			names = page.GetNames()
		}
		for _, r := range page.GetResults() {
			switch v := r.GetOutcome().GetValidity(); v {
			case warptunev1.Validity_VALIDITY_CORRECT, warptunev1.Validity_VALIDITY_UNSPECIFIED:
			default:
				out = append(out, failedJSON{r.GetSeq(), search.Config{Names: names, Values: rpc.ToValues(r.GetConfig())}, outcomeName(v), r.GetOutcome().GetMessage()})
			}
		}
	}
}
