package browsertest_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/browsertest"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// TestNumbers compares what views show with the documents that they draw.
func TestNumbers(t *testing.T) {
	s := serve(t, 1000)
	p := browsertest.Open(t, s.URL+"/#/"+small, browsertest.Options{})
	d := table(s, small)
	for view, check := range map[string]func(*testing.T, *server, *browsertest.Page, *rows){
		"summary": summaryNumbers, "configurations": configurationNumbers, "parameters": parameterNumbers, "heatmap": heatNumbers, "parallel": parallelNumbers,
		"roofline": rooflineNumbers, "measured": measuredNumbers, "why": whyNumbers, "memory": memoryNumbers, "slots": slotNumbers, "source": sourceNumbers, "occupancy": occupancyNumbers,
		"compare": compareNumbers, "architectures": architectureNumbers, "progress": progressNumbers,
	} {
		p.View(small, view)
		t.Run(view, func(t *testing.T) { check(t, s, p, d) })
	}
}

func summaryNumbers(t *testing.T, _ *server, p *browsertest.Page, d *rows) {
	near(t, "best time", p.Text(`[data-field=time]`), d.number("time_us", d.Order[0]))
	near(t, "ties", p.Text(`[data-field=ties]`), float64(d.Ties))
	var all []float64
	for _, row := range d.Order {
		all = append(all, d.number("time_us", row))
	}
	slices.Sort(all)
	median := all[len(all)/2]
	if len(all)%2 == 0 {
		median = (all[len(all)/2-1] + median) / 2
	}
	text, _, _ := strings.Cut(p.Text(`.answer section p`), " ")
	near(t, "faster than the median", text, median/all[0])
}

func configurationNumbers(t *testing.T, _ *server, p *browsertest.Page, d *rows) {
	checkRows(t, p, d, d.Order)
	param := d.Parameters[2]
	p.Click("#filter-summary")
	value := param.Dictionary[0].String()
	p.ClickText(fmt.Sprintf("fieldset:nth-of-type(%d) button", 3), value)
	var kept []int
	for _, row := range d.Order {
		if d.value(param.Name, row) == value {
			kept = append(kept, row)
		}
	}
	p.Wait(fmt.Sprintf(`document.querySelector("section[aria-label=Filter] strong").textContent === "%d"`, len(kept)))
	checkRows(t, p, d, kept)
	p.ClickText("section[aria-label=Filter] button", "Clear filter")
	p.Wait(fmt.Sprintf(`document.querySelector("section[aria-label=Filter] strong").textContent === "%d"`, len(d.Order)))
	p.ClickText(`.vhead button`, "Registers")
	p.Wait(`document.querySelector(".vhead [aria-sort=ascending]") !== null`)
	sorted := slices.Clone(d.Order)
	slices.SortStableFunc(sorted, func(a, b int) int { return int(d.number("registers", a) - d.number("registers", b)) })
	checkRows(t, p, d, sorted)
	p.ClickText(`.vhead button`, "Rank")
	p.Click("details.columns summary")
	p.ClickText("details.columns label", "Waves")
	p.Wait(`[...document.querySelectorAll(".vhead button")].some(b => b.textContent === "Waves")`)
	near(t, "waves", p.Texts(`.vrow [data-column=waves]`)[0], d.number("waves", d.Order[0]))
}

