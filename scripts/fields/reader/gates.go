// SPDX-License-Identifier: Apache-2.0
package main

import (
	"go/ast"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A feature gate as this release has it.
type gate struct {
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked,omitempty"`
}

const kubeletPackage = "k8s.io/kubernetes/cmd/kubelet/app"

// Names of functions by which a package registers its gates in those of its caller.
var registering = regexp.MustCompile(`^(Add|Setup)\w*FeatureGates$`)

func readGates(s *source, minor int) (map[string]gate, map[string][]string) {
	gates, dependencies := map[string]gate{}, map[string][]string{}
	for _, path := range s.registered() {
		s.collectGates(path, minor, gates, dependencies)
	}
	return gates, dependencies
}

// registered gives the packages whose gates kubelet knows. Any package that kubelet is built of may
// register its own gates, or those of a package that it imports.
func (s *source) registered() []string {
	found, seen := map[string]bool{}, map[string]bool{kubeletPackage: true}
	for queue := []string{kubeletPackage}; len(queue) > 0; queue = queue[1:] {
		imports, mentions := s.skim(queue[0], "FeatureGate")
		if mentions {
			s.collectRegistered(queue[0], found)
		}
		for _, path := range imports {
			if !seen[path] && s.folderOf(path) != "" {
				seen[path] = true
				queue = append(queue, path)
			}
		}
	}
	paths := []string{}
	for path := range found {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}

func (s *source) collectRegistered(path string, found map[string]bool) {
	for _, file := range s.load(path).files {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			owner, name := s.text(function.X), function.Sel.Name
			if strings.HasSuffix(owner, ".DefaultMutableFeatureGate") && (name == "Add" || name == "AddVersioned") {
				found[path] = true
			}
			if other := imported(file, owner); registering.MatchString(name) && other != "" {
				found[other] = true
			}
			return true
		})
	}
}

func (s *source) collectGates(path string, minor int, gates map[string]gate, dependencies map[string][]string) {
	p := s.load(path)
	for _, file := range p.files {
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.CompositeLit)
			if !ok || literal.Type == nil {
				return true
			}
			switch strings.ReplaceAll(s.text(literal.Type), "featuregate.", "") {
			case "map[Feature]FeatureSpec":
				for name, spec := range s.entries(literal, p, file) {
					s.addGate(gates, name, s.specOf(spec.(*ast.CompositeLit), p, file), spec)
				}
			case "map[Feature]VersionedSpecs":
				for name, specs := range s.entries(literal, p, file) {
					if latest := s.latest(specs.(*ast.CompositeLit), minor); latest != nil {
						s.addGate(gates, name, s.specOf(latest, p, file), latest)
					}
				}
			case "map[Feature][]Feature":
				for name, needed := range s.entries(literal, p, file) {
					s.addDependencies(dependencies, name, needed.(*ast.CompositeLit), p, file)
				}
			}
			return true
		})
	}
}

func (s *source) entries(literal *ast.CompositeLit, p *pkg, file *ast.File) map[string]ast.Expr {
	entries := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		pair := element.(*ast.KeyValueExpr)
		entries[s.evaluate(pair.Key, p, file).(string)] = pair.Value
	}
	return entries
}

// latest gives the last of the specs that this minor has reached. Some also want all components to
// be of a minor, where kubelet counts on no more than the one before its own
// (`featureSpecAtEmulationAndMinCompatVersion`, k8s.io/component-base/featuregate).
func (s *source) latest(specs *ast.CompositeLit, minor int) *ast.CompositeLit {
	var latest *ast.CompositeLit
	reached := -1
	for _, element := range specs.Elts {
		spec := element.(*ast.CompositeLit)
		since, compatible := s.minorIn(spec, "Version"), s.minorIn(spec, "MinCompatibilityVersion")
		if since <= minor && since >= reached && compatible < minor {
			latest, reached = spec, since
		}
	}
	return latest
}

// minorIn gives the minor that a part of a spec names; -1 if it has no such part.
func (s *source) minorIn(spec *ast.CompositeLit, name string) int {
	for _, member := range spec.Elts {
		pair := member.(*ast.KeyValueExpr)
		if s.text(pair.Key) != name {
			continue
		}
		text := s.text(pair.Value.(*ast.CallExpr).Args[0])
		minor, err := strconv.Atoi(strings.TrimPrefix(strings.Trim(text, `"`), "1."))
		if err != nil {
			fail("%v: not a version of 1.x: %s", s.at(pair), text)
		}
		return minor
	}
	return -1
}

func (s *source) specOf(spec *ast.CompositeLit, p *pkg, file *ast.File) gate {
	read := gate{Stage: "ga"}
	for _, member := range spec.Elts {
		pair := member.(*ast.KeyValueExpr)
		switch s.text(pair.Key) {
		case "Default":
			read.Default = s.evaluate(pair.Value, p, file).(bool)
		case "LockToDefault":
			read.Locked = s.evaluate(pair.Value, p, file).(bool)
		case "PreRelease":
			parts := strings.Split(s.text(pair.Value), ".")
			read.Stage = strings.ToLower(parts[len(parts)-1])
		case "Version", "MinCompatibilityVersion":
		default:
			fail("%v: unknown part of a feature gate: %s", s.at(pair), s.text(pair))
		}
	}
	return read
}

func (s *source) addGate(gates map[string]gate, name string, read gate, node ast.Node) {
	if other, ok := gates[name]; ok && !reflect.DeepEqual(other, read) {
		fail("%v: %s is declared twice, and differently", s.at(node), name)
	}
	gates[name] = read
}

// addDependencies keeps a gate only with the gates that it needs.
func (s *source) addDependencies(all map[string][]string, name string, needed *ast.CompositeLit, p *pkg, file *ast.File) {
	for _, element := range needed.Elts {
		other := s.evaluate(element, p, file).(string)
		if !contains(all[name], other) {
			all[name] = append(all[name], other)
		}
	}
	sort.Strings(all[name])
}

func contains(list []string, wanted string) bool {
	for _, item := range list {
		if item == wanted {
			return true
		}
	}
	return false
}
