package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
)

// writeCHeader writes a header that compiles as C (C99) and C++: for each
// kernel a table and a function that selects from it by architecture and
// problem size, and macros for selection at compile time.
func writeCHeader(w io.Writer, rows []Row) error {
	out := bufio.NewWriter(w)
	if err := checkFields(rows); err != nil {
		return err
	}
	fmt.Fprintf(out, headerTop, exampleMacro(rows), cautionText(rows))
	taken := map[string]bool{}
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r Row) bool { return r.Spec.Kernel != rows[0].Spec.Kernel })
		if n < 0 {
			n = len(rows)
		}
		writeKernel(out, rows[:n], unlike(rows[0].Spec.Kernel, taken))
		rows = rows[n:]
	}
	fmt.Fprint(out, "\n#endif\n")
	return out.Flush()
}

// checkFields refuses parameters of a kernel that are one member in C.
func checkFields(rows []Row) error {
	of := map[string]string{}
	for i := range rows {
		for _, name := range rows[i].Names {
			key := rows[i].Spec.Kernel + "\x00" + field(name)
			if other, taken := of[key]; taken && other != name {
				return fmt.Errorf("kernel %s: the parameters %q and %q are one name in C, %s: rename one in the definition, or write another format, such as json", rows[i].Spec.Kernel, other, name, identifier(name))
			}
			of[key] = name
		}
	}
	return nil
}

const headerTop = `/* Tuning table written by warptune. Do not edit: export it again.
 *
 * At run time, for each KERNEL:
 *
 *     const warptune_KERNEL_row *row = warptune_KERNEL(arch, problem, dims);
 *
 * gives the row of that architecture and problem size, else of the nearest
 * problem size by volume (compare row->problem to tell), or NULL when the
 * architecture has no row.
 *
 * At compile time, WARPTUNE_KERNEL_ARCH_PROBLEM_PARAMETER macros hold the same
 * values%s.
%s */
#ifndef WARPTUNE_TABLE_H
#define WARPTUNE_TABLE_H

#include <stddef.h>
#include <string.h>
`

// exampleMacro names one of the macros, if there is one.
func exampleMacro(rows []Row) string {
	for i := range rows {
		if r := &rows[i]; len(r.Names) > 0 {
			name := unlike(rows[0].Spec.Kernel, map[string]bool{})
			if r.Spec.Kernel == rows[0].Spec.Kernel {
				return ", e.g. " + macroPrefix(r, name) + "_" + identifier(r.Names[0])
			}
		}
	}
	return ""
}

// cautionText is the lines of the comment at the top that say of which architectures
// little is known.
func cautionText(rows []Row) string {
	var b strings.Builder
	for _, c := range cautions(rows) {
		fmt.Fprintf(&b, " *\n * Caution: %s.\n", comment(c))
	}
	return b.String()
}

// macroPrefix is what the macros of a row begin with, name being its kernel's in C.
func macroPrefix(r *Row, name string) string {
	return strings.ToUpper(fmt.Sprintf("WARPTUNE_%s_%s_%s", name, identifier(r.Spec.Arch), problemText(r.Spec.Problem)))
}

// unlike is a kernel's name as an identifier, with _ behind it until neither it nor
// what is made of it is taken, also in capitals. They are taken then.
func unlike(kernel string, taken map[string]bool) string {
	made := func(name string) []string {
		name = strings.ToUpper(name)
		return []string{name, name + "_ROW", name + "_TABLE"}
	}
	name := identifier(kernel)
	for slices.ContainsFunc(made(name), func(n string) bool { return taken[n] }) {
		name += "_"
	}
	for _, n := range made(name) {
		taken[n] = true
	}
	return name
}

// writeKernel writes the struct, table, lookup and macros of one kernel, which has
// the name in C.
func writeKernel(out *bufio.Writer, rows []Row, name string) {
	params := parameters(rows)
	dims := 1
	for i := range rows {
		dims = max(dims, len(rows[i].Spec.Problem))
	}
	about := comment(rows[0].Spec.Kernel)
	if name != identifier(rows[0].Spec.Kernel) {
		about += ", here " + name
	}
	fmt.Fprintf(out, "\n/* %s */\n\ntypedef struct {\n  const char *arch;\n  int compute_capability; /* major * 10 + minor */\n  int dims;\n  long long problem[%d];\n  double time_us; /* simulated, or as provenance says */\n", about, dims)
	kinds := make([]search.Kind, len(params))
	for i, p := range params {
		kinds[i] = kindOf(rows, p)
		fmt.Fprintf(out, "  %s %s;\n", cTypes[kinds[i]], field(p))
	}
	fmt.Fprintf(out, "  const char *compiler, *provenance;\n} warptune_%s_row;\n\nstatic const warptune_%s_row warptune_%s_table[] = {\n", name, name, name)
	for i := range rows {
		writeCRow(out, &rows[i], params, kinds, dims)
	}
	fmt.Fprintf(out, "};\n")
	fmt.Fprint(out, strings.ReplaceAll(lookup, "KERNEL", name))
	defined := map[string]bool{}
	for i := range rows {
		writeMacros(out, &rows[i], name, defined)
	}
}

