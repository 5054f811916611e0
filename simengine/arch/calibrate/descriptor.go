package calibrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"github.com/warptune/warptune/simengine/arch"
)

// Figures computes every figure the results hold, by its name in a descriptor
// file. The source of each is source followed by the measurement's name. missing
// lists, sorted, the figures whose measurement the results lack, or give no legal value.
func Figures(r Results, source string) (figures map[string]arch.Number, missing []string) {
	figures = map[string]arch.Number{}
	for i := range rules {
		rule := &rules[i]
		v := rule.value(r)
		if math.IsNaN(v) || math.IsInf(v, 0) || !arch.Legal(rule.figure, v) {
			missing = append(missing, rule.figure)
			continue
		}
		figures[rule.figure] = arch.Number{
			Value: v, Unit: arch.UnitOf(rule.figure), Source: source + " " + rule.from, Verified: true,
		}
	}
	sort.Strings(missing)
	return figures, missing
}

// Descriptor renders a descriptor file named name from results: the measured
// figures over those of base, an embedded base ("cc8.6") or architecture
// ("rtx3090"). The file is checked as Parse does.
func Descriptor(r Results, name, title, base, source string) ([]byte, error) {
	figures, _ := Figures(r, source)
	if len(figures) == 0 {
		return nil, fmt.Errorf("calibration of %q: the results hold no measurement of the suite", name)
	}
	var b bytes.Buffer
	for _, line := range [][2]string{{"name", name}, {"title", title}, {"base", base}} {
		if err := field(&b, line[0], line[1]); err != nil {
			return nil, err
		}
	}
	names := make([]string, 0, len(figures))
	for n := range figures {
		names = append(names, n)
	}
	sort.Strings(names)
	b.WriteString("  \"numbers\": {\n")
	for i, n := range names {
		number, err := json.Marshal(figures[n])
		if err != nil {
			return nil, fmt.Errorf("calibration of %q: %s: %w", name, n, err)
		}
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "    %q: %s%s\n", n, number, comma)
	}
	content := []byte("{\n" + b.String() + "  }\n}\n")
	if _, err := arch.Parse(content); err != nil {
		return nil, fmt.Errorf("calibration of %q over base %q: %w", name, base, err)
	}
	return content, nil
}

func field(b *bytes.Buffer, key, value string) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("calibration: %s: %w", key, err)
	}
	fmt.Fprintf(b, "  %q: %s,\n", key, text)
	return nil
}
