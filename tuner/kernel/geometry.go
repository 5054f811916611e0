package kernel

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/search/expr"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// launchSpec is how a configuration is launched, as expressions.
type launchSpec struct {
	block, global [3]expression
	cluster       [3]expression
	threads       bool            // global counts threads (OpenCL), not blocks
	divisors      [3][]expression // GridDivX, Y, Z; nil when absent
	shared        expression
	maxRegisters  expression
	carveOut      expression
	cooperative   expression
}

// blockNames are the parameters that Kernel Tuner takes as the block's size.
var blockNames = [3]string{"block_size_x", "block_size_y", "block_size_z"}

func (d *Definition) readLaunch(r *reader, k *record) launchSpec {
	l := launchSpec{
		shared:       k.expression("SharedMemory"),
		maxRegisters: k.expression("MaxRegisters"),
		carveOut:     k.expression("SharedMemoryCarveout"),
		cooperative:  k.expression("Cooperative"),
	}
	l.block = r.extents(k, "LocalSize")
	l.global = r.extents(k, "GlobalSize")
	l.cluster = r.extents(k, "ClusterSize")
	l.threads = r.countsThreads(k, d.Language)
	for i, a := range call.Axes {
		l.divisors[i] = r.divisors(k, "GridDiv"+a)
	}
	for i, x := range l.block {
		if x.expr == nil && slices.Contains(d.defaults.Names, blockNames[i]) {
			l.block[i] = expression{x.path, &expr.Expr{Text: blockNames[i], Root: &expr.Name{Name: blockNames[i]}}}
		}
	}
	if r.err == nil && l.block[0].expr == nil {
		r.fail(l.block[0].path, "missing; it says how many threads a block has")
	}
	if r.err == nil && !l.dividesProblem(d.Problem) && l.global[0].expr == nil {
		r.fail(l.global[0].path, "missing; the grid needs it, or ProblemSize and GridDivX")
	}
	for _, x := range l.expressions() {
		d.checkNames(r, *x)
		*x = d.scope.listed(*x)
	}
	return l
}

// expressions lists all that can be checked alike.
func (l *launchSpec) expressions() []*expression {
	list := []*expression{&l.shared, &l.maxRegisters, &l.carveOut, &l.cooperative}
	for i := range 3 {
		list = append(list, &l.block[i], &l.global[i], &l.cluster[i])
		for j := range l.divisors[i] {
			list = append(list, &l.divisors[i][j])
		}
	}
	return list
}

// checkNames refuses unknown names. Definitions in languages that cannot be
// launched have sloppy ones, which only warn.
func (d *Definition) checkNames(r *reader, x expression, extra ...string) {
	name, unknown := d.scope.unknown(x, extra...)
	switch {
	case !unknown:
	case d.launchable() != nil:
		r.warn(x.path, "%q uses the unknown name %s", x.expr.Text, name)
	default:
		r.fail(x.path, "%q uses the unknown name %s; known are %s", x.expr.Text, name, d.scope.known())
	}
}

// extents reads {"X": …, "Y": …, "Z": …}.
func (r *reader) extents(k *record, name string) (x [3]expression) {
	for i, a := range call.Axes {
		x[i].path = join(join(k.path, name), a)
	}
	d, ok := k.get(name)
	if !ok {
		return x
	}
	rec := r.record(d, call.Axes[:])
	for i, a := range call.Axes {
		x[i] = rec.expression(a)
	}
	return x
}

func (r *reader) countsThreads(k *record, l call.Language) bool {
	otherwise := "CUDA"
	if l == call.OpenCL {
		otherwise = "OpenCL"
	}
	switch t := k.text("GlobalSizeType", otherwise); t {
	case "CUDA", "Vulkan":
		return false
	case "OpenCL":
		return true
	default:
		r.fail(join(k.path, "GlobalSizeType"), "unknown type %q; known are CUDA (blocks), OpenCL (threads), Vulkan (blocks)", t)
	}
	return false
}

// divisors reads a GridDiv: a list of names, expressions and numbers, or one.
func (r *reader) divisors(k *record, name string) []expression {
	d, ok := k.get(name)
	if !ok {
		return nil
	}
	items := []document{d}
	if _, isList := d.value.([]any); isList {
		items = r.list(d)
	}
	list := []expression{}
	for _, it := range items {
		list = append(list, r.expression(it))
	}
	return list
}

// dividesProblem reports whether the grid comes from dividing the problem size.
func (l *launchSpec) dividesProblem(problem []int64) bool {
	return problem != nil && (l.divisors[0] != nil || l.divisors[1] != nil || l.divisors[2] != nil)
}

// blockSize evaluates LocalSize.
func (l *launchSpec) blockSize(b *bindings) (block [3]int64, err error) {
	for i, x := range l.block {
		if block[i], err = b.integer(x, 1, 1, call.MaxExtent); err != nil {
			return block, err
		}
	}
	return block, nil
}

// clusterSize evaluates ClusterSize.
func (l *launchSpec) clusterSize(to *call.Launch, b *bindings) (err error) {
	for i, x := range l.cluster {
		if to.Cluster[i], err = b.integer(x, 1, 1, call.MaxExtent); err != nil {
			return err
		}
	}
	return to.SetCluster()
}

// gridSize is the problem size over GridDiv where both are given, else
// GlobalSize.
func (l *launchSpec) gridSize(b *bindings, problem []int64, block [3]int64) (grid [3]int64, err error) {
	for i := range 3 {
		if l.dividesProblem(problem) {
			grid[i], err = l.quotient(b, i, problem)
		} else if grid[i], err = b.integer(l.global[i], 1, 1, call.MaxProblem); err == nil && l.threads && l.global[i].expr != nil {
			grid[i] = ceilDiv(grid[i], block[i])
		}
		if err == nil && grid[i] > call.MaxExtent {
			err = b.wrap(l.global[i], fmt.Errorf("a grid of %d blocks in %s is larger than any GPU launches", grid[i], call.Axes[i]))
		}
		if err != nil {
			return grid, err
		}
	}
	return grid, nil
}

// quotient is one dimension of the grid as Kernel Tuner computes it
// (get_grid_dimensions): the problem over the product of the divisors, each cut
// to an integer, rounded up. Without divisors the block's size divides, if it
// is a parameter of the usual name.
func (l *launchSpec) quotient(b *bindings, axis int, problem []int64) (int64, error) {
	extent := int64(1)
	if axis < len(problem) {
		extent = problem[axis]
	}
	divisor := int64(1)
	if l.divisors[axis] == nil {
		if v, ok := b.cfg.Get(blockNames[axis]); ok && v.I > 0 {
			divisor = v.I
		}
		return ceilDiv(extent, divisor), nil
	}
	for _, x := range l.divisors[axis] {
		v, err := b.value(expression{x.path, &expr.Expr{Text: x.expr.Text, Root: &expr.Call{Func: "int", Args: []expr.Node{x.expr.Root}}}})
		if err != nil {
			return 0, err
		}
		n, _ := v.Int()
		if n < 1 || divisor > call.MaxProblem/n {
			return 0, b.wrap(x, fmt.Errorf("the problem size cannot be divided by %d", n))
		}
		divisor *= n
	}
	return ceilDiv(extent, divisor), nil
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
