package kernel

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/search/expr"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// argument is one of KernelSpecification.Arguments, as it was read.
type argument struct {
	path     string
	arg      call.Arg // Name, Type, Lanes, Scalar, Access, Fill.Kind, Fill.Seed
	constant bool
	size     expression
	value    expression // FillValue, or DataSource of a Generator
	refusal  string     // why it cannot be launched
	custom   bool       // Type is custom: a structure, whose bytes a file has, or fields
	fields   []structureField
	tensor   *tensorSpec // nil: it is no tensor map
	texture  *textureSpec
}

func (d *Definition) readArgument(r *reader, doc document, position int) argument {
	rec := r.record(doc, []string{"Name", "Type", "Size", "FillType", "FillValue", "DataSource", "RandomSeed", "AccessType", "MemoryType", "MemType", "Answer", "Expected", "Tolerance",
		"Shape", "Strides", "Box", "ElementStrides", "Swizzle", "Interleave", "L2Promotion", "OutOfBounds", "Of", "Fields",
		"Layered", "Filter", "Address", "Normalized", "ReadMode", "Linear", "Managed"}, "TypeSize", "Output")
	a := argument{path: doc.path, arg: call.Arg{Name: rec.text("Name", "")}}
	r.element(rec, &a)
	r.memory(rec, &a)
	d.readTexture(r, rec, &a)
	if a.texture == nil {
		d.readTensor(r, rec, &a)
	}
	r.managed(rec, &a)
	r.name(rec, &a, position)
	a.arg.Access = r.access(rec)
	a.arg.Fill.Seed = r.seed(rec)
	a.arg.Answer, a.arg.Tolerance = max(rec.answer(), d.answer), max(rec.tolerance(), d.tolerance)
	d.readExpected(r, rec, &a)
	a.size = rec.expression("Size")
	d.fill(r, rec, &a)
	d.readFields(r, rec, &a)
	if a.custom && a.refusal == "" && len(a.fields) == 0 && (!a.arg.Scalar || a.arg.Fill.Kind != call.FillBinaryRaw) {
		a.refusal = "elements of a custom type cannot be simulated, but for a Scalar whose bytes are a file's or its Fields': FillType BinaryRaw, and DataSource its name"
	}
	if r.err == nil && !a.arg.Scalar && a.tensor == nil && a.texture == nil && a.size.expr == nil && a.arg.Fill.Raw == nil && a.refusal == "" {
		r.fail(a.size.path, "missing; a buffer needs a number of elements")
	}
	d.checkNames(r, a.size)
	a.size, a.value = d.scope.listed(a.size), d.scope.listed(a.value)
	return a
}

// name gives an argument without one its position's: KTT's have none, and only a
// __constant__ variable is found by it.
func (r *reader) name(rec *record, a *argument, position int) {
	switch {
	case a.arg.Name != "":
	case a.constant:
		r.fail(join(rec.path, "Name"), "missing; it is the __constant__ variable's")
	default:
		a.arg.Name = fmt.Sprintf("argument %d", position)
		r.warn(join(rec.path, "Name"), "missing; called %s", a.arg.Name)
	}
}

func (r *reader) element(rec *record, a *argument) {
	field, ok := rec.need("Type")
	if !ok {
		return
	}
	name := r.text(field)
	if name == "custom" {
		a.custom = true
		a.arg.Type, a.arg.Lanes = call.Uint8, 1
		return
	}
	var err error
	if a.arg.Type, a.arg.Lanes, err = call.ParseType(name); err != nil {
		r.fail(field.path, "%v", err)
	} else if _, alias := call.Aliases[name]; alias && a.arg.Lanes == 1 {
		r.warn(field.path, "%s is not a T1 type: read as %s", name, a.arg.Type)
	}
}

// memory reads MemoryType (T1's) and MemType (Kernel Tuner's and ours).
func (r *reader) memory(rec *record, a *argument) {
	switch t := rec.text("MemoryType", "Vector"); t {
	case "Scalar":
		a.arg.Scalar = true
	case "Vector":
	case "TensorMap":
		a.tensor = &tensorSpec{}
	case "Texture", "Surface":
		a.texture = &textureSpec{texture: call.Texture{Surface: t == "Surface"}}
	case "Symbol":
		a.constant = true
	case "Local":
		a.refusal = "local memory arguments belong to OpenCL: use SharedMemory"
	default:
		r.fail(join(rec.path, "MemoryType"), "unknown type %q; known are Scalar, Vector, TensorMap, Texture, Surface, Local, Symbol", t)
	}
	switch t := rec.text("MemType", "Global"); t {
	case "Global":
	case "Constant":
		a.constant = true
	case "Texture":
		a.refusal = "texture references are gone since CUDA 12: take a cudaTextureObject_t, which MemoryType Texture passes"
	default:
		r.fail(join(rec.path, "MemType"), "unknown type %q; known are Global, Constant, Texture", t)
	}
}

