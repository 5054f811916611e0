package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Options of a handler.
type Options struct {
	// Guard admits requests; nil: everybody who can connect may look.
	Guard Guard
	// Hosts are the names, without ports, that the server may be addressed by besides loopback ones; nil: any.
	Hosts []string
	Now   func() time.Time // time.Now
	// Explaining is how many explanations are computed at a time; 0: 1. Others wait.
	Explaining int
}

// handler serves the page. Everything is read but for logging in and out.
type handler struct {
	Options
	source  Source
	sweeps  *sweeps
	explain chan struct{} // has a place for each explanation under way
}

// Handler returns what serves the page of a source.
func Handler(source Source, o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &handler{Options: o, source: source, sweeps: &sweeps{source: source, now: o.Now}, explain: make(chan struct{}, max(o.Explaining, 1))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.index)
	mux.HandleFunc("GET /assets/{name}", h.asset)
	mux.HandleFunc("GET /data/sweeps", h.document(func(r *http.Request) (any, string, error) { return h.overview(r) }))
	mux.HandleFunc("GET /data/sweeps/{id}/table", h.document(h.table))
	mux.HandleFunc("GET /data/sweeps/{id}/ranking", h.document(h.ranking))
	mux.HandleFunc("GET /data/sweeps/{id}/failures", h.document(h.failures))
	mux.HandleFunc("GET /data/sweeps/{id}/importance", h.document(h.importance))
	mux.HandleFunc("GET /data/sweeps/{id}/measured", h.document(func(r *http.Request) (any, string, error) {
		m, err := h.measured(r.Context(), r.PathValue("id"))
		return m, "", err
	}))
	mux.HandleFunc("GET /data/sweeps/{id}/trials/{trial}", h.document(h.trial))
	mux.HandleFunc("GET /data/sweeps/{id}/explain", h.document(h.explained))
	mux.HandleFunc("GET /data/compare", h.document(h.compare))
	mux.HandleFunc("/data/", func(w http.ResponseWriter, r *http.Request) {
		problem(w, tuner.Errorf(tuner.NotFound, "page", "there is no %s %s", r.Method, r.URL.Path))
	})
	return h.secured(mux)
}

