package asnvcc

import (
	"bytes"
	"regexp"
)

// plainBytes takes bytes that are loaded without sign for the 16 bits that hold them then, in clang's PTX: clang 19
// extends them again after the load, and nvcc 13.0 does not. None of nvcc's PTX in deploy/calibrate/datasets has a
// cvt.u16.u8 or cvt.u32.u8; clang's of the same kernels have 2,131.
func plainBytes(ptx []byte) []byte {
	if !widened.Match(ptx) {
		return ptx
	}
	var out bytes.Buffer
	var function [][]byte
	for line := range bytes.Lines(ptx) {
		function = append(function, line)
		if bytes.HasPrefix(line, []byte("}")) {
			writeBytes(&out, function)
			function = function[:0]
		}
	}
	out.Write(bytes.Join(function, nil))
	return out.Bytes()
}

var (
	widened  = regexp.MustCompile(`(?m)^\tcvt\.u(16|32)\.u8 \t(%rs?\d+), (%rs\d+);$`)
	byteLoad = regexp.MustCompile(`^\t(?:@!?%p\d+ )?ld\.[a-z0-9.]*\.u8 \t([^\[;]*), \[[^;]*;\n$`)
	operands = regexp.MustCompile(`^\t(?:@!?%p\d+ )?[a-z][a-z0-9_.:]*\s+(\{[^}]*\}|[^,;{}]*)[^;]*;\n$`)
	shorts   = regexp.MustCompile(`%rs\d+`)
)

func writeBytes(out *bytes.Buffer, function [][]byte) {
	loaded := loadedBytes(function)
	for _, line := range function {
		m := widened.FindSubmatch(line)
		switch {
		case m == nil || !loaded[string(m[3])]:
			out.Write(line)
		case string(m[1]) == "16":
			out.Write(widened.ReplaceAll(line, []byte("\tmov.u16 \t$2, $3;")))
		default:
			out.Write(widened.ReplaceAll(line, []byte("\tcvt.u32.u16 \t$2, $3;")))
		}
	}
}

// loadedBytes returns the registers of 16 bits that get nothing but bytes from memory. What a line computes comes first in it; of
// a line that is not understood anything may be computed.
func loadedBytes(function [][]byte) map[string]bool {
	loaded, other := map[string]bool{}, map[string]bool{}
	for _, line := range function {
		into, results := other, line
		if m := byteLoad.FindSubmatch(line); m != nil {
			into, results = loaded, m[1]
		} else if m := operands.FindSubmatch(line); m != nil {
			results = m[1]
		}
		for _, r := range shorts.FindAll(results, -1) {
			into[string(r)] = true
		}
	}
	for r := range other {
		delete(loaded, r)
	}
	return loaded
}
