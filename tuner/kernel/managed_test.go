package kernel

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

const managedDefinition = `{
  "ConfigurationSpace": {"TuningParameters": [{"Name": "BK", "Type": "int", "Values": [16]}]},
  "KernelSpecification": {
    "Language": "PTX", "KernelName": "k", "KernelFile": "ptx/scale_32.ptx", "ProblemSize": [256], "LocalSize": {"X": 128}, "GlobalSize": {"X": 8},
    "Arguments": [{"Name": "c", "Type": "float", "Size": 16, "Managed": WHERE}, {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1}]}}`

// Where pages of managed memory lie is read from a definition, true as the host's; what is no place is refused.
func TestManagedOfADefinition(t *testing.T) {
	for where, want := range map[string]call.Managed{`true`: call.ManagedHost, `false`: call.ManagedNot, `"host"`: call.ManagedHost, `"nowhere"`: call.ManagedNowhere, `"Device"`: call.ManagedDevice} {
		d, warnings, err := Parse("x", []byte(strings.Replace(managedDefinition, "WHERE", where, 1)), call.Dir("testdata"))
		if err != nil || len(warnings) > 0 {
			t.Fatal(where, warnings, err)
		}
		l, err := d.Launch(d.Default(), nil)
		if err != nil {
			t.Fatal(where, err)
		}
		if got := l.Args[0].Managed; got != want || l.Args[1].Managed != call.ManagedNot {
			t.Errorf("%s: %v, want %v; the scalar %v", where, got, want, l.Args[1].Managed)
		}
	}
	for where, want := range map[string]string{
		`"there"`: "known are host, nowhere, device", `1`: "Arguments[0].Managed", `"host", "MemoryType": "Texture", "Shape": [16]`: "only a Vector can be in managed memory",
	} {
		if _, _, err := Parse("x", []byte(strings.Replace(managedDefinition, "WHERE", where, 1)), call.Dir("testdata")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", where, err, want)
		}
	}
}
