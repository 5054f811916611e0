package page

import (
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"html/template"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// keyGuard admits who has the key: the address that the program prints on its terminal has it.
type keyGuard struct{ key string }

// NewKey is a key that nobody guesses.
func NewKey() string { return rand.Text() }

// KeyGuard admits who has a key, once as the query "key" and from then on as a cookie: on a machine that others use too,
// a page is for who started it, as its database is.
func KeyGuard(key string) Guard { return keyGuard{key} }

// Enter is in Guard.
func (g keyGuard) Enter(w http.ResponseWriter, r *http.Request) (Visitor, bool) {
	is := func(text string) bool { return subtle.ConstantTimeCompare([]byte(text), []byte(g.key)) == 1 }
	if r.URL.Path == "/" && is(r.URL.Query().Get("key")) {
		setCookie(w, r, g.key)
		redirect(w, "./") // so that the key does not stay in the address
		return Visitor{}, false
	}
	if c, err := r.Cookie(cookieName(r)); err == nil && is(c.Value) {
		return Visitor{}, true
	}
	problem(w, tuner.Errorf(tuner.Unauthenticated, "page", "open the address that the program printed when it began to serve: it has a key"))
	return Visitor{}, false
}

// redirect goes to another address, relative to this one: what is before it, a proxy may have put there.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// cookieName tells apart servers on ports of one host, whose cookies browsers mix.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "default"
	}
	return "warptune_" + port
}

// sessionTime is how long a session lasts that is not used.
const sessionTime = 12 * time.Hour

// setCookie sets the session's cookie; an empty value ends it. Scripts cannot read it, and other sites' requests but for
// links do not carry it.
func setCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: cookieName(r), Value: value, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode, MaxAge: int(sessionTime.Seconds())}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// Identify says who a request is of by a token, "" for none, and what else it carries. An error of kind Unauthenticated
// asks for (another) token, others refuse.
type Identify func(r *http.Request, token string) (Visitor, error)

// tokenGuard admits by the coordinator's tokens: a form takes one and a session keeps it; programs send it as the API's
// do.
type tokenGuard struct {
	identify Identify
	now      func() time.Time

	mu       sync.Mutex
	sessions map[string]session
}

// session is somebody who logged in. Every request looks again whether his token is still good.
type session struct {
	token string
	until time.Time
}

// mostSessions is how many there are at a time; the others end.
const mostSessions = 10_000

// TokenGuard admits who identify knows.
func TokenGuard(identify Identify, now func() time.Time) Guard {
	return &tokenGuard{identify: identify, now: now, sessions: map[string]session{}}
}

// Enter is in Guard.
func (g *tokenGuard) Enter(w http.ResponseWriter, r *http.Request) (Visitor, bool) {
	switch {
	case r.URL.Path == "/login" && r.Method == http.MethodGet:
		form(w, http.StatusOK, "")
		return Visitor{}, false
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		g.login(w, r)
		return Visitor{}, false
	case r.URL.Path == "/logout" && r.Method == http.MethodPost:
		g.logout(w, r)
		return Visitor{}, false
	}
	who, err := g.identify(r, g.token(r))
	switch {
	case err == nil:
		return who, true
	case tuner.KindOf(err) == tuner.Unauthenticated && r.URL.Path == "/" && r.Method == http.MethodGet:
		redirect(w, "login")
	default:
		problem(w, err)
	}
	return Visitor{}, false
}

// token is what a request presents.
func (g *tokenGuard) token(r *http.Request) string {
	if text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return text
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s, ok := g.sessions[c.Value]
	now := g.now()
	if !ok || now.After(s.until) {
		delete(g.sessions, c.Value)
		return ""
	}
	s.until = now.Add(sessionTime)
	g.sessions[c.Value] = s
	return s.token
}

// mostForm is the most bytes of a form.
const mostForm = 8 << 10

func (g *tokenGuard) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	token := strings.TrimSpace(r.PostFormValue("token"))
	if token == "" {
		form(w, http.StatusBadRequest, "A token is needed.")
		return
	}
	if _, err := g.identify(r, token); err != nil {
		form(w, statuses[tuner.KindOf(err)], err.Error())
		return
	}
	id := rand.Text()
	g.mu.Lock()
	if len(g.sessions) >= mostSessions {
		clear(g.sessions)
	}
	g.sessions[id] = session{token, g.now().Add(sessionTime)}
	g.mu.Unlock()
	setCookie(w, r, id)
	redirect(w, "./")
}

func (g *tokenGuard) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		g.mu.Lock()
		delete(g.sessions, c.Value)
		g.mu.Unlock()
	}
	setCookie(w, r, "")
	redirect(w, "login")
}

//go:embed login.html
var loginText string

var loginForm = template.Must(template.New("login").Parse(loginText))

// form answers with the form that takes a token.
func form(w http.ResponseWriter, status int, wrong string) {
	if status == 0 {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = loginForm.Execute(w, wrong)
}
