package recorded

import "encoding/json"

// JSON is a value's JSON text.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and records always have one
	}
	return string(text)
}
