package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// browser is a client with cookies, at a page.
type browser struct {
	client http.Client
	at     string
}

// browse opens the address that a process prints.
func browse(t *testing.T, p *process) *browser {
	t.Helper()
	address := p.says(t, `the page is at (http://\S+)`)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{client: http.Client{Jar: jar}}
	b.at, _, _ = strings.Cut(address, "?")
	r, err := b.client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(text), "assets/page.js") {
		t.Fatalf("the page: status %d, %.300s (%v)", r.StatusCode, text, err)
	}
	return b
}

// document reads one.
func (b *browser) document(t *testing.T, address string) map[string]any {
	t.Helper()
	r, err := b.client.Get(b.at + address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var doc map[string]any
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v (%v)", address, r.StatusCode, doc, err)
	}
	return doc
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return doc
}

// at digs into a document by keys and places.
func at(doc any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := doc.(map[string]any)
			doc = m[p]
		case int:
			l, _ := doc.([]any)
			if p >= len(l) {
				return nil
			}
			doc = l[p]
		}
	}
	return doc
}

// named is the column of a name.
func named(columns any, name string) any {
	l, _ := columns.([]any)
	for _, c := range l {
		if at(c, "name") == name {
			return c
		}
	}
	return nil
}

// The page of a database that another process sweeps on shows that sweep go on, and what is stored of others. Its numbers
// are those of the commands' --json: the ranked table, ties, failures, and explanations, word for word. It changes nothing,
// and outlives the process that had the database.
func TestPageBesideATune(t *testing.T) {
	g := newGate(t, 30)
	db := filepath.Join(t.TempDir(), "x.db")
	tuned := parsed(t, warptune(t, append([]string{"tune", "--db", db, "--json", "--top", "0"}, small...)...))
	id, _ := at(tuned, "sweep", "id").(string)
	g.pass(t, 12)
	tune := start(t, "warptune", append([]string{"tune", "--db", db, "--slots", "1"}, g.sweep...)...)
	tune.says(t, `1[0-9] of 30 configurations`)
	page := start(t, "warptune", "page", "--db", db, "--listen", "localhost:0")
	b := browse(t, page)

	live := at(b.document(t, "data/sweeps"), "sweeps", 0)
	if done, _ := at(live, "counts", "done").(float64); at(live, "kernel") != "gated" || at(live, "state") != "running" || done < 10 || done > 12 || at(live, "workers") != 1.0 {
		t.Errorf("the sweep under way is shown as %v", live)
	}
	table, ranking := b.document(t, "data/sweeps/"+id+"/table"), b.document(t, "data/sweeps/"+id+"/ranking")
	top, _ := at(tuned, "top").([]any)
	if at(table, "rows") != float64(len(top)) || at(ranking, "ties") != at(tuned, "ties") || at(ranking, "expected_error", "share") != at(tuned, "expected_error", "share") {
		t.Errorf("%v rows and %v ties, want %d and %v", at(table, "rows"), at(ranking, "ties"), len(top), at(tuned, "ties"))
	}
	for place, want := range top {
		row := int(at(ranking, "order", place).(float64))
		for name, v := range at(want, "parameters").(map[string]any) {
			p := named(at(table, "parameters"), name)
			if got := at(p, "dictionary", int(at(p, "codes", row).(float64))); got != v {
				t.Errorf("place %d: %s is %v, want %v", place, name, got, v)
			}
		}
		if got := at(named(at(table, "columns"), "time_us"), "numbers", row); got != at(want, "outcome", "time_us") {
			t.Errorf("place %d takes %v us, want %v", place, got, at(want, "outcome", "time_us"))
		}
	}
	best := at(tuned, "sweep", "best")
	trial, _ := at(best, "seq").(string)
	if got := b.document(t, "data/sweeps/"+id+"/trials/"+trial); !reflect.DeepEqual(at(got, "metrics"), at(best, "outcome", "metrics")) || at(got, "digest") != at(best, "outcome", "digest") {
		t.Errorf("of trial %s it shows %v", trial, at(got, "metrics"))
	}
	explained := parsed(t, warptune(t, "explain", "transpose_tiled", "--arch", "h200", "--problem", "1024", "--level", "model", "--db", db, "--json"))
	delete(explained, "chosen")
	if got := b.document(t, "data/sweeps/"+id+"/explain?trials="+trial); !reflect.DeepEqual(at(got, "document"), any(explained)) {
		t.Errorf("the page explains something else than the command:\n%v\n%v", at(got, "document"), explained)
	}

	g.open(t)
	if code := tune.wait(t); code != 0 {
		t.Errorf("tune ends with status %d", code)
	}
	for end := time.Now().Add(patience); at(b.document(t, "data/sweeps"), "sweeps", 0, "state") != "completed"; {
		if time.Now().After(end) {
			t.Fatal("the page does not see the sweep end")
		}
	}
	// Now it has the database: a tune evaluates through it.
	if out := warptune(t, append([]string{"tune", "--db", db}, long[:3]...)...); !strings.Contains(out, "best: ") {
		t.Errorf("tune beside the page says %s", out)
	}
	if n, _ := at(b.document(t, "data/sweeps"), "sweeps").([]any); len(n) != 3 {
		t.Errorf("%d sweeps are shown", len(n))
	}
	page.signal(t, syscall.SIGTERM)
	if code := page.wait(t); code != 0 {
		t.Errorf("the page ends with status %d:\n%s", code, page.log)
	}
}

// "tune --page" serves until it is interrupted; "report" writes a file with the same numbers.
func TestPageOfATuneAndReport(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	tune := start(t, "warptune", append([]string{"tune", "--db", db, "--page=localhost:0"}, small...)...)
	b := browse(t, tune)
	tune.says(t, "the page stays until you interrupt")
	s := at(b.document(t, "data/sweeps"), "sweeps", 0)
	id, _ := at(s, "id").(string)
	if at(s, "state") != "completed" {
		t.Errorf("it shows %v", s)
	}
	served := b.document(t, "data/sweeps/"+id+"/table")
	tune.signal(t, os.Interrupt)
	if code := tune.wait(t); code != 0 || !strings.Contains(tune.log.String(), "best: ") {
		t.Errorf("tune ends with status %d:\n%s", code, tune.log)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	warptune(t, "report", "transpose_tiled", "--arch", "h200", "--problem", "1024", "--db", db, "-o", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)id="warptune-documents">(.*?)</script>`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("%d bytes without documents", len(text))
	}
	docs := parsed(t, string(m[1]))
	if got := docs["data/sweeps/"+id+"/table"]; !reflect.DeepEqual(at(got, "columns"), at(served, "columns")) || !reflect.DeepEqual(at(got, "parameters"), at(served, "parameters")) {
		t.Error("the report has another table than the page")
	}
	for _, args := range [][]string{{"page", "--listen", "0.0.0.0:0", "--db", db}, {"report", "transpose_tiled", "--arch", "h200"}, {"report", "transpose_tiled", "-o", file}} {
		if _, stderr, code := try(t, args...); code != 2 {
			t.Errorf("%v: status %d, %s", args, code, stderr)
		}
	}
	if _, stderr, code := try(t, "report", "sgemm", "--arch", "h200", "--db", db, "-o", file); code != 1 || !strings.Contains(stderr, "warptune tune") {
		t.Errorf("a report of nothing: status %d, %s", code, stderr)
	}
}
