// SPDX-License-Identifier: Apache-2.0
package main

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Packages, or single files, whose functions are compared between releases: the rules of ours are
// read from them.
var watched = []string{
	insidePackage + "/validation",
	defaultsPackage + "/defaults.go",
	"k8s.io/kubernetes/cmd/kubelet/app/options",
	"k8s.io/kubernetes/cmd/kubeadm/app/componentconfigs",
}

// readFunctions gives the code of what the watched packages declare, by path and name.
func readFunctions(s *source) map[string]string {
	functions := map[string]string{}
	for _, path := range watched {
		for _, name := range s.filesIn(path) {
			folder := strings.TrimPrefix(filepath.Dir(name), s.folderOf("k8s.io/kubernetes")+"/")
			for declared, node := range declarations(s.parse(name, nil, parser.SkipObjectResolution)) {
				functions[folder+"."+declared] = s.code(node)
			}
		}
	}
	return functions
}

// readDeclared gives the names that a file declares, or a folder with those below it; none where
// there is no such file.
func readDeclared(s *source, paths []string) map[string][]string {
	all := map[string][]string{}
	for _, path := range paths {
		names := []string{}
		root := s.folderOf(path)
		if root == "" {
			fail("nothing is known of %s", path)
		}
		_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				for declared := range declarations(s.parse(name, nil, parser.SkipObjectResolution)) {
					names = append(names, declared)
				}
			}
			return nil
		})
		sort.Strings(names)
		all[path] = names
	}
	return all
}

// filesIn gives the files of a package, but for generated ones, or the one file that is named.
func (s *source) filesIn(path string) []string {
	file := s.folderOf(path)
	if !strings.HasSuffix(path, ".go") {
		names := []string{}
		for _, name := range s.filesOf(path) {
			if !strings.HasPrefix(filepath.Base(name), "zz_generated") {
				names = append(names, name)
			}
		}
		return names
	}
	if _, err := os.Stat(file); err != nil {
		fail("%v", err)
	}
	return []string{file}
}

// declarations gives functions, methods, types, constants and variables of a file by name; a method
// as `Type.Method`.
func declarations(file *ast.File) map[string]ast.Node {
	found := map[string]ast.Node{}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			found[receiver(decl)+decl.Name.Name] = decl
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					found[spec.Name.Name] = spec
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if decl.Tok == token.CONST || decl.Tok == token.VAR {
							found[name.Name] = spec
						}
					}
				}
			}
		}
	}
	delete(found, "_")
	return found
}

func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(function.Recv.List[0].Type, func(node ast.Node) bool {
		if ident, ok := node.(*ast.Ident); ok && name == "" {
			name = ident.Name
		}
		return true
	})
	return name + "."
}

// code gives a piece of code without comments and empty lines, which mean nothing.
func (s *source) code(node ast.Node) string {
	var out strings.Builder
	if err := printer.Fprint(&out, s.files, node); err != nil {
		fail("%v", err)
	}
	lines := []string{}
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