// managed reads whether a buffer is in managed memory: true is "host".
func (r *reader) managed(rec *record, a *argument) {
	d, ok := rec.get("Managed")
	if !ok {
		return
	}
	if _, isBool := d.value.(bool); isBool {
		if rec.flag("Managed") {
			a.arg.Managed = call.ManagedHost
		}
	} else {
		a.arg.Managed = call.ManagedHost + call.Managed(rec.choice("Managed", "host", "nowhere", "device"))
	}
	if a.arg.Managed != call.ManagedNot && (a.arg.Scalar || a.constant || a.tensor != nil || a.texture != nil) {
		r.fail(join(rec.path, "Managed"), "only a Vector can be in managed memory")
	}
}

func (r *reader) access(rec *record) call.Access {
	text := rec.text("AccessType", "ReadWrite")
	for a := call.ReadOnly; a <= call.ReadWrite; a++ {
		if strings.EqualFold(text, a.String()) {
			return a
		}
	}
	r.fail(join(rec.path, "AccessType"), "unknown type %q; known are ReadOnly, WriteOnly, ReadWrite", text)
	return call.AccessInvalid
}

func (r *reader) seed(rec *record) uint64 {
	x := rec.expression("RandomSeed")
	if x.expr == nil || r.err != nil {
		return 0
	}
	p, err := expr.Compile(x.expr, nil)
	if err != nil {
		r.fail(x.path, "%v", err)
		return 0
	}
	n, err := p.Int(expr.NewEnv(0))
	if err != nil {
		r.fail(x.path, "%v", err)
	}
	return uint64(n)
}

// fill reads FillType and what it needs. Without one the fill is constant.
func (d *Definition) fill(r *reader, rec *record, a *argument) {
	source := "FillValue"
	switch t := rec.text("FillType", "Constant"); t {
	case "Constant":
		a.arg.Fill.Kind = call.FillConstant
	case "Random":
		a.arg.Fill.Kind = call.FillRandom
	case "Generator":
		a.arg.Fill.Kind, source = call.FillGenerator, "DataSource"
		rec.need("DataSource")
	case "BinaryRaw":
		d.readRaw(r, rec, a)
		return
	case "Script", "BinaryHDF5":
		a.refusal = fmt.Sprintf("FillType %s cannot be simulated: use BinaryRaw, Constant, Random or Generator", t)
		return
	default:
		r.fail(join(rec.path, "FillType"), "unknown type %q; known are Constant, Random, Generator, Script, BinaryRaw, BinaryHDF5", t)
	}
	a.value = r.filling(rec, source, a)
	if source == "FillValue" {
		d.checkNames(r, a.value)
	} else {
		d.checkNames(r, a.value, indexName)
	}
}

// filling reads what fills an argument: of a vector by value, it may be a list of its lanes.
func (r *reader) filling(rec *record, source string, a *argument) expression {
	field, _ := rec.get(source)
	list, ok := field.value.([]any)
	if !ok || !a.arg.Scalar || a.arg.Lanes == 1 {
		return rec.expression(source)
	}
	var lanes []string
	for i, v := range list {
		if x := r.expression(document{fmt.Sprintf("%s[%d]", field.path, i), v}); r.err == nil {
			lanes = append(lanes, x.expr.Text)
		}
	}
	if r.err != nil {
		return expression{path: field.path}
	}
	return r.expression(document{field.path, "[" + strings.Join(lanes, ", ") + "]"})
}

// refused says why the argument cannot be launched.
func (a *argument) refused() error {
	if a.refusal != "" {
		return fmt.Errorf("%s: %s", a.path, a.refusal)
	}
	return nil
}

// evaluate gives the argument its values in one launch.
func (a *argument) evaluate(b *bindings, problem []int64) (call.Arg, error) {
	out := a.arg
	if err := a.refused(); err != nil {
		return out, err
	}
	if out.Scalar {
		return a.scalar(b)
	}
	var err error
	elements := a.elements()
	if a.tensor != nil {
		if out.Map, err = a.tensor.evaluate(b, out.Type); err != nil {
			return out, err
		}
		elements = max(elements, ceilDiv(out.Map.Size(), int64(out.Type.Bytes())))
	}
	if a.texture != nil {
		if out.Texture, err = a.texture.evaluate(b); err != nil {
			return out, err
		}
		elements = out.Texture.Texels()
	}
	if out.Count, err = b.integer(a.size, elements, 1, call.MaxCount); err != nil {
		return out, err
	}
	if out.Fill.Kind == call.FillBinaryRaw {
		if held := a.elements(); out.Count > held {
			return out, b.wrap(a.size, fmt.Errorf("%d elements of type %s are asked for, %s holds %d", out.Count, out.Type.Vector(out.Lanes), out.Fill.Raw.File, held))
		}
		return out, nil
	}
	if out.Fill.Kind == call.FillGenerator {
		out.Fill.Expr = b.bound(a.value, problem)
		_, err := out.Fill.Generator()
		return out, err
	}
	if a.value.expr == nil {
		return out, nil
	}
	v, err := b.value(a.value)
	if err != nil {
		return out, err
	}
	f, ok := v.Float()
	if !ok {
		return out, b.wrap(a.value, fmt.Errorf("a number is expected, not %s", v))
	}
	out.Fill.Value = f
	return out, nil
}
