package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner"
)

// dist is the program for the browser, as "go generate" bundles it; its script and its styles are compressed by gzip.
//
//go:embed dist
var dist embed.FS

// content is a file of the program.
func content(name string) ([]byte, error) {
	all, err := files()
	if err != nil {
		return nil, err
	}
	text, ok := all[name]
	if !ok {
		return nil, tuner.Errorf(tuner.NotFound, "page", "the page has no file %.100q", name)
	}
	return text, nil
}

// files is the program by name, expanded once.
var files = sync.OnceValues(func() (map[string][]byte, error) {
	entries, err := dist.ReadDir("dist")
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, e := range entries {
		text, err := dist.ReadFile(path.Join("dist", e.Name()))
		if err != nil {
			return nil, err
		}
		name, packed := strings.CutSuffix(e.Name(), ".gz")
		if packed {
			r, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				return nil, err
			}
			if text, err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
		all[name] = text
	}
	return all, nil
})

func (h *handler) index(w http.ResponseWriter, r *http.Request) { serveFile(w, r, "index.html") }

func (h *handler) asset(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, path.Base(r.PathValue("name")))
}

// serveFile answers with a file of the program. Another build has other files, so nothing is kept without asking.
func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	text, err := content(name)
	if err != nil {
		problem(w, err)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "private, no-cache")
	if matches(w, r, tagOf(text)) {
		return
	}
	write(w, r, text)
}
