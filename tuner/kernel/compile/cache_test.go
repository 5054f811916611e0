package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// counting is a driver that makes its PTX of the macros and counts its runs.
type counting struct {
	version string
	runs    atomic.Int64
	gate    chan struct{} // nil: run at once
	err     error
}

func (c *counting) Name() string { return "counting" }

func (c *counting) Identify(context.Context) (string, error) { return c.version, nil }

func (c *counting) Compile(ctx context.Context, r Request) (Result, error) {
	c.runs.Add(1)
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
	}
	if c.err != nil {
		return Result{}, c.err
	}
	src, err := readSource(r)
	if err != nil {
		return Result{}, err
	}
	ptx := []byte(c.version + r.Target + src.MacroKey() + string(r.Source))
	return Result{PTX: ptx, Compiler: c.version, Target: r.Target, Digest: digest(ptx)}, nil
}

func tile(t testing.TB, value string) Request {
	return request(t, "k.cu", fstest.MapFS{"k.cu": text("int x = TILE;\n")},
		call.Macro{Name: "TILE", Value: value}, call.Macro{Name: "max_registers", Value: "0"})
}

func mustCompile(t *testing.T, d Driver, r Request) Result {
	t.Helper()
	res, err := d.Compile(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCacheKeepsAcrossProcesses(t *testing.T) {
	dir := t.TempDir()
	first := &counting{version: "v1"}
	want := mustCompile(t, NewCached(first, dir), tile(t, "8"))
	again := &counting{version: "v1"}
	if got := mustCompile(t, NewCached(again, dir), tile(t, "8")); again.runs.Load() != 0 || string(got.PTX) != string(want.PTX) || got.Compiler != want.Compiler || got.Digest != want.Digest || got.Target != want.Target {
		t.Errorf("a second cache compiled %d times and gave %+v", again.runs.Load(), got)
	}
}

// Everything that the PTX depends on is in the key, and nothing else.
func TestCacheKey(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*Request)
		version string
		same    bool
	}{
		{"nothing", func(*Request) {}, "v1", true},
		{"macro that the source names", func(r *Request) { r.Macros = []call.Macro{{Name: "TILE", Value: "16"}} }, "v1", false},
		{"macro that it does not", func(r *Request) {
			r.Macros = []call.Macro{{Name: "TILE", Value: "8"}, {Name: "max_registers", Value: "32"}}
		}, "v1", true},
		{"source", func(r *Request) { r.Source = append(r.Source, ' ') }, "v1", false},
		{"target", func(r *Request) { r.Target = "sm_90" }, "v1", false},
		{"options", func(r *Request) { r.Options = []string{"-w"} }, "v1", false},
		{"compiler", func(*Request) {}, "v2", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			mustCompile(t, NewCached(&counting{version: "v1"}, dir), tile(t, "8"))
			d := &counting{version: tt.version}
			r := tile(t, "8")
			tt.change(&r)
			mustCompile(t, NewCached(d, dir), r)
			if same := d.runs.Load() == 0; same != tt.same {
				t.Errorf("answered from the cache: %v, want %v", same, tt.same)
			}
		})
	}
}

