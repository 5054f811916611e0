package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
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

// run floods over one connection until it is closed, or stop is. It counts the
// frames written, and reports whether the server closed it.
func (f flood) run(address, token string, stop <-chan struct{}, frames *atomic.Int64) (sentAway bool) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	gone := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, conn); close(gone) }()
	go func() { // who waits to write is to end, too
		select {
		case <-stop:
			_ = conn.Close()
		case <-gone:
		}
	}()
	w := bufio.NewWriterSize(conn, 16<<10)
	_, _ = w.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(w, nil)
	_ = framer.WriteSettings()
	header := callHeader(warptunev1.SweepService_Watch_FullMethodName, token)
	for stream := uint32(1); stream < 1<<30; stream += 2 {
		if err := f.frame(framer, stream, header); err != nil {
			break
		}
		frames.Add(1)
		select {
		case <-gone:
			return true
		default:
		}
	}
	select {
	case <-stop:
		return false
	default:
		return true
	}
}

// flooding is one who floods over one connection, which he makes anew when it is cut.
type flooding struct{ frames, connections, cut, before atomic.Int64 }

func (g *flooding) flood(f flood, address, token string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		g.connections.Add(1)
		if f.run(address, token, stop, &g.frames) {
			g.cut.Add(1)
		}
	}
}

// calm reports whether he was sent away, or is slowed down to what is no flood, since
// the last time.
func (g *flooding) calm(during time.Duration) bool {
	frames := g.frames.Load()
	slow := float64(frames-g.before.Swap(frames)) < 2000*during.Seconds()
	return g.cut.Load() > 0 || slow
}

// Floods of frames that bring nobody anything, by somebody with a token and by somebody without, who connect anew
// whenever they are sent away. Each is, or is slowed down, the coordinator spends less than half a core on them all, and who asks
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
			stop := make(chan struct{})
			var all sync.WaitGroup
			defer all.Wait()
			defer close(stop)
			floodings := map[string]*flooding{}
			for _, f := range group {
				for with, token := range map[string]string{"with a token": other, "with a wrong token": "wrong"} {
					g := new(flooding)
					floodings[f.name+" "+with] = g
					all.Go(func() { g.flood(f, address, token, stop) })
				}
			}
			var asked, anew []time.Duration
			ask := func(during time.Duration) (share float64) {
				before, began := processorTime(t, c.cmd.Process.Pid), time.Now()
				for time.Since(began) < during {
					asked = append(asked, list(old))
					if len(asked)%10 == 1 {
						conn := dial()
						anew = append(anew, list(conn))
						conn.Close()
					}
					time.Sleep(20 * time.Millisecond)
				}
				return (processorTime(t, c.cmd.Process.Pid) - before).Seconds() / time.Since(began).Seconds()
			}
			const during = 2 * time.Second
			ask(5*time.Second - during)
			share := 0.0
			for until := time.Now().Add(patience); ; {
				share = ask(during)
				var rage []string
				for name, g := range floodings {
					if !g.calm(during) {
						rage = append(rage, name)
					}
				}
				if share < 0.5 && len(rage) == 0 {
					break
				}
				if time.Now().After(until) {
					t.Fatalf("the coordinator spends %.0f %% of a core on floods; neither sent away nor slowed down: %q", 100*share, rage)
				}
			}
			var frames, connections, cut int64
			for _, g := range floodings {
				frames, connections, cut = frames+g.frames.Load(), connections+g.connections.Load(), cut+g.cut.Load()
			}
			slices.Sort(asked)
			t.Logf("%.0f %% of a core; %d frames of %d connections, of which %d were cut; of %d calls the 99th percentile took %v, the longest over a new connection %v",
				100*share, frames, connections, cut, len(asked), asked[len(asked)*99/100], slices.Max(anew))
		})
	}
}