// document answers with a JSON document. Its tag names its state, "" where only its content does.
func (h *handler) document(of func(*http.Request) (doc any, tag string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		doc, tag, err := of(r)
		if err != nil {
			problem(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "private, no-cache")
		if tag != "" && matches(w, r, tag) {
			return
		}
		text, err := json.Marshal(doc)
		if err != nil {
			problem(w, err)
			return
		}
		if tag == "" {
			if matches(w, r, tagOf(text)) {
				return
			}
		}
		write(w, r, text)
	}
}

// tagOf names a text.
func tagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// matches answers that a document is as it was, if it is.
func matches(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `W/"` + tag + `"`
	w.Header().Set("ETag", tag)
	for _, known := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimSpace(known) == tag {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// leastCompressed is the size from which on an answer is compressed, bytes: a packet has less.
const leastCompressed = 1400

// write writes an answer, compressed where that is understood.
func write(w http.ResponseWriter, r *http.Request, text []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(text) < leastCompressed || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write(text)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = z.Write(text)
	_ = z.Close()
}

// statuses are those of errors, by kind.
var statuses = map[tuner.ErrorKind]int{
	tuner.Invalid: http.StatusBadRequest, tuner.NotFound: http.StatusNotFound, tuner.Conflict: http.StatusConflict, tuner.Mismatch: http.StatusUnprocessableEntity,
	tuner.Unavailable: http.StatusServiceUnavailable, tuner.Limit: http.StatusTooManyRequests, tuner.Locked: http.StatusServiceUnavailable,
	tuner.Unauthenticated: http.StatusUnauthorized, tuner.Denied: http.StatusForbidden,
}

// problem answers with an error.
func problem(w http.ResponseWriter, err error) {
	kind := tuner.KindOf(err)
	status, ok := statuses[kind]
	if !ok {
		status = http.StatusInternalServerError
	}
	var text bytes.Buffer
	_ = json.NewEncoder(&text).Encode(Problem{kind.String(), err.Error()})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Del("ETag")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

func (h *handler) overview(r *http.Request) (any, string, error) {
	o, err := h.sweeps.overview(r.Context())
	if err == nil {
		who := visitor(r.Context())
		o.User, o.Role = who.Name, who.Role
	}
	return o, "", err
}

func (h *handler) table(r *http.Request) (any, string, error) {
	from, epoch := 0, r.FormValue("epoch")
	if text := r.FormValue("from"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, "", tuner.Errorf(tuner.Invalid, "table", "from=%q is no number of a row", text)
		}
		from = n
	}
	w, complete, err := h.sweeps.view(r.Context(), r.PathValue("id"), patience)
	if err != nil {
		return nil, "", err
	}
	defer w.mu.Unlock()
	if epoch != w.rows.epoch {
		from = 0
	}
	t := w.rows.table(w.id, from)
	t.Complete = complete
	d, err := h.source.Device(r.Context(), &w.last)
	if err != nil {
		return nil, "", err
	}
	t.Rooflines = w.rows.rooflines(&d.Arch)
	return t, w.rows.tag() + "-" + strconv.Itoa(from) + strconv.FormatBool(complete), nil
}

// whole is a sweep with its table, read to the end. The caller unlocks w.mu.
func (h *handler) whole(ctx context.Context, id string) (*sweep, *Device, error) {
	for {
		w, complete, err := h.sweeps.view(ctx, id, patience)
		if err != nil {
			return nil, nil, err
		}
		if complete {
			d, err := h.source.Device(ctx, &w.last)
			if err != nil {
				w.mu.Unlock()
			}
			return w, d, err
		}
		w.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
}

func (h *handler) ranking(r *http.Request) (any, string, error) {
	w, d, err := h.whole(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, "", err
	}
	defer w.mu.Unlock()
	return w.rows.ranking(w.id, w.last.Spec.LastLevel(), d, w.last.Counts.Abandoned), w.rows.tag(), nil
}

func (h *handler) failures(r *http.Request) (any, string, error) {
	w, _, err := h.whole(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, "", err
	}
	defer w.mu.Unlock()
	return w.rows.failures(w.id), w.rows.tag(), nil
}

func (h *handler) importance(r *http.Request) (any, string, error) {
	w, _, err := h.whole(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, "", err
	}
	defer w.mu.Unlock()
	if tag := w.rows.tag(); w.importanceTag != tag {
		w.importance, w.importanceTag = w.rows.importance(w.id, w.last.Spec.LastLevel()), tag
	}
	return w.importance, w.importanceTag, nil
}

// trialNumber reads a trial's number.
func trialNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, tuner.Errorf(tuner.Invalid, "trial", "%q is no trial's number", text)
	}
	return n, nil
}

func (h *handler) trial(r *http.Request) (any, string, error) {
	n, err := trialNumber(r.PathValue("trial"))
	if err != nil {
		return nil, "", err
	}
	s, err := h.source.Sweep(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, "", err
	}
	names, found, err := h.sweeps.result(r.Context(), s.ID, n)
	if err != nil {
		return nil, "", err
	}
	d, err := h.source.Device(r.Context(), &s)
	if err != nil {
		return nil, "", err
	}
	return trial(s.ID, names, &found, d), "", nil
}

// mostExplained is how many configurations one request may have explained.
const mostExplained = 4

func (h *handler) explained(r *http.Request) (any, string, error) {
	texts := strings.Split(r.FormValue("trials"), ",")
	if len(texts) > mostExplained {
		return nil, "", tuner.Errorf(tuner.Invalid, "explain", "%d trials are more than the %d that are explained at a time", len(texts), mostExplained)
	}
	var trials []int64
	for _, text := range texts {
		n, err := trialNumber(text)
		if err != nil {
			return nil, "", err
		}
		trials = append(trials, n)
	}
	x, err := h.explanation(r.Context(), r.PathValue("id"), trials)
	return x, "", err
}

// explanation explains trials of a sweep, when it is their turn.
func (h *handler) explanation(ctx context.Context, id string, trials []int64) (*Explained, error) {
	s, err := h.source.Sweep(ctx, id)
	if err != nil {
		return nil, err
	}
	var configs []search.Config
	for _, n := range trials {
		names, found, err := h.sweeps.result(ctx, s.ID, n)
		if err != nil {
			return nil, err
		}
		configs = append(configs, search.Config{Names: names, Values: found.Values})
	}
	select {
	case h.explain <- struct{}{}:
		defer func() { <-h.explain }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	x, err := h.source.Explain(ctx, &s, configs)
	if err != nil {
		return nil, err
	}
	x.Schema, x.Sweep, x.Trials = ExplainedSchema, s.ID, trials
	return x, nil
}

// mostCompared is how many sweeps one request may compare.
const mostCompared = 16

func (h *handler) compare(r *http.Request) (any, string, error) {
	ids := strings.Split(r.FormValue("sweeps"), ",")
	if len(ids) > mostCompared {
		return nil, "", tuner.Errorf(tuner.Invalid, "compare", "%d sweeps are more than %d", len(ids), mostCompared)
	}
	c, err := h.comparison(r.Context(), ids)
	return c, "", err
}

// Server is a server of a handler, with the limits that one needs which strangers can reach.
func Server(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second, WriteTimeout: 5 * time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
}
