package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
)

// schema is the part of JSON Schema that docs/*.schema.json use.
type schema struct {
	Ref        string             `json:"$ref"`
	Const      any                `json:"const"`
	Enum       []any              `json:"enum"`
	Type       any                `json:"type"` // a name or several
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Additional *schema            `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Defs       map[string]*schema `json:"$defs"`
}

// check says what of a value is not as the schema says.
func (s *schema) check(root *schema, at string, v any) (wrong []string) {
	if s.Ref != "" {
		return root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].check(root, at, v)
	}
	say := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	if s.Const != nil && !reflect.DeepEqual(s.Const, v) || s.Enum != nil && !slices.Contains(s.Enum, v) {
		say("%v is not one of %v%v", v, s.Const, s.Enum)
	}
	if s.Type != nil && !s.is(v) {
		say("%.60v is not of type %v", v, s.Type)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				say("no %s", name)
			}
		}
		for name, x := range v {
			if p := s.Properties[name]; p != nil {
				wrong = append(wrong, p.check(root, at+"."+name, x)...)
			} else if s.Additional != nil {
				wrong = append(wrong, s.Additional.check(root, at+"."+name, x)...)
			}
		}
	case []any:
		for i, x := range v {
			if s.Items != nil {
				wrong = append(wrong, s.Items.check(root, fmt.Sprintf("%s[%d]", at, i), x)...)
			}
		}
	}
	return wrong
}

func (s *schema) is(v any) bool {
	types, ok := s.Type.([]any)
	if !ok {
		types = []any{s.Type}
	}
	is := map[string]bool{}
	switch v := v.(type) {
	case nil:
		is["null"] = true
	case bool:
		is["boolean"] = true
	case string:
		is["string"] = true
	case float64:
		is["number"], is["integer"] = true, v == float64(int64(v))
	case []any:
		is["array"] = true
	case map[string]any:
		is["object"] = true
	}
	return slices.ContainsFunc(types, func(name any) bool { return is[name.(string)] })
}

// What explain, tune and best print as JSON is as their schemas in docs say, one document a command.
func TestSchemas(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	tune := []string{"tune", "copy", "--compiler", "prebuilt", "--problem", "65536", "--level", "model", "--json", "--db", db}
	for _, tt := range []struct {
		schema string
		args   []string
		many   int // documents, in an array
	}{
		{"explain", []string{"explain", "transpose_tiled", "--arch", "h200", "--compiler", "prebuilt", "--json", "--config", "PAD=0", "--config", "PAD=1"}, 0},
		{"explain", []string{"explain", "copy", "--arch", "h200", "--compiler", "prebuilt", "--level", "model", "--json"}, 0},
		{"tune", append(tune, "--arch", "h200"), 0},
		{"tune", append(tune, "--arch", "h200,h100"), 2},
		{"best", []string{"best", "copy", "--arch", "h200", "--problem", "65536", "--json", "--db", db}, 0},
	} {
		doc := printed(t, tt.args)
		docs := []any{doc}
		if list, ok := doc.([]any); ok {
			docs = list
		}
		if len(docs) != max(tt.many, 1) {
			t.Errorf("%v: %d documents", tt.args, len(docs))
		}
		for _, d := range docs {
			for _, wrong := range schemaOf(t, tt.schema).violated(d) {
				t.Errorf("%v%s", tt.args, wrong)
			}
		}
	}
}

// schemaOf reads docs/NAME.schema.json.
func schemaOf(t *testing.T, name string) *schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := new(schema)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *schema) violated(document any) []string { return s.check(s, "", document) }

// printed is what a command prints as JSON.
func printed(t *testing.T, args []string) any {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(warptune(t, args...).ok(t).stdout), &doc); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return doc
}

// What is measured is printed as its schema says: with and without predictions, with failures and
// with a correction.
func TestMeasureSchema(t *testing.T) {
	standin.Install(t, false)
	dir, db := standin.Fills(t, "fill_a", "fill_b", "fill_c", "fill_refused"), filepath.Join(t.TempDir(), "w.db")
	s := schemaOf(t, "measure")
	all := printed(t, []string{"measure", dir, "--all", "--db", db, "--json"}).(map[string]any)
	confirmed := printed(t, []string{"tune", dir, "--arch", standin.Arch, "--confirm", "2", "--db", filepath.Join(t.TempDir(), "c.db"), "--json"}).(map[string]any)
	for i, doc := range []map[string]any{all, confirmed} {
		for _, wrong := range s.violated(doc) {
			t.Errorf("document %d%s", i, wrong)
		}
	}
	if f, _ := all["failures"].([]any); len(f) != 1 || all["corrected"] != nil {
		t.Errorf("measuring all: failures %v, corrected %v; want one, and none", all["failures"], all["corrected"])
	}
	if confirmed["corrected"] == nil {
		t.Errorf("the confirmation has no correction: %v", confirmed)
	}
	delete(all, "gpu_seconds")
	all["rows"].([]any)[0].(map[string]any)["measured_us"] = "fast"
	if wrong := s.violated(all); len(wrong) != 2 {
		t.Errorf("without gpu_seconds, and with a text for a time, the schema says %q", wrong)
	}
}
