package tuner

import "fmt"

// Validity is the kind of an outcome, the six of the T4 format. They belong to
// the configuration and are never retried. The zero value is invalid.
type Validity uint8

// Validities.
const (
	ValidityUnknown Validity = iota
	Correct
	Constraints
	Compile
	Runtime
	Timeout
	Correctness
	numValidities
)

var validityNames = [numValidities]string{"unknown", "correct", "constraints", "compile", "runtime", "timeout", "correctness"}

// Validities returns the valid kinds in order.
func Validities() []Validity {
	return []Validity{Correct, Constraints, Compile, Runtime, Timeout, Correctness}
}

// String returns the kind as T4 files spell it.
func (v Validity) String() string {
	if v < numValidities {
		return validityNames[v]
	}
	return fmt.Sprintf("validity(%d)", uint8(v))
}

// Valid reports whether v is one of the six kinds.
func (v Validity) Valid() bool { return v > ValidityUnknown && v < numValidities }

// ParseValidity reads what String wrote.
func ParseValidity(s string) (Validity, error) {
	for _, v := range Validities() {
		if validityNames[v] == s {
			return v, nil
		}
	}
	return ValidityUnknown, Errorf(Invalid, "read validity", "%q is none of %v", s, Validities())
}

// MarshalText writes the kind as String does.
func (v Validity) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Validity) UnmarshalText(text []byte) error {
	parsed, err := ParseValidity(string(text))
	*v = parsed
	return err
}
