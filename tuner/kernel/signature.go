package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// The parts of a source's text that say what a kernel takes. It is read, not preprocessed: where macros or #if may
// make the parameters, nothing is said.
var (
	literals   = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	macroNames = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)`)
	// cppAttributes are such as [[maybe_unused]].
	cppAttributes = regexp.MustCompile(`\[\[[^\[\]]*\]\]`)
	plainType     = regexp.MustCompile(`^(?:(?:const|volatile|__restrict__|__grid_constant__)\s+)*((?:unsigned|signed|long|short|int|char|float|double|bool|half|__half|size_t|u?int(?:8|16|32|64)_t|\s)+?)\s*(?:const\s+)?([A-Za-z_]\w*)?$`)
)

// numberTypes are C's names of what T1 has.
var numberTypes = map[string]call.Type{
	"int": call.Int32, "unsigned": call.Uint32, "unsigned int": call.Uint32, "long": call.Int64, "long long": call.Int64, "unsigned long": call.Uint64, "unsigned long long": call.Uint64, "size_t": call.Uint64,
	"short": call.Int16, "unsigned short": call.Uint16, "char": call.Int8, "unsigned char": call.Uint8, "signed char": call.Int8, "bool": call.Bool, "float": call.Float, "double": call.Double, "half": call.Half, "__half": call.Half,
	"int8_t": call.Int8, "uint8_t": call.Uint8, "int16_t": call.Int16, "uint16_t": call.Uint16, "int32_t": call.Int32, "uint32_t": call.Uint32, "int64_t": call.Int64, "uint64_t": call.Uint64,
}

// signature returns the parameters of the kernel as the source has them, false where the text alone does not tell.
func (d *Definition) signature() (params []string, ok bool) {
	base, _, _ := strings.Cut(d.KernelName, "<")
	base = strings.TrimSpace(base[strings.LastIndex(base, ":")+1:])
	if d.Language != call.CUDA || !isIdentifier(base) || d.source.missing != nil {
		return nil, false
	}
	// Launch bounds stand between the two words, but no other parentheses.
	head := regexp.MustCompile(`__global__(?:[^;{}()]|\((?:[^;{}()]|\([^;{}()]*\))*\))*?\b` + base + `\s*\(`)
	macros := map[string]bool{}
	for _, p := range d.defines {
		macros[p.Name] = true
	}
	for _, p := range d.params {
		macros[p.Name] = !d.source.owns[p.Name]
	}
	texts := [][]byte{d.source.text}
	for _, h := range d.source.headers {
		texts = append(texts, h)
	}
	for _, text := range texts {
		for _, m := range macroNames.FindAllSubmatch(text, -1) {
			macros[string(m[1])] = true
		}
	}
	if macros[base] {
		return nil, false
	}
	found := false
	for _, text := range texts {
		text = cppAttributes.ReplaceAll(literals.ReplaceAll(remark.ReplaceAll(text, nil), nil), nil)
		for _, at := range head.FindAllIndex(text, -1) {
			list, ok := parameterList(string(text[at[1]:]))
			for _, p := range list {
				for _, w := range word.FindAllString(p, -1) {
					ok = ok && !macros[w]
				}
			}
			if !ok || found && !slices.Equal(list, params) {
				return nil, false
			}
			params, found = list, true
		}
	}
	return params, found
}

// parameterList splits what follows the parenthesis of a function's parameters.
func parameterList(text string) (list []string, ok bool) {
	depth, begin := 0, 0
	for i, c := range text {
		switch c {
		case '#', ';':
			return nil, false
		case '(', '<', '[', '{':
			depth++
		case '>', ']', '}':
			depth--
		case ',', ')':
			if c == ')' && depth > 0 {
				depth--
				continue
			}
			if depth > 0 {
				continue
			}
			p := strings.Join(strings.Fields(text[begin:i]), " ")
			begin = i + 1
			if p == "..." || p == "" && c == ',' {
				return nil, false
			}
			if p != "" && p != "void" {
				list = append(list, p)
			}
			if c == ')' {
				return list, true
			}
		}
	}
	return nil, false
}

// checkSignature says why the arguments cannot be what the kernel takes: there are more or fewer, or a buffer stands in a
// number's place, or a number of another kind.
func (d *Definition) checkSignature() error {
	params, ok := d.signature()
	if !ok {
		return nil
	}
	var passed []*argument
	for i := range d.arguments {
		if a := &d.arguments[i]; !a.constant {
			passed = append(passed, a)
		}
	}
	if constants := len(d.arguments) - len(passed); constants > 0 {
		return nil // which a kernel may take, too
	}
	if len(params) != len(passed) {
		names := make([]string, len(passed))
		for i, a := range passed {
			names[i] = a.arg.Name
		}
		text := fmt.Sprintf("KernelSpecification.Arguments: %s takes %d arguments (%s), but %d are listed", d.KernelName, len(params), strings.Join(params, ", "), len(passed))
		if len(names) > 0 {
			text += ": " + strings.Join(names, ", ")
		}
		if len(passed) > len(params) {
			text += "; those of a structure by value are the Fields of one Argument, whose Type is custom"
		}
		return fmt.Errorf("%s", text)
	}
	for i, a := range passed {
		if err := a.fits(params[i]); err != nil {
			return err
		}
	}
	return nil
}

// fits says why an argument is not what a parameter takes, nil where it is or may be.
func (a *argument) fits(param string) error {
	param, _, _ = strings.Cut(param, "=")
	param = strings.TrimSpace(param)
	if strings.ContainsAny(param, "*[") {
		if a.arg.Scalar && !a.custom && a.arg.Lanes == 1 && a.arg.Type.Bytes() != 8 && a.tensor == nil && a.texture == nil && a.arg.Fill.Kind != call.FillBinaryRaw {
			return fmt.Errorf("%s: a Scalar of type %s, but the kernel takes an address (%s): is it a Vector, and the order of Arguments that of the parameters?", a.path, a.arg.Type, param)
		}
		return nil
	}
	m := plainType.FindStringSubmatch(param)
	if m == nil {
		return nil
	}
	t, known := numberTypes[strings.Join(strings.Fields(m[1]), " ")]
	switch {
	case !known || a.tensor != nil || a.texture != nil || a.custom:
	case !a.arg.Scalar && t.Bytes() != 8:
		return fmt.Errorf("%s: a Vector is passed as an address, but the kernel takes a number (%s): is it a Scalar, and the order of Arguments that of the parameters?", a.path, param)
	case a.arg.Scalar && (a.arg.Lanes != 1 || a.arg.Type.Bytes() != t.Bytes() || isFloating(a.arg.Type) != isFloating(t)):
		return fmt.Errorf("%s: %s, but that parameter of the kernel is %s: is its Type right, and the order of Arguments that of the parameters?", join(a.path, "Type"), a.arg.TypeName(), param)
	}
	return nil
}

// isFloating reports whether values of the type have fractions.
func isFloating(t call.Type) bool { return t >= call.Half && t <= call.LastType }
