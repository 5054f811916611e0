package compile

import (
	"fmt"

	"github.com/warptune/warptune/tuner/kernel/option"
)

// translate checks the options of a request and gives them as clang spells them.
// Definitions were read with options that are accepted: this is for whoever makes
// a request otherwise.
func translate(given []string) ([]string, error) {
	clang, err := option.Clang(given)
	if err != nil {
		return nil, fmt.Errorf("error: %w", err)
	}
	return clang, nil
}
