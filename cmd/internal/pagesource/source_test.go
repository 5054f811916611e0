package pagesource

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
)

// swept is a real sweep of a built-in kernel's configurations, in a database of the test's own.
func swept(t *testing.T, kernel, device string, set map[string][]string) (*Source, string) {
	t.Helper()
	emb, err := cluster.Embed(t.Context(), filepath.Join(t.TempDir(), "x.db"), cluster.EmbedOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := emb.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		if err := emb.Close(); err != nil {
			t.Error(err)
		}
	})
	k, err := catalogue.Open(kernel)
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	content, digest, err := def.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load(device)
	if err != nil {
		t.Fatal(err)
	}
	client := warptunev1.NewSweepServiceClient(conn)
	stream, err := client.PutBundle(t.Context())
	for len(content) > 0 && err == nil {
		n := min(len(content), 256<<10)
		err = stream.Send(&warptunev1.PutBundleRequest{Digest: digest, Chunk: content[:n]})
		content = content[n:]
	}
	if err == nil {
		_, err = stream.CloseAndRecv()
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := tuner.Spec{Kernel: def.Name, Bundle: digest, Arch: d.Name, Problem: []int64{1024}, Set: set, Strategy: "exhaustive", Level: "cycle", ArchDigest: d.Digest, Engine: simengine.Version()}
	r, err := client.Submit(t.Context(), &warptunev1.SubmitRequest{Spec: rpc.FromSpec(&spec)})
	if err != nil {
		t.Fatal(err)
	}
	if err := emb.Work(1, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	s := New("test", Over(conn))
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		now, err := s.Sweep(t.Context(), r.GetSweep().GetId())
		if err != nil || time.Now().After(end) {
			t.Fatal(now.State, err)
		}
		if now.State == tuner.Completed {
			return s, now.ID
		}
	}
}

// Operations that are counted of every configuration are those that are counted line by line when one is explained: for a
// matrix product 2 n^3.
func TestOperationsAreThoseOfTheLines(t *testing.T) {
	s, id := swept(t, "sgemm", "h200", map[string][]string{"BM": {"64"}, "BN": {"64"}, "BK": {"8", "16"}, "TM": {"4"}, "TN": {"4"}, "PAD": {"0"}, "max_registers": {"0"}})
	h := page.Handler(s, page.Options{})
	get := func(address string, doc any) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/data/sweeps/"+id+address, nil))
		if err := json.Unmarshal(w.Body.Bytes(), doc); err != nil || w.Code != 200 {
			t.Fatalf("%s: status %d (%v): %.300s", address, w.Code, err, w.Body)
		}
	}
	var table page.Table
	get("/table", &table)
	if r := table.Rooflines[0]; r.Work != "flop" || len(r.Ceilings) != 1 || r.Ceilings[0].Unit != "fp32" {
		t.Errorf("the roofline is %+v", r)
	}
	for i := range table.Columns {
		if table.Columns[i].Name != "flop" {
			continue
		}
		for row, v := range table.Columns[i].Numbers {
			var again page.Explained
			get(fmt.Sprintf("/explain?trials=%d", row), &again)
			var doc struct {
				Configurations []struct {
					Explanation struct{ Rates []struct{ FLOP float64 } }
				}
			}
			if err := json.Unmarshal(again.Document, &doc); err != nil {
				t.Fatal(err)
			}
			lines := 0.0
			for _, r := range doc.Configurations[0].Explanation.Rates {
				lines += r.FLOP
			}
			if math.Abs(v-2<<30) > 1 || math.Abs(lines-v) > 1e-6*v {
				t.Errorf("row %d: %g operations, %g by lines, want %d", row, v, lines, 2<<30)
			}
		}
		return
	}
	t.Error("there is no column of operations")
}

