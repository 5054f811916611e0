package page_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// Requests that are addressed to another name, that another site makes, or that would change something are refused
// before anything is looked at; a link from elsewhere to the page is followed.
func TestOtherSites(t *testing.T) {
	source := pagetest.New(10, newClock().Now)
	for _, tt := range []struct {
		name, method, address, host string
		head                        map[string]string
		hosts                       []string
		want                        int
	}{
		{name: "plain", want: 200},
		{name: "an address", host: "127.0.0.1:7080", want: 200},
		{name: "an address of version 6", host: "[::1]:7080", want: 200},
		{name: "rebound", host: "evil.example:7080", want: 403},
		{name: "rebound without a port", host: "evil.example", want: 403},
		{name: "a name of its own", host: "node1:7080", hosts: []string{"node1"}, want: 200},
		{name: "the page's own request", head: map[string]string{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, want: 200},
		{name: "another site's fetch", head: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, want: 403},
		{name: "another port's fetch", head: map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, want: 403},
		{name: "another site's frame", head: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, want: 403},
		{name: "a link", head: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, want: 200},
		{name: "a form of another site", method: "POST", head: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, want: 403},
		{name: "another origin", head: map[string]string{"Origin": "http://evil.example"}, want: 403},
		{name: "no origin", head: map[string]string{"Origin": "null"}, want: 403},
		{name: "its own origin", head: map[string]string{"Origin": "http://localhost:7080"}, want: 200},
		{name: "a change", method: "POST", want: 405},
		{name: "a removal", method: "DELETE", address: "data/sweeps/small000000000cc", want: 405},
		{name: "a head", method: "HEAD", want: 200},
	} {
		if tt.hosts == nil {
			tt.hosts = []string{}
		}
		h := page.Handler(source, page.Options{Hosts: tt.hosts})
		if tt.method == "" {
			tt.method = "GET"
		}
		w := visit(h, tt.method, tt.address, func(r *http.Request) {
			if tt.host != "" {
				r.Host = tt.host
			}
			for k, v := range tt.head {
				r.Header.Set(k, v)
			}
		})
		if w.Code != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, w.Code, tt.want, w.Body)
		}
		for name, part := range map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := w.Header().Get(name); !strings.Contains(got, part) || strings.Contains(got, "unsafe") {
				t.Errorf("%s: %s is %q", tt.name, name, got)
			}
		}
	}
}

// cookies are what an answer sets.
func cookies(w *httptest.ResponseRecorder) func(*http.Request) {
	return func(r *http.Request) {
		for _, c := range w.Result().Cookies() {
			r.AddCookie(c)
		}
	}
}

// Who has the key gets a cookie once and is admitted by it; nobody else is.
func TestKey(t *testing.T) {
	h := page.Handler(pagetest.New(10, newClock().Now), page.Options{Guard: page.KeyGuard("the-key")})
	if w := visit(h, "GET", "data/sweeps", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("without a key: status %d", w.Code)
	}
	if w := visit(h, "GET", "?key=another", nil); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
		t.Errorf("with another key: status %d", w.Code)
	}
	w := visit(h, "GET", "?key=the-key", nil)
	set := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "./" || len(set) != 1 || !set[0].HttpOnly || set[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("with the key: status %d, to %s, %+v", w.Code, w.Header().Get("Location"), set)
	}
	for _, address := range []string{"", "data/sweeps", "data/sweeps/small000000000cc/trials/1"} {
		if got := visit(h, "GET", address, cookies(w)); got.Code != http.StatusOK {
			t.Errorf("%q with the cookie: status %d", address, got.Code)
		}
	}
	if got := visit(h, "GET", "data/sweeps", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: set[0].Name, Value: "the-ke"}) }); got.Code != http.StatusUnauthorized {
		t.Errorf("a made-up cookie: status %d", got.Code)
	}
	if got := visit(h, "GET", "data/sweeps", func(r *http.Request) { cookies(w)(r); r.Host = "localhost:7081" }); got.Code != http.StatusUnauthorized {
		t.Errorf("another port's cookie: status %d", got.Code)
	}
}

// A token is taken by the form, or as programs send it. A session lasts as long as its token is good and it is used, and
// ends when somebody logs out.
func TestTokens(t *testing.T) {
	at := newClock()
	good := map[string]page.Visitor{"reader-token": {Name: "rita", Role: "reader"}, "worker-token": {Name: "wendy", Role: "worker"}}
	h := page.Handler(pagetest.New(10, at.Now), page.Options{Guard: page.TokenGuard(func(_ *http.Request, token string) (page.Visitor, error) {
		who, ok := good[token]
		switch {
		case !ok:
			return who, tuner.Errorf(tuner.Unauthenticated, "authorize", "the token is not valid")
		case who.Role == "worker":
			return who, tuner.Errorf(tuner.Denied, "authorize", "a worker may not look")
		}
		return who, nil
	}, at.Now)})
	login := func(token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "http://localhost:7080/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := visit(h, "GET", "", nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "login" {
		t.Errorf("the page without a session: status %d, to %s", w.Code, w.Header().Get("Location"))
	}
	if w := visit(h, "GET", "data/sweeps", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("data without a session: status %d", w.Code)
	}
	if w := visit(h, "GET", "login", nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `name="token"`) {
		t.Errorf("the form: status %d", w.Code)
	}
	for token, want := range map[string]int{"": 400, "wrong<script>": 401, "worker-token": 403} {
		if w := login(token); w.Code != want || len(w.Result().Cookies()) > 0 || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("login by %q: status %d, want %d", token, w.Code, want)
		}
	}
	w := login("reader-token")
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 || strings.Contains(w.Header().Get("Set-Cookie"), "reader-token") {
		t.Fatalf("login: status %d, %v", w.Code, w.Header())
	}
	data := func() *httptest.ResponseRecorder { return visit(h, "GET", "data/sweeps", cookies(w)) }
	if got := data(); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"user":"rita","role":"reader"`) {
		t.Errorf("with a session: status %d: %.200s", got.Code, got.Body)
	}
	bearer := visit(h, "GET", "data/sweeps", func(r *http.Request) { r.Header.Set("Authorization", "Bearer reader-token") })
	if bearer.Code != http.StatusOK {
		t.Errorf("a program: status %d", bearer.Code)
	}
	delete(good, "reader-token")
	if got := data(); got.Code != http.StatusUnauthorized {
		t.Errorf("after the token was withdrawn: status %d", got.Code)
	}
	good["reader-token"] = page.Visitor{Name: "rita", Role: "reader"}
	at.now = at.now.Add(11 * time.Hour)
	if got := data(); got.Code != http.StatusOK {
		t.Errorf("after 11 hours: status %d", got.Code)
	}
	at.now = at.now.Add(13 * time.Hour)
	if got := data(); got.Code != http.StatusUnauthorized {
		t.Errorf("13 hours later: status %d", got.Code)
	}
	w = login("reader-token")
	if out := visit(h, "POST", "logout", cookies(w)); out.Code != http.StatusSeeOther || data().Code != http.StatusUnauthorized {
		t.Errorf("after logging out (status %d): status %d", out.Code, data().Code)
	}
}
