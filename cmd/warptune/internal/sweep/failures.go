package sweep

import (
	"context"
	"errors"
	"io"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/rpc"
)

// MostRows is what one Top call may be asked for.
const MostRows = 10000

// FailedJSON is a configuration that is not valid.
type FailedJSON struct {
	Trial      int64         `json:"trial"`
	Parameters search.Config `json:"parameters"`
	Validity   string        `json:"validity"`
	Message    string        `json:"message"`
}

// Failures are all configurations of a sweep that are not valid, by trial.
func Failures(ctx context.Context, c *connect.Client, s *warptunev1.Sweep) ([]FailedJSON, error) {
	out := []FailedJSON{}
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
				out = append(out, FailedJSON{r.GetSeq(), search.Config{Names: names, Values: rpc.ToValues(r.GetConfig())}, message.OutcomeName(v), r.GetOutcome().GetMessage()})
			}
		}
	}
}
