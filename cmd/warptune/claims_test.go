package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/fidelity"
)

// Rows within the expected error of the best share its rank, in the table and as JSON;
// rows beyond it do not.
func TestTiesAreShown(t *testing.T) {
	tune := append([]string{"tune", "transpose_tiled", "--db", filepath.Join(t.TempDir(), "x.db"), "--top", "0"}, quick...)
	tune[len(tune)-5] = "1024"
	text := warptune(t, tune...).ok(t).stdout
	var out struct {
		Top []struct {
			Tie     bool
			Outcome struct {
				Time    float64            `json:"time_us"`
				Metrics map[string]float64 `json:"metrics"`
			}
		}
		Margin fidelity.Margin `json:"expected_error"`
	}
	if err := json.Unmarshal([]byte(warptune(t, append(tune, "--json")...).ok(t).stdout), &out); err != nil {
		t.Fatal(err)
	}
	ties := 0
	for i, row := range out.Top {
		over := row.Outcome.Time / out.Top[0].Outcome.Time
		if row.Tie {
			ties++
		}
		if within := over <= 1+out.Margin.Share; within != row.Tie && row.Outcome.Metrics["warptune__sampling_error"] == 0 && out.Top[0].Outcome.Metrics["warptune__sampling_error"] == 0 {
			t.Errorf("row %d, %.4f times the best with a margin of %.4f: tie %v", i+1, over, out.Margin.Share, row.Tie)
		}
	}
	if ties < 2 || ties == len(out.Top) {
		t.Fatalf("%d of %d tie: the test shows nothing", ties, len(out.Top))
	}
	if n := len(regexp.MustCompile(`(?m)^1= `).FindAllString(text, -1)); n != ties || !strings.Contains(text, fmt.Sprintf("ties: %d configurations are within ", ties)) || !strings.Contains(text, fmt.Sprintf("\n%d  ", ties+1)) {
		t.Errorf("%d rows share the first rank, %d tie:\n%s", n, ties, text)
	}
}

// What is said of an architecture that few figures of are verified stands beside its
// numbers wherever they are shown.
func TestUnverifiedArchitectures(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	where := []string{"--arch", "a100", "--db", db}
	tune := append([]string{"tune", "copy", "--problem", "65536", "--level", "model"}, where...)
	best := append([]string{"best", "copy", "--problem", "65536"}, where...)
	const said = "85 of the 129 figures of a100 are not verified"
	for _, args := range [][]string{
		tune, append(tune, "--json"), best, append(best, "--json"), append([]string{"export", "--format", "markdown"}, where...),
		append([]string{"export", "--format", "c-header"}, where...), append([]string{"export", "--json"}, where...),
	} {
		if out := warptune(t, args...).ok(t).stdout; !strings.Contains(out, said) {
			t.Errorf("%v does not say it:\n%s", args, out)
		}
	}
	if out := warptune(t, "archs").ok(t).stdout; !regexp.MustCompile(`a100 .* 44 of 129 `).MatchString(out) {
		t.Errorf("archs says %s", out)
	}
	if out := warptune(t, append([]string{"tune", "copy", "--db", db}, quick...)...).ok(t).stdout; strings.Contains(out, "caution") {
		t.Errorf("of an H200 it is said:\n%s", out)
	}
}

// A cap that the assembler does not keep to is told of.
func TestRaisedCapsAreTold(t *testing.T) {
	tune := append([]string{"tune", "transpose_naive", "--db", filepath.Join(t.TempDir(), "x.db"), "--set", "max_registers=0,16,32", "--top", "0"}, "--arch", "h200", "--problem", "256", "--level", "model")
	def := given(t, "transpose_naive", func(definition map[string]any) {
		part(t, definition, "KernelSpecification")["MaxRegisters"] = "16"
	})
	tune[1] = def
	tune = append(tune[:4], tune[6:]...)
	const want = "\n* cap 16 raised to 24, ptxas' least\n"
	if out := warptune(t, tune...).ok(t).stdout; !strings.Contains(out, want) {
		t.Errorf("tune says %s", out)
	}
	explain := warptune(t, "explain", def, "--arch", "h200", "--problem", "256", "--config", "BLOCK_X=32").ok(t).stdout
	if !strings.Contains(explain, "register cap 16 raised to 24") {
		t.Errorf("explain says %s", explain)
	}
}

// With --json nothing is printed that is not JSON.
func TestJSONIsAll(t *testing.T) {
	db := tuned(t)
	id := strings.Fields(strings.Split(warptune(t, "sweep", "list", "--db", db).ok(t).stdout, "\n")[1])[0]
	queued(t, db, "histogram")
	for _, args := range [][]string{
		{"sweep", "list", "--db", db}, {"sweep", "list", "--kernel", "none", "--db", db}, {"sweep", "status", id, "--db", db}, {"sweep", "watch", id, "--db", db},
		{"sweep", "plot", id, "--db", db}, {"export", "--db", db}, {"export", "--all", "--db", db}, {"best", "copy", "--arch", "h200", "--problem", "65536", "--db", db},
		append([]string{"tune", "copy", "--plot", "--db", db}, quick...), {"archs"}, {"archs", "h200"}, {"kernels"}, {"space", "copy"}, {"space", "copy", "--list"},
		{"explain", "copy", "--arch", "h200", "--level", "model", "--config", "BLOCK_SIZE=128"}, {"version"},
	} {
		r := warptune(t, append(args, "--json")...).ok(t)
		if r.stdout == "" {
			t.Errorf("%v prints nothing", args)
		}
		for dec := json.NewDecoder(strings.NewReader(r.stdout)); ; {
			var v any
			if err := dec.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%v: %v:\n%.300s", args, err, r.stdout)
				break
			}
		}
	}
	warptune(t, "export", "--json", "--format", "csv", "--db", db).refused(t, exitUsage, "--json", "csv")
}
