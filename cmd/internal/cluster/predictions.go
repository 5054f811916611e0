package cluster

import (
	"encoding/json"
	"fmt"

	"github.com/warptune/warptune/search"
)

// Predictions are predicted times in microseconds by configuration, as Config.String writes it.
type Predictions map[string]float64

// Text is what a spec names by digest: the same for the same predictions.
func (p Predictions) Text() ([]byte, error) { return json.Marshal(p) }

// priorOf reads predictions of a space's configurations; nil of no text. Those of others are left out,
// as is done with configurations to begin with.
func priorOf(space *search.Space, text []byte) (search.Prior, error) {
	if text == nil {
		return nil, nil
	}
	var p Predictions
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("predictions: %w", err)
	}
	prior := search.Prior{}
	for config, us := range p {
		c, err := space.ParseConfig(config)
		if err != nil {
			continue
		}
		if i, ok := space.IndexOf(c); ok {
			prior[i] = us
		}
	}
	return prior, nil
}
