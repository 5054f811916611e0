package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/tunertest"
)

// flood writes frames of one kind that ask for work and bring nobody anything.
type flood struct {
	name  string
	frame func(f *http2.Framer, stream uint32, header []byte) error
}

// Floods. A stream's number is odd and grows.
var floods = []flood{
	{"calls taken back", func(f *http2.Framer, stream uint32, header []byte) error {
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: header, EndHeaders: true}); err != nil {
			return err
		}
		return f.WriteRSTStream(stream, http2.ErrCodeCancel)
	}},
	{"calls that do not end", func(f *http2.Framer, stream uint32, header []byte) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: header, EndHeaders: true})
	}},
	{"settings", func(f *http2.Framer, _ uint32, _ []byte) error {
		return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 65535})
	}},
	{"windows", func(f *http2.Framer, stream uint32, _ []byte) error { return f.WriteWindowUpdate(stream, 1) }},
	{"priorities", func(f *http2.Framer, stream uint32, _ []byte) error {
		return f.WritePriority(stream, http2.PriorityParam{Weight: 1})
	}},
	{"pings", func(f *http2.Framer, _ uint32, _ []byte) error { return f.WritePing(false, [8]byte{}) }},
}

// callHeader is the header of a call, as HPACK has it without its table.
func callHeader(method, token string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}, {"authorization", "Bearer " + token}} {
		_ = e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: true})
	}
	return b.Bytes()
}

// run floods over one connection until it is closed, or stop is, and returns how
// many frames were written, and whether the server closed it.
func (f flood) run(address, token string, stop <-chan struct{}) (frames int64, sentAway bool) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, false
	}
	defer conn.Close()
	gone := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, conn); close(gone) }()
	w := bufio.NewWriterSize(conn, 16<<10)
	_, _ = w.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(w, nil)
	_ = framer.WriteSettings()
	header := callHeader(warptunev1.SweepService_Watch_FullMethodName, token)
	for stream := uint32(1); stream < 1<<30; stream += 2 {
		if err := f.frame(framer, stream, header); err != nil {
			return frames, true
		}
		frames++
		select {
		case <-gone:
			return frames, true
		case <-stop:
			return frames, false
		default:
		}
	}
	return frames, false
}

// spent is how much processor time a process has had.
func spent(t *testing.T, p *process) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100 // USER_HZ is 100 on all of Go's ports
}

// flooding is what became of floods so far.
type flooding struct {
	stop                     chan struct{}
	all                      sync.WaitGroup
	frames, connections, cut atomic.Int64
}

// begin floods over one connection, which is made anew when it is cut.
func (g *flooding) begin(f flood, address, token string) (cut *atomic.Int64) {
	cut = new(atomic.Int64)
	g.all.Go(func() {
		for {
			select {
			case <-g.stop:
				return
			default:
			}
			n, away := f.run(address, token, g.stop)
			g.frames.Add(n)
			g.connections.Add(1)
			if away {
				cut.Add(1)
				g.cut.Add(1)
			}
		}
	})
	return cut
}

// Floods of frames that bring nobody anything, by somebody with a token and by somebody without, who connect anew
// whenever they are sent away. Each is, the coordinator spends less than half a core on them all, and who asks
// something from the same address is answered, also over new connections.
func TestFloods(t *testing.T) {
	dir := t.TempDir()
	token, other := strings.Repeat("a", 24), strings.Repeat("m", 24)
	write(t, filepath.Join(dir, "tokens"), []byte(fmt.Sprintf("admin ada %s\nreader mallory %s\n", token, other)), 0o600)
	c := start(t, "coordinator", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--token-file", filepath.Join(dir, "tokens"))
	address := c.says(t, `serving: address=(\S+)`)
	dial := func() *grpc.ClientConn {
		conn, err := grpc.NewClient(address, append(rpc.ClientOptions(nil), grpc.WithPerRPCCredentials(rpc.Bearer(token, true)))...)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	list := func(conn *grpc.ClientConn) time.Duration {
		t.Helper()
		asked := time.Now()
		if _, err := warptunev1.NewSweepServiceClient(conn).List(t.Context(), &warptunev1.ListRequest{}); err != nil {
			t.Errorf("while others flood: %v", err)
		}
		return time.Since(asked)
	}
	old := dial()
	defer old.Close()
	list(old)
	groups := [][]flood{floods}
	if tunertest.Times(0, 1) == 1 {
		for _, f := range floods {
			groups = append(groups, []flood{f})
		}
	}
	for _, group := range groups {
		name := group[0].name
		if len(group) > 1 {
			name = "all"
		}
		t.Run(name, func(t *testing.T) {
			g := &flooding{stop: make(chan struct{})}
			defer g.all.Wait()
			defer close(g.stop)
			cuts := map[string]*atomic.Int64{}
			for _, f := range group {
				cuts[f.name+" with a token"] = g.begin(f, address, other)
				cuts[f.name+" with a wrong token"] = g.begin(f, address, "wrong")
			}
			var asked, anew []time.Duration
			ask := func(during time.Duration) (share float64) {
				before, began := spent(t, c), time.Now()
				for time.Since(began) < during {
					asked = append(asked, list(old))
					if len(asked)%10 == 1 {
						conn := dial()
						anew = append(anew, list(conn))
						conn.Close()
					}
					time.Sleep(20 * time.Millisecond)
				}
				return (spent(t, c) - before).Seconds() / time.Since(began).Seconds()
			}
			share := ask(5 * time.Second)
			for until := time.Now().Add(patience); ; {
				share = ask(2 * time.Second)
				calm := share < 0.5
				for _, cut := range cuts {
					calm = calm && cut.Load() > 0
				}
				if calm {
					break
				}
				if time.Now().After(until) {
					for name, cut := range cuts {
						t.Errorf("%s: sent away %d times", name, cut.Load())
					}
					t.Fatalf("the coordinator spends %.0f %% of a core on floods", 100*share)
				}
			}
			slices.Sort(asked)
			t.Logf("%.0f %% of a core; %d frames of %d connections, of which %d were cut; of %d calls the 99th percentile took %v, the longest over a new connection %v",
				100*share, g.frames.Load(), g.connections.Load(), g.cut.Load(), len(asked), asked[len(asked)*99/100], slices.Max(anew))
		})
	}
}
