package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/call"
)

var addressModes = []string{"clamp", "wrap", "mirror", "border"}

// textureSpec is what a definition says of a texture.
type textureSpec struct {
	path    string
	shape   []expression
	texture call.Texture // but for Shape
}

var textureFields = []string{"Layered", "Filter", "Address", "Normalized", "ReadMode", "Linear"}

// readTexture reads the fields of a texture or surface.
func (d *Definition) readTexture(r *reader, rec *record, a *argument) {
	if a.texture == nil {
		for _, name := range textureFields {
			if field, ok := rec.get(name); ok {
				r.warn(field.path, "ignored: it is a field of MemoryType Texture")
			}
		}
		return
	}
	t := &a.texture.texture
	a.texture.path = rec.path
	if a.constant || a.custom {
		r.fail(rec.path, "a texture has texels of numbers, and is passed by value: MemType Constant and Type custom are neither")
	}
	rec.need("Shape")
	a.texture.shape = rec.expressions("Shape")
	for i := range a.texture.shape {
		d.checkNames(r, a.texture.shape[i])
		a.texture.shape[i] = d.scope.listed(a.texture.shape[i])
	}
	t.Layered, t.Linear, t.Normalized = rec.flag("Layered"), rec.flag("Linear"), rec.flag("Normalized")
	t.Filter = rec.choice("Filter", "point", "linear") == 1
	t.ReadNormalized = rec.choice("ReadMode", "element", "normalized") == 1
	t.Address = rec.addressModes()
	if t.Surface {
		for _, name := range textureFields[1:] {
			if field, ok := rec.get(name); ok {
				r.fail(field.path, "a surface is an array that is read and written as it is: leave %s out", name)
			}
		}
	}
	if r.err == nil {
		if field, why := a.texture.refuses(a.arg.Type, a.arg.Lanes); why != "" {
			r.fail(join(rec.path, field), "%s", why)
		}
	}
	for _, name := range []string{"Box", "Strides", "ElementStrides", "Swizzle", "Interleave", "L2Promotion", "OutOfBounds", "Of"} {
		if field, ok := rec.get(name); ok {
			r.fail(field.path, "a field of MemoryType TensorMap: a texture has a buffer of its own")
		}
	}
	if t.Normalized {
		return
	}
	for _, m := range t.Address {
		if m == call.AddressWrap || m == call.AddressMirror {
			r.warn(join(rec.path, "Address"), "%s is read as clamp, as CUDA does where coordinates are not Normalized", addressModes[m])
		}
	}
}

// refuses says what texels of a type and so many channels cannot be, or be read as, and in which field; "" if nothing.
func (t *textureSpec) refuses(of call.Type, channels int) (field, why string) {
	small := slices.Contains([]call.Type{call.Int8, call.Uint8, call.Int16, call.Uint16}, of)
	float := of == call.Half || of == call.Float
	name := of.Vector(channels)
	switch {
	case !small && !float && of != call.Int32 && of != call.Uint32:
		return "Type", fmt.Sprintf("no texel is of type %s: they are of integers of 8, 16 or 32 bits, half or float", name)
	case channels != 1 && channels != 2 && channels != 4:
		return "Type", fmt.Sprintf("no texel is of type %s: they have 1, 2 or 4 channels", name)
	case t.texture.ReadNormalized && !small:
		return "ReadMode", fmt.Sprintf("normalized is for integers of 8 or 16 bits, not %s", name)
	case t.texture.Filter && !float && !t.texture.ReadNormalized:
		return "Filter", fmt.Sprintf("linear is for texels of half or float, or of integers with ReadMode normalized, not %s", name)
	case t.texture.Filter && t.texture.Linear && len(t.shape) == 1:
		return "Filter", "linear is not for linear memory of one dimension: leave Linear out"
	}
	return "", ""
}

// flag reads a truth value; false where it is missing.
func (rec *record) flag(name string) bool {
	d, ok := rec.get(name)
	if !ok {
		return false
	}
	v, isBool := d.value.(bool)
	if !isBool {
		rec.r.fail(d.path, "true or false is expected, not %s", what(d.value))
	}
	return v
}

// choice reads which of some words a field has; the first where it is missing.
func (rec *record) choice(name string, words ...string) int {
	text := rec.text(name, words[0])
	at := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, text) })
	if at < 0 {
		rec.r.fail(join(rec.path, name), "unknown %.40q; known are %s", text, strings.Join(words, ", "))
	}
	return max(at, 0)
}

// addressModes reads a mode for all dimensions, or a list of one each.
func (rec *record) addressModes() []call.AddressMode {
	d, ok := rec.get("Address")
	if !ok {
		return nil
	}
	items := []document{d}
	if _, listed := d.value.([]any); listed {
		items = rec.r.list(d)
	}
	var modes []call.AddressMode
	for _, item := range items {
		text := rec.r.text(item)
		at := slices.IndexFunc(addressModes, func(w string) bool { return strings.EqualFold(w, text) })
		if at < 0 {
			rec.r.fail(item.path, "unknown %.40q; known are %s", text, strings.Join(addressModes, ", "))
		}
		modes = append(modes, call.AddressMode(max(at, 0)))
	}
	return modes
}

// expressions lists all that can be checked alike; of no texture there are none.
func (t *textureSpec) expressions() []expression {
	if t == nil {
		return nil
	}
	return t.shape
}

// maxTexels is more than any GPU's limit of a dimension.
const maxTexels = 1 << 31

// evaluate gives the texture its values in one launch.
func (t *textureSpec) evaluate(b *bindings) (*call.Texture, error) {
	out := t.texture
	for _, x := range t.shape {
		v, err := b.integer(x, 0, 1, maxTexels)
		if err != nil {
			return nil, err
		}
		out.Shape = append(out.Shape, v)
	}
	most, dims := 3, len(out.Shape)
	if out.Layered {
		dims--
	}
	if dims < 1 || dims > most {
		return nil, fmt.Errorf("%s: 1 to %d dimensions are expected, and behind them the layers of a Layered one, not %d numbers", join(t.path, "Shape"), most, len(out.Shape))
	}
	switch n := len(out.Address); {
	case n == 0:
		out.Address = make([]call.AddressMode, dims)
	case n == 1:
		out.Address = slices.Repeat(out.Address, dims)
	case n < dims || n > 3: // CUDA's three may all be named: a filter of one dimension blends with a border of the second
		return nil, fmt.Errorf("%s: one mode is expected, or %d to 3, not %d", join(t.path, "Address"), dims, n)
	}
	if texels := out.Texels(); texels > call.MaxCount {
		return nil, fmt.Errorf("%s: %d texels are more than any GPU holds", join(t.path, "Shape"), texels)
	}
	return &out, nil
}
