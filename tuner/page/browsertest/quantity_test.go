package browsertest_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// units in which the page shows numbers, as factors of those of the documents: microseconds, bytes, shares of one.
var units = map[string]float64{
	"": 1, "µs": 1, "ms": 1e3, "s": 1e6, "%": 0.01, "×": 1,
	"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"CTAs": 1, "=": 1,
}

// quantity reads a number with a unit as the page shows it; NaN for a dash.
func quantity(t *testing.T, text string) float64 {
	t.Helper()
	text = strings.TrimSpace(strings.ReplaceAll(text, ",", ""))
	if text == "–" {
		return math.NaN()
	}
	if rest, ok := strings.CutPrefix(text, "<"); ok { // "<0.1 %"
		text = rest
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.-+e", r) })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.ParseFloat(strings.TrimRight(text[:end], "e"), 64)
	factor, ok := units[strings.TrimSpace(text[end:])]
	if err != nil || !ok {
		t.Fatalf("%q is no quantity", text)
	}
	return number * factor
}

// near fails unless what the page shows is a number, to the digits that it shows.
func near(t *testing.T, what, shown string, want float64) {
	t.Helper()
	got := quantity(t, shown)
	if strings.HasPrefix(shown, "<") && math.Abs(want) < got {
		return
	}
	if math.IsNaN(got) && math.IsNaN(want) {
		return
	}
	slack := 0.006 * math.Abs(want)
	if strings.HasSuffix(strings.TrimSpace(shown), "%") {
		slack = math.Max(slack, 0.00051)
	}
	if strings.HasSuffix(strings.TrimSpace(shown), "×") {
		slack = math.Max(slack, 0.0051)
	}
	if math.IsNaN(got) || math.IsNaN(want) || math.Abs(got-want) > slack {
		t.Errorf("%s: the page shows %q, the document says %v", what, shown, want)
	}
}

func TestQuantity(t *testing.T) {
	for text, want := range map[string]float64{"153.5 µs": 153.5, "1.031 ms": 1031, "87.6 %": 0.876, "2.30×": 2.3, "3.35 TB/s": 3.35e12, "16.25 KiB": 16640, "1,024": 1024, "<0.1 %": 0.001, "-1": -1} {
		if got := quantity(t, text); math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%q is %v, not %v", text, got, want)
		}
	}
}
