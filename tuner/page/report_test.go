package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// A report has in it all that it shows: the documents are those of the server, and it loads nothing.
func TestReport(t *testing.T) {
	at := newClock()
	ids := []string{"small000000000cc", "other000000000dd"}
	var out bytes.Buffer
	if err := page.Report(t.Context(), pagetest.New(10, at.Now), ids, 3, &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	markup := regexp.MustCompile(`(?s)(<script[^>]*>).*?</script>|(<style[^>]*>).*?</style>`).ReplaceAllString(text, "$1$2")
	if loads := regexp.MustCompile(`(src|href)="[^"d#][^"]*"`).FindAllString(markup, -1); len(loads) > 0 {
		t.Errorf("it loads %v", loads)
	}
	if at := strings.Index(text, `<meta charset="utf-8">`); at < 0 || at > 1000 {
		t.Errorf("the encoding stands at byte %d", at)
	}
	m := regexp.MustCompile(`(?s)<script type="application/json" id="warptune-documents">(.*?)</script>`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("there are no documents")
	}
	var docs map[string]json.RawMessage
	if err := json.Unmarshal([]byte(m[1]), &docs); err != nil {
		t.Fatal(err)
	}
	h := page.Handler(pagetest.New(10, at.Now), page.Options{})
	explained := 0
	for address, doc := range docs {
		if address == "data/sweeps" {
			continue
		}
		if strings.Contains(address, "/explain?") {
			explained++
		}
		w := visit(h, "GET", address, nil)
		var served, stored bytes.Buffer
		if err := json.Compact(&served, w.Body.Bytes()); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		_ = json.Compact(&stored, doc)
		if served.String() != stored.String() {
			t.Errorf("%s is not what is served:\n%.200s\n%.200s", address, &stored, &served)
		}
	}
	if explained != 2*(3+2) {
		t.Errorf("%d explanations", explained)
	}
	var o page.Overview
	if err := json.Unmarshal(docs["data/sweeps"], &o); err != nil || !o.Static || len(o.Sweeps) != 2 || fmt.Sprint(o.Sweeps[0].ID, o.Sweeps[1].ID) != fmt.Sprint(ids[0], ids[1]) {
		t.Errorf("the overview has %d sweeps (%v)", len(o.Sweeps), err)
	}
	if err := page.Report(t.Context(), pagetest.New(10, at.Now), []string{"none"}, 3, &out); err == nil {
		t.Error("a sweep that is not there is reported")
	}
}
