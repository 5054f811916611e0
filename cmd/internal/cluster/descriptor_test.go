package cluster

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
)

const halfText = `{"name": "half", "base": "h200", "numbers": {"sms": {"value": 66, "unit": "count", "source": "a test"}}}`

// A descriptor that comes with a sweep is the one that the sweep names: of its name and
// figures, whole, and none of the built-in ones' names. Coordinators and workers refuse
// others by the field.
func TestDescriptorsAreWhatTheyAreSaidToBe(t *testing.T) {
	half, err := arch.Parse([]byte(halfText))
	if err != nil {
		t.Fatal(err)
	}
	q, bundle := question(t)
	for _, c := range []struct{ name, digest, text, want string }{
		{"half", half.Digest, halfText, ""},
		{"other", half.Digest, halfText, `name: it is of "half"`},
		{"half", "0123", halfText, "digest " + half.Digest},
		{"half", half.Digest, strings.Replace(halfText, "66", "65", 1), "digest"},
		{"half", half.Digest, halfText[:40], "unexpected"},
		{"half", half.Digest, strings.Replace(halfText, `"sms"`, `"smss"`, 1), `"smss"`},
		{"half", half.Digest, "", "EOF"},
		{"h200", half.Digest, strings.Replace(halfText, "half", "h200", 1), "name of its own"},
	} {
		spec := q.Spec
		spec.Arch, spec.ArchDigest, spec.Descriptor = c.name, c.digest, "digest-of-the-text"
		_, err := (Planner{}).Plan(t.Context(), spec, tuner.Files{Bundle: bundle, Descriptor: []byte(c.text)})
		if c.want == "" && err != nil || c.want != "" && (tuner.KindOf(err) != tuner.Invalid || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("the coordinator of %+v: %v", c, err)
		}
		asked := q
		asked.Spec, asked.Descriptor = spec, []byte(c.text)
		o, err := NewEvaluator(nil).Evaluate(t.Context(), asked, bundle)
		if c.want == "" && (err != nil || o.Validity != tuner.Correct) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("a worker of %+v: %v, %v", c, o.Validity, err)
		}
	}
}
