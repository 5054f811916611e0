package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// idle are the fields of a definition that change nothing of a launch.
var idle = []string{"Device", "Profiling", "SimulationInput", "Misc", "Stream", "ReferenceArguments", "BenchmarkName"}

// Parts returns what the definition consists of: parameters, conditions, arguments,
// the other fields of KernelSpecification and the files, each by the name that its
// author knows it by, with a text that is the same where the part is. Fields that
// change nothing are left out.
func (d *Definition) Parts() (map[string]string, error) {
	if d.listed != nil {
		return d.partsListed()
	}
	var doc struct {
		ConfigurationSpace  map[string]json.RawMessage
		KernelSpecification map[string]json.RawMessage
	}
	if err := json.Unmarshal(d.text, &doc); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	parts := map[string]string{}
	for name, text := range doc.ConfigurationSpace {
		addParts(parts, name, "parameter", text)
	}
	for name, text := range doc.KernelSpecification {
		if !slices.Contains(idle, name) {
			addParts(parts, name, "argument", text)
		}
	}
	parts["KernelName"] = d.KernelName
	files, err := d.bundled()
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	for name, content := range files {
		parts["file "+name] = Digest(content)
	}
	return parts, nil
}

// addParts adds a field as one part or, where it is a list of objects with names, as
// one for each: "parameter B".
func addParts(parts map[string]string, field, kind string, text json.RawMessage) {
	var named []struct{ Name string }
	var each []json.RawMessage
	if field == "TuningParameters" || field == "Arguments" {
		_ = json.Unmarshal(text, &named)
		_ = json.Unmarshal(text, &each)
	}
	if len(named) == 0 {
		parts[field] = partText(text)
		return
	}
	for i := range named {
		key := fmt.Sprintf("%s %s", kind, named[i].Name)
		parts[key] += partText(each[i])
	}
	if kind == "argument" { // their order is the function's
		var order bytes.Buffer
		for i := range named {
			order.WriteString(named[i].Name + "\n")
		}
		parts["order of arguments"] = order.String()
	}
}

// partText is a value's text whatever its spaces and the order of its fields, or the
// text's digest if it is long.
func partText(text json.RawMessage) string {
	var value any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	canonical := []byte(text)
	if dec.Decode(&value) == nil {
		if again, err := json.Marshal(value); err == nil {
			canonical = again
		}
	}
	if len(canonical) > 256 {
		sum := sha256.Sum256(canonical)
		return hex.EncodeToString(sum[:])
	}
	return string(canonical)
}

// partsListed is Parts of launch records: the records, and all their PTX.
func (d *Definition) partsListed() (map[string]string, error) {
	files, err := d.bundledListed()
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	ptx := sha256.New()
	for _, name := range sortedKeys(files) {
		if name != launchesFile {
			fmt.Fprintln(ptx, name, Digest(files[name]))
		}
	}
	return map[string]string{
		"KernelName": d.KernelName, "the launch records": Digest(files[launchesFile]), "their PTX": hex.EncodeToString(ptx.Sum(nil)),
	}, nil
}
