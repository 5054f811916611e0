package measure

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ir"
)

// copies is a job that copies a texture of some shape to a surface.
func copies(shape []int64, layers int64) *wire.Job {
	count := max(layers, 1)
	for _, n := range shape {
		count *= n
	}
	job := &wire.Job{Image: []byte(".entry copy"), Entry: "copy", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, CarveOut: -1, Plan: Plan}
	for i, surface := range []bool{false, true} {
		a := &simengine.Arg{Elem: ir.F32, Texture: &simengine.Texture{Shape: shape, Layers: layers, Surface: surface}}
		job.Buffers = append(job.Buffers, wire.Buffer{Elem: ir.F32, Count: count, Fill: wire.FillRandom, Value: 1, Seed: 5})
		job.Params = append(job.Params, wire.Param{Buffer: i, Texture: textureOf(a)})
	}
	job.Read = []wire.Range{{Buffer: 0, Bytes: 4 * count}, {Buffer: 1, Bytes: 4 * count}}
	return job
}

// Arrays of every shape hold the buffer's texels row by row, and surfaces are read back so.
func TestTexturesAndSurfaces(t *testing.T) {
	standin.Install(t, false)
	m := open(t, Options{})
	for _, c := range []struct {
		shape  []int64
		layers int64
	}{{[]int64{37}, 0}, {[]int64{37, 5}, 0}, {[]int64{7, 5, 3}, 0}, {[]int64{37}, 4}, {[]int64{9, 5}, 3}} {
		job := copies(c.shape, c.layers)
		r := do(t, m, job)
		if r.Failure != nil {
			t.Errorf("%v: %s", c, r.Failure.Message)
			continue
		}
		in := contentsOf(&job.Buffers[0])
		if !slices.Equal(in, r.Read[0]) {
			t.Errorf("%v: the texture does not hold its buffer's contents", c)
		}
		for i := 0; i < len(in); i += 4 {
			want := math.Float32frombits(binary.LittleEndian.Uint32(in[i:])) + 1
			if got := math.Float32frombits(binary.LittleEndian.Uint32(r.Read[1][i:])); got != want {
				t.Fatalf("%v: texel %d of the surface is %v, want %v", c, i/4, got, want)
			}
		}
		if len(r.Warm) == 0 || len(r.First) != 0 {
			t.Errorf("%v: warm %v, first %v", c, r.Warm, r.First)
		}
	}
}

func contentsOf(b *wire.Buffer) []byte {
	c := simengine.Contents{Elem: b.Elem, Count: b.Count, Fill: simengine.Fill{Kind: simengine.FillRandom, Value: b.Value, Seed: b.Seed}}
	out := make([]byte, c.Bytes())
	c.Write(0, out)
	return out
}

// Textures of linear memory and of all formats and modes are made; what the driver refuses is named.
func TestTexturesOfAllKinds(t *testing.T) {
	standin.Install(t, false)
	m := open(t, Options{})
	try := func(a *simengine.Arg, refused bool) {
		t.Helper()
		job := fill("fill")
		job.Params[0] = wire.Param{Name: "p", Buffer: 1}
		job.Buffers = append(job.Buffers, job.Buffers[0])
		job.Read = nil
		job.Entry, job.Image = "copy", []byte(".entry copy")
		job.Params = []wire.Param{{Name: "t", Buffer: 0, Texture: textureOf(a)}, copies([]int64{1}, 0).Params[1]}
		job.Plan.Batches, job.Plan.WarmUp, job.Plan.Cold = 3, 1, 0
		job.Buffers[0], job.Buffers[1] = wire.Buffer{Elem: a.Elem, Count: 4096 * int64(max(a.Lanes, 1)), Fill: wire.FillConstant}, wire.Buffer{Elem: ir.F32, Count: 1, Fill: wire.FillConstant}
		if a.Texture.Linear { // the stand-in's kernels read arrays only
			job.Entry, job.Image = "launch_copy", []byte(".entry copy")
			job.Params = append(job.Params[:1], fill("fill").Params[1:]...)
		}
		r := do(t, m, job)
		made := r.Failure == nil || a.Texture.Linear && strings.Contains(r.Failure.Message, "cuLaunchKernel")
		if made == refused || refused && (r.Failure == nil || !strings.Contains(r.Failure.Message, "parameter 0 (t): cuTexObjectCreate")) {
			t.Errorf("%+v of %v x %d: %+v", *a.Texture, a.Elem, a.Lanes, r.Failure)
		}
	}
	modes := []simengine.TextureMode{simengine.TextureClamp, simengine.TextureWrap, simengine.TextureMirror, simengine.TextureBorder}
	for elem := range formats {
		for _, lanes := range []int{1, 2, 4} {
			try(&simengine.Arg{Elem: elem, Lanes: lanes, Texture: &simengine.Texture{Shape: []int64{64, 64}, Modes: modes[:2], Normalized: lanes == 2}}, false)
			try(&simengine.Arg{Elem: elem, Lanes: lanes, Texture: &simengine.Texture{Shape: []int64{4096}, Linear: true, Modes: modes[2:]}}, false)
			try(&simengine.Arg{Elem: elem, Lanes: lanes, Texture: &simengine.Texture{Shape: []int64{64, 64}, Linear: true}}, false)
		}
	}
	try(&simengine.Arg{Elem: ir.F32, Texture: &simengine.Texture{Shape: []int64{64, 64}, Filter: true}}, false)
	try(&simengine.Arg{Elem: ir.U8, Texture: &simengine.Texture{Shape: []int64{64, 64}, Filter: true, ReadNormalized: true}}, false)
	try(&simengine.Arg{Elem: ir.U8, Texture: &simengine.Texture{Shape: []int64{64, 64}, Filter: true}}, true)
}