// What the page shows of a configuration from what is stored is what it shows when it is simulated again. That is
// times, how near units come to their peaks, occupancy with its limiter and its place on the curves, and lines of
// the source and of the PTX.
func TestStoredAndExplainedAgree(t *testing.T) {
	s, id := swept(t, "transpose_tiled", "h200", map[string][]string{"TILE": {"32"}, "ROWS": {"8", "32"}, "PAD": {"0"}, "max_registers": {"0"}, "smem_carveout": {"-1", "50"}})
	h := page.Handler(s, page.Options{})
	get := func(address string, doc any) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/data/sweeps/"+id+address, nil))
		if err := json.Unmarshal(w.Body.Bytes(), doc); err != nil || w.Code != 200 {
			t.Fatalf("%s: status %d (%v): %.300s", address, w.Code, err, w.Body)
		}
	}
	for _, trial := range []string{"0", "1", "2", "3"} {
		var stored page.Trial
		var again page.Explained
		var doc struct {
			Configurations []struct {
				Parameters  search.Config
				Report      *simengine.Report
				Explanation struct {
					Rates []struct {
						Unit  string
						Bytes float64
					}
				}
			}
		}
		get("/trials/"+trial, &stored)
		get("/explain?trials="+trial, &again)
		if err := json.Unmarshal(again.Document, &doc); err != nil {
			t.Fatal(err)
		}
		r, detail := doc.Configurations[0].Report, again.Details[0]
		if r.TimeUS != stored.TimeUS || r.Digest != stored.Digest || doc.Configurations[0].Parameters.String() != stored.Parameters.String() {
			t.Errorf("trial %s: %g us of %s, explained %g of %s", trial, stored.TimeUS, stored.Parameters, r.TimeUS, doc.Configurations[0].Parameters)
		}
		for _, u := range stored.Use {
			if i := slices.IndexFunc(r.Use, func(o simengine.Share) bool { return o.Name == u.Name }); i < 0 || math.Abs(r.Use[i].Value-u.Value) > 0.01*u.Value {
				t.Errorf("trial %s: %s is used to %g, explained %+v", trial, u.Name, u.Value, r.Use)
			}
		}
		bytes := map[string]float64{}
		for _, x := range doc.Configurations[0].Explanation.Rates {
			bytes[x.Unit] = x.Bytes
		}
		for _, l := range stored.Memory {
			if want, ok := bytes[l.Title]; ok && l.ReadBytes != nil && math.Abs(*l.ReadBytes+*l.WrittenBytes-want) > 1e-6*want {
				t.Errorf("trial %s: %g bytes at %s, explained %g", trial, *l.ReadBytes+*l.WrittenBytes, l.Title, want)
			}
			if l.Level == "registers" {
				continue
			}
			if l.BytesPerSecond == nil || l.PeakBytesPerSecond == nil || l.UseShare == nil {
				t.Errorf("trial %s: of %s no rate is known", trial, l.Level)
			} else if math.Abs(*l.BytesPerSecond / *l.PeakBytesPerSecond - *l.UseShare) > 0.01 {
				t.Errorf("trial %s: %s moves %g of %g bytes/s, and is used to %g", trial, l.Level, *l.BytesPerSecond, *l.PeakBytesPerSecond, *l.UseShare)
			}
		}
		o := detail.Occupancy
		if p := o.Present; p.CTAs != r.CTAsPerSM || p.Share != r.Occupancy || p.Limiter != r.Limiter || p.CarveOutBytes != r.CarveOut || p.Threads != int(detail.Block[0]*detail.Block[1]*detail.Block[2]) {
			t.Errorf("trial %s: occupancy %+v, reported %d CTAs, %g by %s, carve-out %d", trial, p, r.CTAsPerSM, r.Occupancy, r.Limiter, r.CarveOut)
		}
		for name, at := range map[*page.Curve]int{&o.ByThreads: o.Present.Threads, &o.ByRegisters: o.Present.Registers} {
			if i := slices.Index(name.X, at); i < 0 || name.CTAs[i] != o.Present.CTAs || name.Limiter[i] != o.Present.Limiter {
				t.Errorf("trial %s: the present point is not on its curve at %d", trial, at)
			}
		}
		ptx := strings.Split(detail.PTX, "\n")
		for _, l := range r.Lines {
			file, _, ok := strings.Cut(l.Line, ":")
			if ok && detail.Sources[0].Name != file {
				t.Errorf("trial %s: line %s is in no source", trial, l.Line)
			}
			for _, i := range l.Instructions {
				op, _, _ := strings.Cut(strings.TrimSuffix(i.PTX, ";"), " ") // what "ret" does is "exit"
				if i.PTXLine < 1 || i.PTXLine > len(ptx) || op != "exit" && !strings.Contains(ptx[i.PTXLine-1], op) {
					t.Fatalf("trial %s: %q is not at line %d of the PTX", trial, i.PTX, i.PTXLine)
				}
			}
		}
	}
}

// A configuration that was measured is explained by the simulator, as one that it evaluated; what is known of predictions'
// errors is not said of measured times.
func TestMeasuredConfigurationsAreExplained(t *testing.T) {
	s, id := swept(t, "transpose_tiled", "h200", map[string][]string{"TILE": {"32"}, "ROWS": {"8"}, "PAD": {"1"}, "max_registers": {"0"}, "smem_carveout": {"-1"}})
	sweep, err := s.Sweep(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	config := search.Config{Names: sweep.Names, Values: sweep.BestValues}
	want, err := s.Explain(t.Context(), &sweep, []search.Config{config})
	if err != nil {
		t.Fatal(err)
	}
	sweep.Spec.Level = tuner.LevelMeasured
	got, err := s.Explain(t.Context(), &sweep, []search.Config{config})
	if err != nil || string(got.Document) != string(want.Document) {
		t.Errorf("it is explained otherwise (%v): %.200s", err, got.Document)
	}
	d, err := s.Device(t.Context(), &sweep)
	if err != nil || d.Expected.Share != 0 || d.Caution != "" || d.Ties(1.01) || !d.Ties(1) {
		t.Errorf("measured times have an expected error: %+v, %q (%v)", d.Expected, d.Caution, err)
	}
}
