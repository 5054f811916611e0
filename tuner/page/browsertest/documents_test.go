package browsertest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// Sweeps of the synthetic source.
const (
	small = "small000000000cc"
	other = "other000000000dd"
	large = "large000000000bb"
	live  = "live0000000000aa"
)

// server serves synthetic sweeps, whose clock stands at start until a test moves it.
type server struct {
	*httptest.Server
	t   *testing.T
	now atomic.Int64 // milliseconds since start
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func serve(t *testing.T, rows int64) *server {
	t.Helper()
	s := &server{t: t}
	source := pagetest.New(rows, func() time.Time { return start.Add(time.Duration(s.now.Load()) * time.Millisecond) })
	s.Server = httptest.NewServer(page.Handler(source, page.Options{}))
	t.Cleanup(s.Close)
	return s
}

// get reads a document.
func get[T any](s *server, address string) (doc T) {
	s.t.Helper()
	r, err := http.Get(s.URL + "/" + address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", address, r.Status)
	}
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
		s.t.Fatalf("%s: %v", address, err)
	}
	return doc
}

// rows is a sweep's table with its ranking.
type rows struct {
	page.Table
	Order, Groups []int
	Ties          int
}

func table(s *server, id string) *rows {
	k := get[page.Ranking](s, "data/sweeps/"+id+"/ranking")
	return &rows{get[page.Table](s, "data/sweeps/"+id+"/table"), k.Order, k.Groups, k.Ties}
}

func (r *rows) column(name string) *page.Column {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return &r.Columns[i]
		}
	}
	for i := range r.Parameters {
		if r.Parameters[i].Name == name {
			return &r.Parameters[i]
		}
	}
	return nil
}

// number is a row's number in a column.
func (r *rows) number(name string, row int) float64 { return r.column(name).Numbers[row] }

// value is a row's value of a parameter, or name, as text.
func (r *rows) value(name string, row int) string {
	c := r.column(name)
	return c.Dictionary[c.Codes[row]].String()
}

// config is a row's configuration, as the page shows it.
func (r *rows) config(row int) string {
	var parts []string
	for _, p := range r.Parameters {
		parts = append(parts, p.Name+"="+r.value(p.Name, row))
	}
	return strings.ToLower(strings.Join(parts, ","))
}

// rowOf is the row of a trial.
func (r *rows) rowOf(t *testing.T, trial int64) int {
	t.Helper()
	for row := range r.Rows {
		if r.trial(row) == trial {
			return row
		}
	}
	t.Fatalf("no row of trial %d", trial)
	return -1
}

// trial is a row's trial.
func (r *rows) trial(row int) int64 { return int64(r.number("trial", row)) }