// The driver's numbers are those of cuda.h.
func TestTextureNumbers(t *testing.T) {
	a := &simengine.Arg{Elem: ir.S16, Lanes: 2, Texture: &simengine.Texture{
		Shape: []int64{8, 4}, Modes: []simengine.TextureMode{simengine.TextureBorder, simengine.TextureWrap, simengine.TextureMirror}, Filter: true, ReadNormalized: true,
	}}
	want := "{Format:9 Channels:2 Texel:4 Shape:[8 4] Layers:0 Surface:false Linear:false Modes:[3 0 1] Filter:1 Normalized:false ReadNormalized:true}"
	if got := fmt.Sprintf("%+v", *textureOf(a)); got != want {
		t.Errorf("told the driver: %s, want %s", got, want)
	}
}

// Managed memory is on the device when launches are timed, and where it is said to be at the first one.
func TestManagedMemory(t *testing.T) {
	standin.Install(t, false)
	m := open(t, Options{})
	for _, place := range []string{wire.ManagedHost, wire.ManagedNowhere, wire.ManagedDevice} {
		job := fill("fill_" + place)
		job.Buffers[0].Managed = place
		r := do(t, m, job)
		if r.Failure != nil {
			t.Errorf("%s: %s", place, r.Failure.Message)
			continue
		}
		if want := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 7), 7); string(r.Read[0]) != string(want) {
			t.Errorf("%s: elements 1 and 2 are %v, want %v", place, r.Read[0], want)
		}
		sum, err := Summarise(r)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Median < 199 || sum.Median > 300 {
			t.Errorf("%s: a warm launch of 200 us came to %v", place, sum.Median)
		}
		first, has := sum.metrics(r)[prefix+"first_us"]
		if place == wire.ManagedDevice && has || place != wire.ManagedDevice && (len(r.First) != Plan.First || first < 1199) {
			t.Errorf("%s: the first launches took %v us", place, r.First)
		}
	}
}

// A GPU without concurrent managed access is said to be one, with what to do; other launches are measured there.
func TestNoConcurrentManagedAccess(t *testing.T) {
	standin.Install(t, false)
	t.Setenv("STANDIN_UNMANAGED", "1")
	m := open(t, Options{})
	for _, place := range []string{wire.ManagedHost, wire.ManagedNowhere, wire.ManagedDevice} {
		job := fill("fill")
		job.Buffers[0].Managed = place
		r := do(t, m, job)
		if r.Failure == nil || r.Failure.Kind != wire.FailedLaunch || r.Failure.Fatal || !strings.Contains(r.Failure.Message, "the GPU here, "+standin.GPU+", has no concurrent managed access") || !strings.Contains(r.Failure.Message, "measure on a GPU that has it") {
			t.Errorf("%s: %+v", place, r.Failure)
		}
	}
	if r := do(t, m, fill("fill")); r.Failure != nil {
		t.Errorf("without managed memory: %s", r.Failure.Message)
	}
}

// A cooperative launch is launched as one, in clusters too, and one that is refused ends nothing else.
func TestCooperative(t *testing.T) {
	standin.Install(t, false)
	m := open(t, Options{})
	for _, cluster := range [][3]uint32{{}, {2, 1, 1}} {
		job := fill("fill_together")
		job.Cooperative, job.Cluster = true, cluster
		if r := do(t, m, job); r.Failure != nil || len(r.Warm) == 0 {
			t.Errorf("cooperative in clusters %v: %+v", cluster, r.Failure)
		}
	}
	job := fill("fill_apart")
	job.Cooperative = true
	if r := do(t, m, job); r.Failure == nil || r.Failure.Kind != wire.FailedLaunch || r.Failure.Fatal || !strings.Contains(r.Failure.Message, "must all be resident together") {
		t.Errorf("one that is refused: %+v", r.Failure)
	}
}

// An old driver lacks calls for managed memory and cooperative launches: they are named.
func TestOldDriverLaunchKinds(t *testing.T) {
	standin.Install(t, true)
	m := open(t, Options{})
	managed, together := fill("fill"), fill("fill")
	managed.Buffers[0].Managed, together.Cooperative = wire.ManagedHost, true
	for call, job := range map[string]*wire.Job{"cuMemPrefetchAsync": managed, "cuLaunchCooperativeKernel": together} {
		if r := do(t, m, job); r.Failure == nil || r.Failure.Kind != wire.FailedLaunch || !strings.Contains(r.Failure.Message, "the driver has no "+call) {
			t.Errorf("without %s: %+v", call, r.Failure)
		}
	}
	if r := do(t, m, fill("fill")); r.Failure != nil {
		t.Errorf("without either: %s", r.Failure.Message)
	}
}
