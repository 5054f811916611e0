package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"mime"
	"net/http"
	"path"
	"sync"

	"github.com/warptune/warptune/tuner"
)

// dist is the program for the browser, as "go generate" bundles it; its script is compressed by gzip.
//
//go:embed dist
var dist embed.FS

// content is a file of the program.
func content(name string) ([]byte, error) {
	if name == bundleScript {
		return script()
	}
	text, err := dist.ReadFile(path.Join("dist", name))
	if err != nil {
		return nil, tuner.Errorf(tuner.NotFound, "page", "the page has no file %.100q", name)
	}
	return text, nil
}

const bundleScript = "page.js"

// script is the program's script, which is expanded once.
var script = sync.OnceValues(func() ([]byte, error) {
	packed, err := dist.ReadFile(path.Join("dist", bundleScript+".gz"))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
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
