package cost

import (
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// What the texture unit does of a fetch. It takes a quad of lanes a cycle and SM whose texels are of up to
// textureBytes, one for each lane or a square of four that it blends; of two squares, in three dimensions, it takes one
// after the other. Its results come textureLatency cycles later than a load's from L1.
const (
	textureBytes   = 8
	textureSquare  = 4
	textureLatency = 56
)

// TextureCost is how long a fetch or an access to a surface holds the SM's texture unit, steps. a.Passes are its turns.
func (m *Machine) TextureCost(a *trace.Access) int64 {
	turns := int64(max(a.Passes, 1))
	turns *= (int64(a.Width) + textureBytes - 1) / textureBytes
	turns *= (int64(a.Texels) + textureSquare - 1) / textureSquare
	return turns * m.textureQuad
}

// Texture is TextureCost in cycles.
func (f *Figures) Texture(a *trace.Access) float64 { return cycles(f.m.TextureCost(a)) }

func (m *Machine) setTexture() {
	m.textureQuad = dram.Fraction
	m.LatTexture = m.LatL1 + textureLatency
}
