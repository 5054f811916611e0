package page

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner"
)

// Guard admits requests. It is safe for concurrent use.
type Guard interface {
	// Enter says whose a request is, or answers it itself, with a form, a redirect or a refusal: ok is false then.
	Enter(w http.ResponseWriter, r *http.Request) (who Visitor, ok bool)
}

// Visitor is who looks at the page; the zero value is anybody.
type Visitor struct{ Name, Role string }

type visitorKey struct{}

// visitor is whose a request is.
func visitor(ctx context.Context) Visitor {
	who, _ := ctx.Value(visitorKey{}).(Visitor)
	return who
}

// policy is the Content-Security-Policy: scripts, styles and data are of this server alone, nothing is inline, and
// nobody frames the page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secured checks every request before it is served.
func (h *handler) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		if err := h.checkSite(r); err != nil {
			problem(w, err)
			return
		}
		if h.Guard != nil && !strings.HasPrefix(r.URL.Path, "/assets/") { // which are the same for everybody
			who, ok := h.Guard.Enter(w, r)
			if !ok {
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), visitorKey{}, who))
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			head.Set("Allow", "GET, HEAD")
			http.Error(w, "the page changes nothing: GET and HEAD only", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkSite refuses requests that are addressed to another name, as by DNS rebinding, and those that another site makes
// but for following a link to the page.
func (h *handler) checkSite(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !h.hosted(strings.Trim(host, "[]")) {
		return tuner.Errorf(tuner.Denied, "page", "this server is not called %.100q", r.Host)
	}
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none" || link:
	default:
		return tuner.Errorf(tuner.Denied, "page", "the request comes from another site")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if _, at, _ := strings.Cut(origin, "://"); at != r.Host {
			return tuner.Errorf(tuner.Denied, "page", "the request comes from another site, %.100q", origin)
		}
	}
	return nil
}

// hosted reports whether a host name is the server's: an address (nobody rebinds those), localhost, or one of Hosts.
func (h *handler) hosted(name string) bool {
	return h.Hosts == nil || net.ParseIP(name) != nil || name == "localhost" || slices.Contains(h.Hosts, name)
}
