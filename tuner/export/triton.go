package export

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/warptune/warptune/search"
)

// tritonModule is the Python module without its rows.
//
//go:embed triton.py
var tritonModule string

// tritonOptions are parameters that triton.Config takes besides those of the kernel.
var tritonOptions = []string{
	"num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override",
	"num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer", // of Triton 3.2 and 3.3
}

// writeTriton writes a Python module with the triton.Config of each kernel, architecture and
// problem size. Rows of other kernels, which have no num_warps, are left out.
func writeTriton(w io.Writer, rows []Row) error {
	kept := tritonRows(rows)
	if len(rows) > 0 && len(kept) == 0 {
		return errors.New("no result is of a Triton kernel, which has a parameter num_warps: write another format, such as json")
	}
	before, after, _ := strings.Cut(tritonModule, "#ROWS\n")
	out := bufio.NewWriter(w)
	out.WriteString(before)
	for _, c := range cautions(kept) {
		fmt.Fprintf(out, "    # Caution: %s.\n", oneLine(c))
	}
	for i := range kept {
		writeTritonRow(out, &kept[i])
	}
	out.WriteString(after)
	return out.Flush()
}

// tritonRows keeps of rows of the same kernel, architecture and problem the fastest of the first
// level: what is measured comes before cycle, and that before model.
func tritonRows(rows []Row) []Row {
	var kept []Row
	for i := range rows {
		r := &rows[i]
		if !slices.Contains(r.Names, "num_warps") {
			continue
		}
		if n := len(kept); n > 0 && sameProblem(&kept[n-1], r) {
			if last := &kept[n-1]; last.Spec.Level == r.Spec.Level && faster(r, last) {
				*last = *r
			}
			continue
		}
		kept = append(kept, *r)
	}
	return kept
}

func sameProblem(a, b *Row) bool {
	return a.Spec.Kernel == b.Spec.Kernel && a.Spec.Arch == b.Spec.Arch && slices.Equal(a.Spec.Problem, b.Spec.Problem)
}

func writeTritonRow(out *bufio.Writer, r *Row) {
	var kwargs, options []string
	for i, name := range r.Names {
		switch v := r.Config[i]; {
		case !slices.Contains(tritonOptions, name):
			kwargs = append(kwargs, pythonString(name)+": "+pythonValue(v))
		case name == "maxnreg" && v.Kind == search.Int && v.I == 0, v == search.OfString("none"):
			// It is not set.
		default:
			options = append(options, ", "+name+"="+pythonValue(v))
		}
	}
	fmt.Fprintf(out, "    # %.2f us; %s, kernel %.12s, arch %.12s\n", r.Outcome.TimeUS, oneLine(source(r)), oneLine(r.Spec.Bundle), oneLine(r.Spec.ArchDigest))
	fmt.Fprintf(out, "    (%s, %s, %s): triton.Config({%s}%s),\n", pythonString(r.Spec.Kernel), pythonString(r.Spec.Arch), pythonTuple(r.Spec.Problem), strings.Join(kwargs, ", "), strings.Join(options, ""))
}

// oneLine is text that ends no comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func pythonTuple(values []int64) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%d, ", v)
	}
	text := b.String()
	if len(values) > 1 {
		text = strings.TrimSuffix(text, ", ")
	}
	return "(" + strings.TrimSuffix(text, " ") + ")"
}

// pythonValue is a parameter's value as a Python literal. Launch records have None as "none".
func pythonValue(v search.Value) string {
	switch {
	case v.Kind == search.Bool && v.I != 0:
		return "True"
	case v.Kind == search.Bool:
		return "False"
	case v.Kind == search.Float && (math.IsInf(v.F, 0) || math.IsNaN(v.F)):
		return fmt.Sprintf("float(%q)", strconv.FormatFloat(v.F, 'g', -1, 64))
	case v.Kind == search.Float && v.F == math.Trunc(v.F) && math.Abs(v.F) < 1e15:
		return fmt.Sprintf("%.1f", v.F)
	case v.Kind == search.Float:
		return number(v.F)
	case v == search.OfString("none"):
		return "None"
	case v.Kind == search.String:
		return pythonString(v.S)
	}
	return fmt.Sprint(v.I)
}

// pythonString is a Python string literal in printable ASCII.
func pythonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < 0x20 || c > 0x7e:
			fmt.Fprintf(&b, "\\U%08x", c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
