// Package pythonjson makes JSON of what Python's json module writes, which tuners' files
// are full of.
package pythonjson

import "bytes"

// Plain replaces what Python's json writes and JSON has not, the words NaN, Infinity and
// -Infinity, by null. What stands in texts stays.
func Plain(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] == '"' {
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out = append(out, text[i:end]...)
			i = end
			continue
		}
		word := 0
		for _, w := range []string{"NaN", "-Infinity", "Infinity", "-NaN"} {
			if bytes.HasPrefix(text[i:], []byte(w)) {
				word = len(w)
				break
			}
		}
		if word > 0 {
			out = append(out, "null"...)
			i += word
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}
