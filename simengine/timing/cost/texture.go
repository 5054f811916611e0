package cost

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// What the texture unit does of a fetch (figures: H100, deploy/calibrate/results/h100-textures.jsonl.gz). It takes a quad of
// lanes a turn, in one dimension two quads. A fetch of one texel takes a turn for each textureBytes of it (texture.rate
// fetch_1d, point_2d), one that blends for each filterBytes (linear_2d; linear_3d takes twice that, and volumeWide
// turns for texels of 16 bytes). It looks up textureLines lines a cycle (strided), and reads words of one data bank one
// after another (fetch_1d 1x32).
const (
	textureBytes = 8
	filterBytes  = 4
	volumeTurns  = 2
	volumeWide   = 16
	textureLines = 2
)

// How much later results come (texture.latency, all 17 within 9 %): a cycle for each of a
// fetch's own once more, textureWord for each word of a texel, textureBlend if it blends; textureLine earlier in one
// dimension.
const (
	textureWord  = 3
	textureBlend = 7
	textureLine  = 17
)

// Where a descriptor has no figures: four texture units an SM, each of a lane a cycle (NVIDIA's architecture papers
// from Maxwell on), and what an H100's hit takes beyond a load's.
const (
	textureQuads = 1
	textureLater = 74
)

// quadTurns is the turns of one quad of lanes.
func quadTurns(a *trace.Access) int64 {
	width := int64(a.Width)
	switch {
	case a.Gather:
		return 2
	case a.Texels <= 1:
		return (width + textureBytes - 1) / textureBytes
	case a.Texels <= 4:
		return (width + filterBytes - 1) / filterBytes
	case width <= textureBytes:
		return volumeTurns
	}
	return volumeWide
}

// turns is how long a fetch's quads take, steps. a.Passes are they.
func (m *Machine) turns(a *trace.Access) int64 {
	steps := int64(max(a.Passes, 1)) * quadTurns(a) * m.textureQuad
	if a.OneDimension {
		steps /= 2
	}
	return steps
}

// TextureCost is how long a fetch or an access to a surface holds the SM's texture unit, steps.
func (m *Machine) TextureCost(a *trace.Access) int64 {
	return max(m.turns(a), int64(a.Wavefronts)*dram.Fraction, int64(a.NLines)*dram.Fraction/textureLines)
}

// TextureLatency is that of a fetch that L1 serves, cycles from when the unit takes it.
func (m *Machine) TextureLatency(a *trace.Access) int64 {
	latency := m.LatTexture + textureWord*max(int64(a.Width)/4, 1)
	if a.Texels <= 4 || a.Width <= textureBytes {
		latency += 2 * m.turns(a) / dram.Fraction
	} else {
		latency += m.turns(a) / dram.Fraction
	}
	if a.Texels > 1 {
		latency += textureBlend
	}
	if a.OneDimension {
		latency -= textureLine
	}
	return latency
}

// Texture is TextureCost in cycles, and TextureLatency.
func (f *Figures) Texture(a *trace.Access) (hold, latency float64) {
	return cycles(f.m.TextureCost(a)), float64(f.m.TextureLatency(a))
}

func (m *Machine) setTexture(d *arch.Descriptor) {
	quads := d.TextureQuads
	if quads == 0 {
		quads = textureQuads
	}
	m.textureQuad = int64(dram.Fraction / quads)
	if m.LatTexture = int64(d.TextureLatency); m.LatTexture == 0 {
		m.LatTexture = m.LatL1 + textureLater
	}
}
