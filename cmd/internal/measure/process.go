package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// Program is the measurer's name.
const Program = "measurer"

// Options say how the measurer is started.
type Options struct {
	Program string // its path; "": beside this program, or in PATH
	Device  int    // number of the GPU
	Shared  bool   // other processes may use the GPU
	// Limit is how long one launch may be measured, its loading included; 0: DefaultLimit.
	Limit time.Duration
}

// DefaultLimit ends what hangs. A configuration takes about a second.
const DefaultLimit = time.Minute

// greetingLimit is how long opening a GPU may take: many GPUs of a machine that is
// busy take many seconds.
const greetingLimit = 2 * time.Minute

// RefusedError is that nothing can be measured here. Its text is a sentence.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "nothing can be measured here: " + e.Why }

// find returns the measurer's path.
func (o *Options) find() (string, error) {
	if o.Program != "" {
		return o.Program, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), Program)
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(Program)
	if err != nil {
		return "", &RefusedError{"there is no program " + Program + " beside this one, nor in PATH: \"make build\" makes it (go build -o bin/ ./cmd/...)"}
	}
	return path, nil
}

// process is a running measurer.
type process struct {
	Device  wire.Device
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan []byte // lines; closed when there are no more
	stderr  *tail
}

// tail keeps the end of what is written to it.
type tail struct{ bytes.Buffer }

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	n, err := t.Buffer.Write(b)
	if over := t.Len() - tailBytes; over > 0 {
		t.Next(over)
	}
	return n, err
}

// start starts a measurer and waits for its greeting.
func start(ctx context.Context, o *Options) (*process, error) {
	path, err := o.find()
	if err != nil {
		return nil, err
	}
	args := []string{"-device", fmt.Sprint(o.Device)}
	if o.Shared {
		args = append(args, "-shared")
	}
	p := &process{cmd: exec.Command(path, args...), replies: make(chan []byte, 16), stderr: &tail{}}
	p.cmd.Stderr = p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	alone(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, &RefusedError{fmt.Sprintf("%s does not start: %v", path, err)}
	}
	go p.listen(out)
	text, err := p.line(ctx, greetingLimit)
	if err != nil {
		p.end()
		return nil, fmt.Errorf("opening the GPU: %w", err)
	}
	var g wire.Greeting
	if err := json.Unmarshal(text, &g); err != nil {
		p.end()
		return nil, fmt.Errorf("%s says %.200q, which is no greeting: is it of another version?", path, text)
	}
	if g.Refusal != "" {
		p.end()
		return nil, &RefusedError{g.Refusal}
	}
	p.Device = g.Device
	return p, nil
}

// maxReply bounds a line, bytes: what was read is in it.
const maxReply = 256 << 20

func (p *process) listen(out io.Reader) {
	defer close(p.replies)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		p.replies <- bytes.Clone(lines.Bytes())
	}
}

// errSlow is that a line did not come in time; errEnded that none comes any more.
var (
	errSlow  = errors.New("no answer in time")
	errEnded = errors.New("the measurer ended")
)

func (p *process) line(ctx context.Context, limit time.Duration) ([]byte, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case text, ok := <-p.replies:
		if !ok {
			return nil, errEnded
		}
		return text, nil
	case <-timer.C:
		return nil, errSlow
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// do measures a job. Of an error, stage says what was under way.
func (p *process) do(ctx context.Context, job *wire.Job, limit time.Duration) (r *wire.Result, stage string, err error) {
	text, err := json.Marshal(job)
	if err != nil {
		return nil, "", err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return nil, "it was sent", errEnded
	}
	end := time.Now().Add(limit)
	for {
		text, err := p.line(ctx, time.Until(end))
		if err != nil {
			return nil, stage, err
		}
		var reply wire.Reply
		if err := json.Unmarshal(text, &reply); err != nil {
			return nil, stage, fmt.Errorf("the measurer says %.200q: is it of another version?", text)
		}
		if reply.Result != nil {
			return reply.Result, "", nil
		}
		stage = reply.Stage
	}
}

// end ends the process, and returns the last it wrote to its standard error.
func (p *process) end() string {
	_ = p.in.Close()
	kill(p.cmd)
	for range p.replies {
	}
	_ = p.cmd.Wait()
	return strings.Join(strings.Fields(p.stderr.String()), " ")
}
