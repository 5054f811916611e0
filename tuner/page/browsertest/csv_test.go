package browsertest_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/warptune/warptune/tuner/page/browsertest"
)

// TestCSV saves the table as a file: the rows that the filter lets through, best first, with the columns that are shown.
func TestCSV(t *testing.T) {
	s := serve(t, 1000)
	d := table(s, small)
	p := browsertest.Open(t, s.URL+"/#/"+small+"/configurations", browsertest.Options{})
	p.Wait(`document.querySelector(".vrow[data-trial]") !== null`)
	dir := t.TempDir()
	p.SaveTo(dir)
	p.ClickText("main a.btn", "CSV")
	var records [][]string
	p.Until("a file has all rows", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "*.csv"))
		if len(files) != 1 {
			return false
		}
		f, err := os.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		records, err = csv.NewReader(f).ReadAll()
		return err == nil && len(records) == len(d.Order)+1
	})
	at := map[string]int{}
	for i, name := range records[0] {
		at[name] = i
	}
	for i, row := range d.Order {
		r := records[i+1]
		if us, err := strconv.ParseFloat(r[at["time_us"]], 64); err != nil || us != d.number("time_us", row) {
			t.Errorf("row %d takes %s, not %v", i, r[at["time_us"]], d.number("time_us", row))
		}
		for _, param := range d.Parameters {
			if got := r[at[param.Name]]; got != d.value(param.Name, row) && got != map[string]string{"True": "true", "False": "false"}[d.value(param.Name, row)] {
				t.Errorf("row %d: %s is %s, not %s", i, param.Name, got, d.value(param.Name, row))
			}
		}
	}
}
