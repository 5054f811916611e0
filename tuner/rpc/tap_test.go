package rpc

import (
	"net"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// halfSent is a client without a library: it begins calls whose messages it never
// sends to their ends, and returns how many are answered nevertheless within a time, or
// soon after enough are.
func halfSent(t *testing.T, address, method string, calls, enough int, wait time.Duration) (answered int) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b := appendFrame([]byte(preface), frameSettings, 0, 0, nil)
	block := callBlock(method)
	half := append([]byte{0, 0, 0x30, 0, 0}, make([]byte, 300)...) // of 3 MiB
	for i := range calls {
		stream := uint32(2*i + 1)
		b = appendFrame(appendFrame(b, frameHeaders, flagEndHeaders, stream, block), frameData, 0, stream, half)
	}
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(wait))
	for answered < calls {
		kind, flags, _, err := readFrame(conn)
		if err != nil {
			return answered
		}
		if kind == frameHeaders && flags&flagEndStream != 0 {
			if answered++; answered == enough {
				_ = conn.SetReadDeadline(time.Now().Add(min(wait, 500*time.Millisecond)))
			}
		}
	}
	return answered
}

// Nobody who may not call makes the coordinator keep what he sends: he is answered
// before his message has come. What is open to anyone is open to few at a time.
func TestMessagesOfNobody(t *testing.T) {
	tokens, err := LoadTokens(writeFile(t, "tokens", tokenText, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, Authorize(tokens, nil)...)
	for _, method := range []string{warptunev1.SweepService_Submit_FullMethodName, warptunev1.SweepService_PutBundle_FullMethodName, warptunev1.WorkerService_Synchronize_FullMethodName} {
		if n := halfSent(t, address, method, 100, 100, patience); n != 100 {
			t.Errorf("%s: %d of 100 half-sent messages are answered", method, n)
		}
	}
	const most = 100 - maxOpenPerHost
	if n := halfSent(t, address, grpc_health_v1.Health_Check_FullMethodName, 100, most, openTime*9/10); n != most {
		t.Errorf("health: %d of 100 half-sent messages are answered at once, want all but %d", n, maxOpenPerHost)
	}
	for waited := time.Duration(0); waited < openTime/2; { // until those before have ended
		begun := time.Now()
		if n := halfSent(t, address, grpc_health_v1.Health_Check_FullMethodName, 1, 1, patience); n != 1 {
			t.Fatal("a half-sent message that is open to anyone is waited for")
		}
		waited = time.Since(begun)
	}
}
