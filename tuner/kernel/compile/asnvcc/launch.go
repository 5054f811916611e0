package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// stayingSince is the first version of clang that knows of parameters that stay where they are.
const stayingSince = 19

// What device/warptune/language.h annotates.
const (
	gridConstant = "warptune_grid_constant"
	clusterDims  = "warptune_cluster_dims"
)

var (
	annotationText = regexp.MustCompile(`(?m)^@(\S+) = private unnamed_addr constant \[\d+ x i8\] c"(` + gridConstant + `|` + clusterDims + `)\\00", section "llvm.metadata"$`)
	annotatedParam = regexp.MustCompile(`^\s+call void @llvm\.var\.annotation[.\w]*\(\S+ (?:noundef )?(%\S+), \S+ (?:getelementptr [^@]*)?@([^\s,]+),?`)
	parameter      = regexp.MustCompile(`byval\([^()]*\) align (\d+) (%[-\w$.]+)$`)
	globalNotes    = regexp.MustCompile(`(?m)^@llvm\.global\.annotations = .*\n`)
	clusterNote    = regexp.MustCompile(`\{ ptr (?:addrspacecast \([^()]*\)|@([^\s,]+)), ptr @([^\s,]+), ptr @[^\s,]+, i32 \d+, ptr @([^\s,]+) \}`)
	annotations    = regexp.MustCompile(`(?m)^!nvvm\.annotations = !\{(.*)\}$`)
)

// Cluster is the __cluster_dims__ of a kernel.
type Cluster struct {
	Kernel string
	Dims   [3]string
}

// Launch takes two annotations of device/ out of the LLVM text of a device program, for which clang has
// no attributes. A parameter of 64 bytes' alignment or more that is __grid_constant__, as tensor maps are,
// stays in the parameter space instead of being copied where its address is taken. Kernels that are launched
// in clusters are returned, as their PTX is to say so (Clustered).
func Launch(ir []byte, major int) (out []byte, clusters []Cluster) {
	texts := map[string]string{}
	for _, m := range annotationText.FindAllSubmatch(ir, -1) {
		texts[string(m[1])] = string(m[2])
	}
	if len(texts) == 0 {
		return ir, nil
	}
	w := launchWriter{texts: texts, next: freeMetadata(ir)}
	ir = w.constants(ir)
	ir = w.clusters(ir)
	if major >= stayingSince {
		ir = w.finish(ir)
	}
	return ir, w.kernels
}

type launchWriter struct {
	texts   map[string]string // annotations' texts by the variables that hold them
	next    int               // metadata not in use
	kernels []Cluster
	nodes   []string // metadata to be added
	listed  []string // and of these what is listed among the annotations
}

// note adds an annotation of a kernel.
func (w *launchWriter) note(kernel, what, value string) {
	w.listed = append(w.listed, fmt.Sprintf("!%d", w.next))
	w.nodes = append(w.nodes, fmt.Sprintf("!%d = !{ptr @%s, !\"%s\", %s}\n", w.next, kernel, what, value))
	w.next++
}

// constants takes the annotations of parameters out, and notes which are tensor maps.
func (w *launchWriter) constants(ir []byte) []byte {
	var out bytes.Buffer
	var kernel string
	var places map[string]int // parameters of the function being read, from 1
	var kept []string
	flush := func() {
		if len(kept) > 0 {
			w.nodes = append(w.nodes, fmt.Sprintf("!%d = !{%s}\n", w.next, strings.Join(kept, ", ")))
			w.next++
			w.note(kernel, "grid_constant", fmt.Sprintf("!%d", w.next-1))
		}
		kept = nil
	}
	for line := range bytes.Lines(ir) {
		if m := functionLine.FindSubmatch(line); m != nil {
			flush()
			kernel, places = string(m[2]), byValue(line[len(m[0]):])
		}
		m := annotatedParam.FindSubmatch(line)
		if m == nil || w.texts[string(m[2])] != gridConstant {
			out.Write(line)
			continue
		}
		if at := places[string(m[1])]; at > 0 {
			kept = append(kept, "i32 "+strconv.Itoa(at))
		}
	}
	flush()
	return out.Bytes()
}

// byValue are the places, from 1, of the parameters that are passed by value at 64 bytes' alignment or more.
func byValue(list []byte) map[string]int {
	places := map[string]int{}
	depth, start, n := 0, 0, 0
	for i, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			n++
			if m := parameter.FindSubmatch(bytes.TrimSpace(list[start:i])); m != nil {
				if align, err := strconv.Atoi(string(m[1])); err == nil && align >= 64 {
					places[string(m[2])] = n
				}
			}
			if start = i + 1; c == ')' {
				return places
			}
		}
	}
	return places
}

// clusters takes the annotations of kernels out, and notes their clusters.
func (w *launchWriter) clusters(ir []byte) []byte {
	at := globalNotes.FindIndex(ir)
	if at == nil {
		return ir
	}
	for _, m := range clusterNote.FindAllSubmatch(ir[at[0]:at[1]], -1) {
		if w.texts[string(m[2])] != clusterDims {
			continue
		}
		w.kernels = append(w.kernels, Cluster{strings.Trim(string(m[1]), `"`), dimsOf(ir, string(m[3]))})
	}
	return append(bytes.Clone(ir[:at[0]]), ir[at[1]:]...)
}

// dimsOf are the numbers, at most three, that a constant of LLVM text holds, filled up with ones.
func dimsOf(ir []byte, name string) [3]string {
	dims := [3]string{"1", "1", "1"}
	m := regexp.MustCompile(`(?m)^@` + regexp.QuoteMeta(name) + ` = .* constant \{[^{}]*\} \{([^{}]*)\}`).FindSubmatch(ir)
	if m == nil {
		return dims
	}
	for i, part := range strings.Split(string(m[1]), ",") {
		fields := strings.Fields(part)
		if i < len(dims) && len(fields) == 2 {
			dims[i] = fields[1]
		}
	}
	return dims
}

// finish adds the metadata.
func (w *launchWriter) finish(ir []byte) []byte {
	if len(w.listed) == 0 {
		return ir
	}
	ir = annotations.ReplaceAll(ir, []byte("!nvvm.annotations = !{$1, "+strings.Join(w.listed, ", ")+"}"))
	if !bytes.HasSuffix(ir, []byte("\n")) {
		ir = append(ir, '\n')
	}
	return append(ir, strings.Join(w.nodes, "")...)
}

// Clustered says in PTX in what clusters kernels are launched.
func Clustered(ptx []byte, clusters []Cluster) []byte {
	for _, c := range clusters {
		at := bytes.Index(ptx, []byte(".entry "+c.Kernel+"("))
		if at < 0 {
			continue
		}
		body := bytes.Index(ptx[at:], []byte("\n{"))
		if body < 0 {
			continue
		}
		directives := fmt.Sprintf("\n.explicitcluster\n.reqnctapercluster %s", strings.Join(c.Dims[:], ", "))
		ptx = slices.Insert(bytes.Clone(ptx), at+body, []byte(directives)...)
	}
	return ptx
}