// lookup finds the exact row or the nearest by volume, by the ratio of the two.
const lookup = `
static inline const warptune_KERNEL_row *warptune_KERNEL(const char *arch, const long long *problem, int dims) {
  const warptune_KERNEL_row *best = NULL;
  double best_distance = 0;
  size_t i;
  for (i = 0; i < sizeof warptune_KERNEL_table / sizeof warptune_KERNEL_table[0]; i++) {
    const warptune_KERNEL_row *row = &warptune_KERNEL_table[i];
    double here = 1, there = 1, distance;
    int d, same = dims == row->dims;
    if (strcmp(row->arch, arch) != 0) continue;
    for (d = 0; d < dims; d++) there *= problem[d] > 0 ? (double)problem[d] : 1;
    for (d = 0; d < row->dims; d++) {
      here *= row->problem[d] > 0 ? (double)row->problem[d] : 1;
      if (same && row->problem[d] != problem[d]) same = 0;
    }
    if (same) return row;
    distance = here > there ? here / there : there / here;
    if (best == NULL || distance < best_distance) {
      best = row;
      best_distance = distance;
    }
  }
  return best;
}
`

func writeCRow(out *bufio.Writer, r *Row, params []string, kinds []search.Kind, dims int) {
	problem := make([]string, dims)
	for i := range problem {
		problem[i] = "0"
		if i < len(r.Spec.Problem) {
			problem[i] = fmt.Sprint(r.Spec.Problem[i])
		}
	}
	fmt.Fprintf(out, "  {%q, %d, %d, {%s}, %s", r.Spec.Arch, r.CC[0]*10+r.CC[1], len(r.Spec.Problem), strings.Join(problem, ", "), number(r.Outcome.TimeUS))
	for k, p := range params {
		i := slices.Index(r.Names, p)
		if i < 0 {
			fmt.Fprint(out, ", 0")
			continue
		}
		v := r.Config[i]
		if kinds[k] == search.String {
			v = search.OfString(v.String())
		}
		fmt.Fprintf(out, ", %s", cValue(v))
	}
	fmt.Fprintf(out, ", %s, %s},\n", cString(r.Outcome.Compiler),
		cString(fmt.Sprintf("%s, kernel %.12s, arch %.12s", source(r), r.Spec.Bundle, r.Spec.ArchDigest)))
}

// writeMacros writes a row's macros unless an earlier row of the same problem
// defined them.
func writeMacros(out *bufio.Writer, r *Row, name string, defined map[string]bool) {
	prefix := macroPrefix(r, name)
	if defined[prefix] {
		return
	}
	defined[prefix] = true
	for i, n := range r.Names {
		fmt.Fprintf(out, "#define %s_%s %s\n", prefix, identifier(n), cValue(r.Config[i]))
	}
}

// parameters are the names of all rows, in the order of first appearance.
func parameters(rows []Row) []string {
	var out []string
	for i := range rows {
		for _, n := range rows[i].Names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// cTypes are the types of parameters.
var cTypes = map[search.Kind]string{search.Int: "long long", search.Float: "double", search.Bool: "int", search.String: "const char *"}

// kindOf is the kind that a parameter's values have in all rows, or that holds
// them: the definition may have changed between them.
func kindOf(rows []Row, param string) search.Kind {
	kind := search.KindInvalid
	for i := range rows {
		j := slices.Index(rows[i].Names, param)
		if j < 0 {
			continue
		}
		switch k := rows[i].Config[j].Kind; {
		case kind == search.KindInvalid || k == search.String:
			kind = k
		case k == kind || kind == search.String:
		case k == search.Float || kind == search.Float:
			kind = search.Float
		default:
			kind = search.Int
		}
	}
	return kind
}

func cValue(v search.Value) string {
	switch v.Kind {
	case search.Float:
		if math.Trunc(v.F) == v.F && math.Abs(v.F) < 1e15 {
			return fmt.Sprintf("%.1f", v.F)
		}
		return number(v.F)
	case search.String:
		return cString(v.S)
	}
	return fmt.Sprint(v.I)
}

// cString is a C string literal: printable ASCII as it is, the rest as octal.
func cString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c > 0x7e || c == '?':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// identifier is text with everything that C does not allow replaced by _.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, text)
}

// field is a parameter's name as a member: p_ in front, so that no parameter
// meets a keyword or one of the table's own members.
func field(param string) string { return "p_" + identifier(param) }

func comment(text string) string { return strings.ReplaceAll(text, "*/", "* /") }
