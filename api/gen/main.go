// Command gen lints the project's protobuf definitions and generates Go from
// them, with nothing but Go: it compiles with protocompile and runs the two
// plugins pinned as tools in go.mod.
//
// Usage: gen DIR, where DIR is the root that imports are relative to.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins are the tools of go.mod that generate, in the order they run.
var plugins = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	names, err := sources(root)
	if err != nil {
		return err
	}
	files, err := compile(root, names)
	if err != nil {
		return err
	}
	if complaints := lint(files); len(complaints) > 0 {
		for _, c := range complaints {
			fmt.Fprintln(os.Stderr, c)
		}
		return fmt.Errorf("%d lint errors", len(complaints))
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      descriptors(files),
	}
	for _, plugin := range plugins {
		if err := generate(root, plugin, request); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	return nil
}

// compile parses and links definitions, keeping comments and positions.
func compile(root string, names []string) (linker.Files, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	return compiler.Compile(context.Background(), names...)
}

// sources returns the definitions under root, as import paths, sorted.
func sources(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(names)
	return names, err
}

// descriptors returns the files and what they import, imports first, as
// plugins want them, but without comments: these are read where they are
// written, in the definitions.
func descriptors(files linker.Files) []*descriptorpb.FileDescriptorProto {
	var out []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(linker.File)
	add = func(f linker.File) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.FindImportByPath(f.Imports().Get(i).Path()))
		}
		plain := proto.CloneOf(protoutil.ProtoFromFileDescriptor(f))
		plain.SourceCodeInfo = nil
		out = append(out, plain)
	}
	for _, f := range files {
		add(f)
	}
	return out
}

// generate runs one plugin and writes the files it answers under root.
func generate(root, plugin string, request *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, f := range response.File {
		path := filepath.Join(root, filepath.FromSlash(f.GetName()))
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
