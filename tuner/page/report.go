package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/warptune/warptune/tuner"
)

// storedTrials is how many of the best have all that is stored of them in a report.
const storedTrials = 20

// Report writes the page of some sweeps as one file that needs nothing else. Of each sweep the best configuration is
// explained, and the fastest of the groups of ties after it: so many in all, each also compared with the best.
func Report(ctx context.Context, source Source, ids []string, explained int, out io.Writer) error {
	h := &handler{source: source, sweeps: &sweeps{source: source, now: time.Now}, explain: make(chan struct{}, 1)}
	docs := map[string]json.RawMessage{}
	put := func(address string, doc any) error {
		text, err := json.Marshal(doc)
		docs[address] = text
		return err
	}
	o, err := h.sweeps.overview(ctx)
	if err != nil {
		return err
	}
	o.Static, o.Workers = true, []Worker{}
	all := o.Sweeps
	o.Sweeps = []Sweep{}
	for _, id := range ids {
		for i := range all {
			if all[i].ID == id {
				o.Sweeps = append(o.Sweeps, all[i])
			}
		}
		if err := h.reportSweep(ctx, id, explained, put); err != nil {
			return err
		}
	}
	if len(o.Sweeps) != len(ids) {
		return tuner.Errorf(tuner.NotFound, "report", "of the sweeps %s only %d are there", strings.Join(ids, ", "), len(o.Sweeps))
	}
	if err := put("data/sweeps", o); err != nil {
		return err
	}
	if len(ids) > 1 {
		c, err := h.comparison(ctx, ids)
		if err != nil {
			return err
		}
		if err := put("data/compare?sweeps="+strings.Join(ids, ","), c); err != nil {
			return err
		}
	}
	return writeReport(docs, out)
}

// reportSweep puts the documents of a sweep.
func (h *handler) reportSweep(ctx context.Context, id string, explained int, put func(string, any) error) error {
	at := "data/sweeps/" + url.PathEscape(id)
	w, d, err := h.whole(ctx, id)
	if err != nil {
		return err
	}
	t := w.rows.table(id, 0)
	t.Complete, t.Rooflines = true, w.rows.rooflines(&d.Arch)
	level := w.last.Spec.LastLevel()
	k := w.rows.ranking(id, level, d, w.last.Counts.Abandoned)
	stored, few := []int64{}, []int64{}
	for i, row := range k.Order {
		if i < storedTrials {
			stored = append(stored, w.rows.trialOf(row))
		}
	}
	for _, start := range k.Groups {
		if len(few) < explained {
			few = append(few, w.rows.trialOf(k.Order[start]))
		}
	}
	documents := map[string]any{"/table": t, "/ranking": k, "/failures": w.rows.failures(id), "/importance": w.rows.importance(id, level)}
	w.mu.Unlock()
	for name, doc := range documents {
		if err := put(at+name, doc); err != nil {
			return err
		}
	}
	m, err := h.measured(ctx, id)
	if err != nil {
		return err
	}
	if err := put(at+"/measured", m); err != nil {
		return err
	}
	for _, n := range append(stored, few...) {
		names, found, err := h.sweeps.result(ctx, id, n)
		if err != nil {
			return err
		}
		if err := put(fmt.Sprintf("%s/trials/%d", at, n), trial(id, names, &found, d)); err != nil {
			return err
		}
	}
	return h.reportExplained(ctx, id, at, few, put)
}

// reportExplained puts what explains trials: each by itself, and each with the first.
func (h *handler) reportExplained(ctx context.Context, id, at string, few []int64, put func(string, any) error) error {
	for i, n := range few {
		together := [][]int64{{n}}
		if i > 0 {
			together = append(together, []int64{few[0], n})
		}
		for _, trials := range together {
			x, err := h.explanation(ctx, id, trials)
			if tuner.KindOf(err) == tuner.Mismatch { // it cannot be explained here: the page says why
				if err := put(at+"/explain", Problem{tuner.KindOf(err).String(), err.Error()}); err != nil {
					return err
				}
				return nil
			} else if err != nil {
				return err
			}
			texts := make([]string, len(trials))
			for i, n := range trials {
				texts[i] = strconv.FormatInt(n, 10)
			}
			if err := put(at+"/explain?trials="+strings.Join(texts, ","), x); err != nil {
				return err
			}
		}
	}
	return nil
}

// What index.html loads, each on its own.
var (
	styleTag  = regexp.MustCompile(`<link rel="stylesheet" href="assets/([^"]+)">`)
	scriptTag = regexp.MustCompile(`<script type="module" src="assets/([^"]+)"></script>`)
)

// writeReport writes index.html with everything in it. Its policy lets nothing run or load but what is there.
func writeReport(docs map[string]json.RawMessage, out io.Writer) error {
	page, err := content("index.html")
	if err != nil {
		return err
	}
	data, err := json.Marshal(docs) // with < as \u003c
	if err != nil {
		return err
	}
	// What inlines tags finds none in the data, and the encoding stands first of all.
	page = bytes.Replace(page, []byte("</head>"), []byte(`<script type="application/json" id="warptune-documents">`+string(data)+"</script>\n</head>"), 1)
	sources := map[string][]string{}
	inline := func(tag *regexp.Regexp, kind, before, after, closing string) {
		page = tag.ReplaceAllFunc(page, func(found []byte) []byte {
			text, e := content(string(tag.FindSubmatch(found)[1]))
			if e != nil {
				err = e
			}
			safe := strings.ReplaceAll(string(text), closing, `<\`+closing[1:])
			sum := sha256.Sum256([]byte(safe))
			sources[kind] = append(sources[kind], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
			return []byte(before + safe + after)
		})
	}
	inline(styleTag, "style-src", "<style>", "</style>", "</style")
	inline(scriptTag, "script-src", `<script type="module">`, "</script>", "</script")
	if err != nil {
		return err
	}
	policy := "default-src 'none'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
	for _, kind := range []string{"style-src", "script-src"} {
		policy += "; " + kind + " " + strings.Join(sources[kind], " ")
	}
	head, rest, ok := strings.Cut(string(page), "<head>")
	if !ok || strings.Contains(rest, `"assets/`) {
		return tuner.Errorf(tuner.Internal, "report", "index.html has no <head>, or loads what a report does not know")
	}
	_, err = io.WriteString(out, head+"<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\""+policy+"\">"+rest)
	return err
}
