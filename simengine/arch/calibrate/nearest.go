package calibrate

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/warptune/warptune/simengine/arch"
)

// Nearest is the embedded architecture that a GPU's figures come from where they are not
// measured: the one of its name, else of its compute capability the one whose number of SMs is
// nearest.
func Nearest(gpu string, cc [2]int, sms int) (string, error) {
	if d, err := arch.Load(gpu); err == nil && d.CC == cc {
		return d.Name, nil
	}
	best, off := "", math.MaxInt
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil || d.CC != cc {
			continue
		}
		if n := max(d.SMs-sms, sms-d.SMs); n < off {
			best, off = name, n
		}
	}
	if best == "" {
		return "", fmt.Errorf("no known architecture is of compute capability %d.%d, as %s is: name the one to take over what is not measured from by --base (known: %s)", cc[0], cc[1], gpu, strings.Join(arch.Names(), ", "))
	}
	return best, nil
}

// notable is the share by which a figure differs notably from its base's.
const notable = 0.1

// Compare says of a descriptor that Descriptor rendered which figures it takes over from its base,
// and which of those measured differ notably, as "latency.dram 664, was 580".
func Compare(content []byte) (taken, different []string) {
	d, was, own, err := arch.Over(content)
	if err != nil {
		return nil, nil
	}
	for name, n := range d.Numbers {
		w, ok := was[name]
		switch {
		case !own[name]:
			taken = append(taken, name)
		case ok && math.Abs(n.Value-w.Value) > notable*math.Abs(w.Value):
			different = append(different, fmt.Sprintf("%s %.6g, was %.6g", name, n.Value, w.Value))
		}
	}
	sort.Strings(taken)
	sort.Strings(different)
	return taken, different
}
