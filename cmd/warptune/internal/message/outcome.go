package message

import (
	"fmt"
	"strings"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
)

// ConfirmedText says who came to the same outcome of a best; "": nobody.
func ConfirmedText(r interface {
	GetConfirmed() bool
	GetConfirmedWithin() bool
}) string {
	switch {
	case r.GetConfirmed():
		return "by a second worker of another credential, with the same outcome"
	case r.GetConfirmedWithin():
		return "by another worker of the same credential, with the same outcome"
	}
	return ""
}

// ExampleText names the configuration of an example, or its trial where that is all
// that is known.
func ExampleText(e *warptunev1.Example) string {
	if e.GetConfig() == "" {
		return fmt.Sprintf("trial %d", e.GetSeq())
	}
	return cli.PlainText(e.GetConfig())
}

// Outcomes says how many trials have each kind of outcome, and how many are
// correct.
func Outcomes(n *warptunev1.Counts) (correct int64, parts []string) {
	for i, count := range n.GetByValidity() {
		if warptunev1.Validity(i) == warptunev1.Validity_VALIDITY_CORRECT {
			correct = count
		}
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, OutcomeName(warptunev1.Validity(i))))
		}
	}
	return correct, parts
}

// ValidityName is a validity in lower case.
func ValidityName(v warptunev1.Validity) string {
	return strings.ToLower(strings.TrimPrefix(v.String(), "VALIDITY_"))
}

// OutcomeName is a validity as it reads after a number: «2 correctness» would be
// taken for its opposite.
func OutcomeName(v warptunev1.Validity) string {
	switch v {
	case warptunev1.Validity_VALIDITY_CORRECT:
		return "ran clean"
	case warptunev1.Validity_VALIDITY_CORRECTNESS:
		return "gave wrong results"
	}
	return ValidityName(v)
}