// checkRows compares the rows in sight with rows of the table.
func checkRows(t *testing.T, p *browsertest.Page, d *rows, want []int) {
	t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector(".vrow[data-trial]")?.dataset.trial === "%d"`, d.trial(want[0])))
	for i, got := range browsertest.Eval[[][]string](p, `[...document.querySelectorAll(".vrow[data-trial]")].map(r => [r.dataset.trial, ...["time_us", "over_best", "registers", "occupancy"].map(c => r.querySelector("[data-column=" + c + "]").textContent)])`) {
		if i == 10 {
			break
		}
		row := want[i]
		if got[0] != strconv.FormatInt(d.trial(row), 10) {
			t.Errorf("row %d is trial %s, not %d", i, got[0], d.trial(row))
			return
		}
		near(t, "time", got[1], d.number("time_us", row))
		near(t, "over best", got[2], d.number("time_us", row)/d.number("time_us", d.Order[0]))
		near(t, "registers", got[3], d.number("registers", row))
		near(t, "occupancy", got[4], d.number("occupancy", row))
		for _, param := range d.Parameters {
			cell := fmt.Sprintf(`.vrow[data-trial="%s"] [data-column="%s"]`, got[0], param.Name)
			if shown, want := p.Text(cell), d.value(param.Name, row); !strings.EqualFold(shown, want) {
				t.Errorf("%s of trial %s is %s, not %s", param.Name, got[0], shown, want)
			}
		}
	}
}

func parameterNumbers(t *testing.T, s *server, p *browsertest.Page, _ *rows) {
	doc := get[page.Importance](s, "data/sweeps/"+small+"/importance")
	for i, r := range p.Table("Importance") {
		if r[0] != doc.Main[i].Parameter {
			t.Errorf("parameter %d is %s, not %s", i, r[0], doc.Main[i].Parameter)
		}
		near(t, r[0], r[1], doc.Main[i].VarianceShare)
	}
	for i, r := range p.Table("Interactions") {
		near(t, r[0], r[1], doc.Interactions[i].VarianceShare)
	}
	for i, r := range p.Table(doc.Main[0].Parameter) {
		near(t, r[0], r[1], doc.Main[0].BestTimeUS[i])
		near(t, r[0], r[2], doc.Main[0].MeanTimeUS[i])
		near(t, r[0], r[3], float64(doc.Main[0].Evaluated[i]))
	}
}

func heatNumbers(t *testing.T, _ *server, p *browsertest.Page, d *rows) {
	names := browsertest.Eval[[]string](p, `[...document.querySelectorAll(".card header select")].map(s => s.value)`)
	across, down := names[0], names[1]
	cells := p.Table("Heat map")
	head := browsertest.Eval[[]string](p, `[...document.querySelectorAll('details.numbers[data-name="Heat map"] thead th')].map(c => c.textContent)`)
	for _, r := range cells {
		for i, text := range r[1:] {
			best := math.NaN()
			for _, row := range d.Order {
				if us := d.number("time_us", row); d.value(down, row) == r[0] && d.value(across, row) == head[i+1] && !(best < us) {
					best = us
				}
			}
			near(t, fmt.Sprintf("%s=%s %s=%s", across, head[i+1], down, r[0]), text, best)
		}
	}
}

func parallelNumbers(t *testing.T, _ *server, p *browsertest.Page, d *rows) {
	for _, r := range p.Table("Values let through") {
		n, best := 0, math.NaN()
		for _, row := range d.Order {
			if d.value(r[0], row) != r[1] {
				continue
			}
			if us := d.number("time_us", row); !(best < us) {
				best = us
			}
			n++
		}
		near(t, r[0]+"="+r[1], r[2], float64(n))
		near(t, r[0]+"="+r[1], r[3], best)
	}
}

func rooflineNumbers(t *testing.T, _ *server, p *browsertest.Page, d *rows) {
	roof := d.Rooflines[0]
	points := p.Table("Points of the fastest")
	if len(points) == 0 {
		t.Fatal("no points")
	}
	for i, r := range points {
		row := d.Order[i]
		work, bytes, us := d.number(roof.Work, row), d.number(roof.Traffic[0].Column, row), d.number("gpu_time_us", row)
		if strings.ToLower(r[0]) != d.config(row) {
			t.Errorf("point %d is %s, not %s", i, r[0], d.config(row))
		}
		near(t, "intensity", r[1], work/bytes)
		near(t, "performance", r[2], work/us*1e6)
	}
	ceilings := p.Table("Ceilings")
	for i, x := range roof.Traffic {
		near(t, x.Level, ceilings[i][1], x.BytesPerSecond)
	}
}

func measuredNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	p.Wait(`document.querySelector("[data-field=picked]") !== null`)
	doc := get[page.Measured](s, "data/sweeps/"+small+"/measured")
	if doc.PredictedSweep != small || doc.MeasuredSweep != pagetest.Measured || len(doc.PredictedUS) < 20 {
		t.Fatalf("%d pairs of %s and %s", len(doc.PredictedUS), doc.PredictedSweep, doc.MeasuredSweep)
	}
	near(t, "picked", p.Text("[data-field=picked]"), *doc.PickedOverBest)
	near(t, "error", p.Text("[data-field=error]"), *doc.MeanErrorShare)
	near(t, "bias", p.Text("[data-field=bias]"), *doc.Bias)
	near(t, "correlation", p.Text("[data-field=correlation]"), *doc.RankCorrelation)
	measured := table(s, pagetest.Measured)
	shown := p.Table("Predicted and measured")
	if len(shown) != len(doc.PredictedUS) {
		t.Fatalf("%d pairs are shown of %d", len(shown), len(doc.PredictedUS))
	}
	for i, r := range shown {
		near(t, "predicted", r[1], d.number("time_us", d.rowOf(t, doc.PredictedTrials[i])))
		near(t, "measured", r[2], measured.number("time_us", measured.rowOf(t, doc.MeasuredTrials[i])))
		near(t, "ratio", r[3], doc.MeasuredUS[i]/doc.PredictedUS[i])
	}
	p.Click(".chart")
	p.View(pagetest.Measured, "measured")
	p.Wait(`document.querySelector("[data-field=picked]") !== null`)
	near(t, "picked, from the measured sweep", p.Text("[data-field=picked]"), *doc.PickedOverBest)
	p.View(large, "measured")
	p.Wait(`[...document.querySelectorAll("main .note")].some(n => n.textContent.includes("--confirm"))`)
}

func memoryNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	doc := get[page.Trial](s, fmt.Sprintf("data/sweeps/%s/trials/%d", small, d.trial(d.Order[0])))
	shown := p.Table("Memory")
	if len(shown) != len(doc.Memory) {
		t.Fatalf("%d levels are shown of %d", len(shown), len(doc.Memory))
	}
	for i, l := range doc.Memory {
		for j, v := range []*float64{l.ReadBytes, l.WrittenBytes, l.HitShare, l.BytesPerSecond, l.PeakBytesPerSecond, l.UseShare, l.InUseBytes, l.CapacityBytes} {
			want := math.NaN()
			if v != nil {
				want = *v
			}
			near(t, fmt.Sprintf("%s, column %d", l.Title, j+1), shown[i][j+1], want)
		}
	}
	if hot := p.Texts(".level.hot strong"); len(hot) == 0 {
		t.Error("no level is marked as saturated")
	}
}

func occupancyNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	doc := get[page.Explained](s, fmt.Sprintf("data/sweeps/%s/explain?trials=%d", small, d.trial(d.Order[0])))
	o := doc.Details[0].Occupancy
	for name, c := range map[string]page.Curve{"Against block size": o.ByThreads, "Against registers": o.ByRegisters, "Against shared memory": o.ByShared} {
		shown := p.Table(name)
		if len(shown) != len(c.X) {
			t.Fatalf("%s: %d points of %d", name, len(shown), len(c.X))
		}
		for i, r := range shown {
			near(t, name, r[1], float64(c.CTAs[i]))
			near(t, name, r[3], c.Share[i])
		}
	}
	first, _, _ := strings.Cut(p.Text(".mid"), " occupancy")
	near(t, "present occupancy", first, o.Present.Share)
}

func progressNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	doc := get[page.Failures](s, "data/sweeps/"+small+"/failures")
	total := 0.0
	for _, text := range p.Texts(`section[aria-label=Failures] summary strong`) {
		total += quantity(t, text)
	}
	if int(total) != len(doc.Trials) {
		t.Errorf("%v failures are listed of %d", total, len(doc.Trials))
	}
	steps, best := [][2]float64{}, math.Inf(1)
	byTrial := slices.Clone(d.Order)
	slices.SortFunc(byTrial, func(a, b int) int { return int(d.trial(a) - d.trial(b)) })
	for _, row := range byTrial {
		if us := d.number("time_us", row); us < best {
			best = us
			steps = append(steps, [2]float64{float64(d.trial(row)), us})
		}
	}
	shown := p.Table("Best so far")
	if len(shown) != len(steps) {
		t.Fatalf("%d steps of the best are shown of %d", len(shown), len(steps))
	}
	for i, r := range shown {
		near(t, "trial", r[0], steps[i][0])
		near(t, "best", r[1], steps[i][1])
	}
}
