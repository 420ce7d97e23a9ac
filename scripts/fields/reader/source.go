// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// source finds packages in the folders of modules, and parses each once.
type source struct {
	folders  map[string]string
	files    *token.FileSet
	packages map[string]*pkg
}

// pkg is a package as kubelet on Linux has it.
type pkg struct {
	path  string
	files []*ast.File
	// Constants, variables, types and functions by name.
	values map[string]value
	types  map[string]typeDecl
	funcs  map[string]funcDecl
}

type value struct {
	expr ast.Expr
	file *ast.File
}

type typeDecl struct {
	expr ast.Expr
	file *ast.File
}

type funcDecl struct {
	decl *ast.FuncDecl
	file *ast.File
}

func newSource(modules []string) *source {
	folders := map[string]string{}
	for _, module := range modules {
		path, folder, _ := strings.Cut(module, "=")
		folders[path] = folder
	}
	return &source{folders, token.NewFileSet(), map[string]*pkg{}}
}

// folderOf gives "" for a package of a module that was not given.
func (s *source) folderOf(path string) string {
	for module, folder := range s.folders {
		if path == module || strings.HasPrefix(path, module+"/") {
			return filepath.Join(folder, strings.TrimPrefix(path, module))
		}
	}
	return ""
}

func (s *source) load(path string) *pkg {
	if loaded, ok := s.packages[path]; ok {
		return loaded
	}
	loaded := &pkg{path, nil, map[string]value{}, map[string]typeDecl{}, map[string]funcDecl{}}
	s.packages[path] = loaded
	for _, name := range s.filesOf(path) {
		loaded.add(s.parse(name, nil, parser.SkipObjectResolution))
	}
	return loaded
}

// skim gives what a package imports, and whether its text has a word.
func (s *source) skim(path, word string) (imports []string, mentions bool) {
	for _, name := range s.filesOf(path) {
		text, err := os.ReadFile(name)
		if err != nil {
			fail("%v", err)
		}
		mentions = mentions || bytes.Contains(text, []byte(word))
		for _, spec := range s.parse(name, text, parser.ImportsOnly).Imports {
			imports = append(imports, strings.Trim(spec.Path.Value, `"`))
		}
	}
	return imports, mentions
}

func (s *source) parse(name string, text any, mode parser.Mode) *ast.File {
	file, err := parser.ParseFile(s.files, name, text, mode)
	if err != nil {
		fail("%v", err)
	}
	return file
}

// filesOf gives those of a package that are built into kubelet on Linux.
func (s *source) filesOf(path string) []string {
	folder := s.folderOf(path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		fail("package %s: %v", path, err)
	}
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", true
	names := []string{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if matches, err := linux.MatchFile(folder, name); err == nil && matches {
			names = append(names, filepath.Join(folder, name))
		}
	}
	return names
}

func (p *pkg) add(file *ast.File) {
	p.files = append(p.files, file)
	for _, decl := range file.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok && function.Recv == nil {
			p.funcs[function.Name.Name] = funcDecl{function, file}
		}
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.types[spec.Name.Name] = typeDecl{spec.Type, file}
			case *ast.ValueSpec:
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						p.values[name.Name] = value{spec.Values[i], file}
					}
				}
			}
		}
	}
}

// imported gives the path of the package that a file calls `name`; "" if there is none.
func imported(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if spec.Name != nil && spec.Name.Name == name {
			return path
		}
		if spec.Name == nil && filepath.Base(path) == name {
			return path
		}
	}
	return ""
}

func (s *source) at(node ast.Node) token.Position {
	return s.files.Position(node.Pos())
}
