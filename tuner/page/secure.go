package page

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner"
)

// Guard says who a request is of, and logs people in and out. It is safe for concurrent use.
type Guard interface {
	// Admit reports who a request is of and what role he has; an error of the kind Unauthenticated or Denied refuses it.
	Admit(r *http.Request) (name, role string, err error)
	// Login answers GET and POST of login, Logout POST of logout.
	Login(w http.ResponseWriter, r *http.Request)
	Logout(w http.ResponseWriter, r *http.Request)
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
		if h.Guard != nil && h.entrance(w, r) {
			return
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
	if origin := r.Header.Get("Origin"); origin != "" && origin != "null" {
		if _, at, _ := strings.Cut(origin, "://"); at != r.Host {
			return tuner.Errorf(tuner.Denied, "page", "the request comes from another site, %.100q", origin)
		}
	} else if origin == "null" && r.Method != http.MethodGet {
		return tuner.Errorf(tuner.Denied, "page", "the request comes from another site")
	}
	return nil
}

// hosted reports whether a host name is the server's: an address (nobody rebinds those), localhost, or one of Hosts.
func (h *handler) hosted(name string) bool {
	return h.Hosts == nil || net.ParseIP(name) != nil || name == "localhost" || slices.Contains(h.Hosts, name)
}

// entrance serves logging in and out, and turns away who has to log in first; it reports whether it answered.
func (h *handler) entrance(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.URL.Path == "/login" && (r.Method == http.MethodGet || r.Method == http.MethodPost):
		h.Guard.Login(w, r)
		return true
	case r.URL.Path == "/logout" && r.Method == http.MethodPost:
		h.Guard.Logout(w, r)
		return true
	case strings.HasPrefix(r.URL.Path, "/assets/"): // the same for everybody
		return false
	}
	_, _, err := h.Guard.Admit(r)
	switch {
	case err == nil:
		return false
	case tuner.KindOf(err) == tuner.Unauthenticated && r.URL.Path == "/" && r.Method == http.MethodGet:
		http.Redirect(w, r, "login", http.StatusSeeOther)
	default:
		problem(w, err)
	}
	return true
}

// user is who is logged in.
func (h *handler) user(r *http.Request) (name, role string) {
	if h.Guard == nil {
		return "", ""
	}
	name, role, _ = h.Guard.Admit(r)
	return name, role
}