func TestCacheDamage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(b []byte) []byte
	}{
		{"flipped bit", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		{"truncated", func(b []byte) []byte { return b[:len(b)-3] }},
		{"empty", func([]byte) []byte { return nil }},
		{"appended", func(b []byte) []byte { return append(b, 'x') }},
		{"other key", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"key":"`, `"key":"0`, 1)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			want := mustCompile(t, NewCached(&counting{version: "v1"}, dir), tile(t, "8"))
			files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("cache holds %v, %v", files, err)
			}
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], tt.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			for i, runs := range []int64{1, 0} {
				d := &counting{version: "v1"}
				if got := mustCompile(t, NewCached(d, dir), tile(t, "8")); string(got.PTX) != string(want.PTX) || d.runs.Load() != runs {
					t.Errorf("use %d after the damage: %q after %d compilations, want %d", i, got.PTX, d.runs.Load(), runs)
				}
			}
		})
	}
}

func TestCacheCompilesOnceForMany(t *testing.T) {
	d := &counting{version: "v1", gate: make(chan struct{})}
	c := NewCached(d, t.TempDir())
	var g errgroup.Group
	for range 16 {
		g.Go(func() error {
			_, err := c.Compile(context.Background(), tile(t, "8"))
			return err
		})
	}
	close(d.gate)
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if d.runs.Load() != 1 {
		t.Errorf("%d compilations, want 1", d.runs.Load())
	}
}

func TestCacheSharedByManyCaches(t *testing.T) {
	dir := t.TempDir()
	var g errgroup.Group
	for range 8 {
		c := NewCached(&counting{version: "v1"}, dir)
		g.Go(func() error {
			for _, v := range []string{"1", "2", "3", "1", "2", "3"} {
				res, err := c.Compile(context.Background(), tile(t, v))
				if err != nil {
					return err
				}
				if !strings.Contains(string(res.PTX), `"TILE":"`+v+`"`) {
					return errors.New("wrong entry " + string(res.PTX))
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

// A caller that gives up does not take along those who wait for the same result.
func TestCacheCancellationIsOneCallersOwn(t *testing.T) {
	d := &counting{version: "v1", gate: make(chan struct{})}
	c := NewCached(d, "")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var gaveUp error
	wg.Go(func() { _, gaveUp = c.Compile(ctx, tile(t, "8")) })
	var patient error
	wg.Go(func() { _, patient = c.Compile(context.Background(), tile(t, "8")) })
	cancel()
	close(d.gate)
	wg.Wait()
	if patient != nil {
		t.Errorf("the patient caller got %v", patient)
	}
	if gaveUp != nil && !errors.Is(gaveUp, context.Canceled) {
		t.Errorf("the other got %v", gaveUp)
	}
}

// What is there is given without running a compiler: what memory or the disk has,
// and PTX that needs none.
func TestMadeRunsNoCompiler(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	driver := &counting{version: "v1"}
	c := Of(Given{}, Prebuilt{}, NewCached(driver, dir))
	if _, ok := c.Made(ctx, tile(t, "8")); ok || driver.runs.Load() != 0 {
		t.Errorf("before it was compiled: %v, the compiler ran %d times", ok, driver.runs.Load())
	}
	want, err := c.Compile(ctx, tile(t, "8"))
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]Driver{"memory": c.drivers[2], "disk": NewCached(&counting{version: "v1"}, dir)} {
		if got, ok := Of(Given{}, d).Made(ctx, tile(t, "8")); !ok || got.Digest != want.Digest {
			t.Errorf("from %s: %v, %+v", name, ok, got)
		}
	}
	if _, ok := c.Made(ctx, tile(t, "16")); ok || driver.runs.Load() != 1 {
		t.Errorf("another configuration: %v, the compiler ran %d times", ok, driver.runs.Load())
	}
	if _, ok := Of(driver).Made(ctx, tile(t, "8")); ok {
		t.Error("a compiler has it made")
	}
	given := request(t, "k.ptx", fstest.MapFS{"k.ptx": text(".version 8.0\n.target sm_90\n")})
	given.Language = call.PTX
	if got, ok := Of(Given{}).Made(ctx, given); !ok || len(got.PTX) == 0 {
		t.Errorf("given PTX: %v, %+v", ok, got)
	}
}

func TestCacheWithoutPlaceAndWithErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustCompile(t, NewCached(&counting{version: "v1"}, file), tile(t, "8"))
	outcome := &Error{Compiler: "v1", File: "k.cu", Message: "error: no"}
	var e *Error
	if _, err := NewCached(&counting{version: "v1", err: outcome}, t.TempDir()).Compile(context.Background(), tile(t, "8")); !errors.As(err, &e) {
		t.Errorf("got %v, want the outcome", err)
	}
}

// recent against its definition: the limit most recently used keys.
func TestRecent(t *testing.T) {
	r := newRecent(2)
	for _, k := range []string{"a", "b", "a", "c"} {
		if _, ok := r.get(k); !ok {
			r.put(k, Result{Digest: k})
		}
	}
	for k, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if res, ok := r.get(k); ok != want || ok && res.Digest != k {
			t.Errorf("%s: %v %v, want %v", k, res.Digest, ok, want)
		}
	}
}

// However long results are, what is kept in memory is bounded.
func TestRecentIsBoundedInBytes(t *testing.T) {
	r := newRecent(recentResults)
	ptx := make([]byte, 3*recentBytes/8)
	for i := range 10 {
		key := fmt.Sprint(i)
		r.put(key, Result{PTX: ptx})
		r.put(key, Result{PTX: ptx})
		if n := min(i+1, 2); r.order.Len() != n || len(r.byKey) != n || r.bytes != n*len(ptx) {
			t.Fatalf("%d results of %d bytes are kept, want %d", r.order.Len(), r.bytes, n)
		}
	}
	r.put("too large", Result{PTX: make([]byte, 2*recentBytes)})
	if _, ok := r.get("too large"); !ok || r.order.Len() != 1 {
		t.Errorf("%d results are kept with one that is too large", r.order.Len())
	}
}
