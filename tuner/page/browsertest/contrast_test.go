package browsertest_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast holds the colours of text to 4.5 to 1, WCAG's level AA, in both themes.
func TestContrast(t *testing.T) {
	style, err := os.ReadFile("../web/src/style.css")
	if err != nil {
		t.Fatal(err)
	}
	_, light, _ := strings.Cut(string(style), ":root {")
	light, rest, _ := strings.Cut(light, "}")
	_, dark, _ := strings.Cut(rest, `:root[data-theme="dark"] {`)
	dark, _, _ = strings.Cut(dark, "}")
	pairs := [][2]string{
		{"text", "bg"}, {"text", "surface"}, {"text", "sunken"}, {"text", "accent-soft"}, {"text", "warn-soft"}, {"text", "bad-soft"}, {"muted", "bg"}, {"muted", "surface"},
		{"muted", "sunken"}, {"accent", "surface"}, {"accent", "bg"}, {"accent", "accent-soft"}, {"good", "surface"}, {"bad", "surface"}, {"bad", "bg"}, {"warn", "warn-soft"},
	}
	for name, block := range map[string]string{"light": light, "dark": dark} {
		colours := map[string][3]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6})`).FindAllStringSubmatch(block, -1) {
			n, _ := strconv.ParseUint(m[2], 16, 32)
			colours[m[1]] = [3]float64{float64(n >> 16), float64(n >> 8 & 255), float64(n & 255)}
		}
		for _, p := range pairs {
			a, oka := colours[p[0]]
			b, okb := colours[p[1]]
			if !oka || !okb {
				t.Fatalf("%s has no colour %s or %s", name, p[0], p[1])
			}
			if c := contrast(a, b); c < 4.5 {
				t.Errorf("%s: %s on %s is %.2f to 1", name, p[0], p[1], c)
			}
		}
	}
}

// contrast is WCAG 2's.
func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c [3]float64) float64 {
	weights, sum := [3]float64{0.2126, 0.7152, 0.0722}, 0.0
	for i, v := range c {
		v /= 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weights[i] * v
	}
	return sum
}
