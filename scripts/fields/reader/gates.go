package main

import (
	"go/ast"
	"reflect"
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

const featuresPackage = "k8s.io/kubernetes/pkg/features"

// Files of kubelet that register the gates of other packages.
var registering = []string{"k8s.io/kubernetes/cmd/kubelet/app", "k8s.io/kubernetes/pkg/kubelet/server"}

// Packages that declare gates which kubelet registers where it imports them. The gates of
// controller-manager are not among them: kubelet has only those that pkg/features lists again.
var declaring = []string{
	"k8s.io/apiserver/pkg/features", "k8s.io/apiextensions-apiserver/pkg/features", "k8s.io/client-go/features",
	"k8s.io/component-base/logs", "k8s.io/component-base/logs/api/v1",
	"k8s.io/component-base/metrics/features", "k8s.io/component-base/zpages/features",
}

func readGates(s *source, minor int) (map[string]gate, map[string][]string) {
	gates, dependencies := map[string]gate{}, map[string][]string{}
	s.collectGates(featuresPackage, minor, gates, dependencies)
	for _, path := range declaring {
		if s.isRegistered(path) {
			s.collectGates(path, minor, gates, dependencies)
		}
	}
	return gates, dependencies
}

func (s *source) isRegistered(path string) bool {
	for _, importer := range append([]string{featuresPackage}, registering...) {
		for _, file := range s.load(importer).files {
			for _, spec := range file.Imports {
				if strings.Trim(spec.Path.Value, `"`) == path {
					return true
				}
			}
		}
	}
	return false
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

// latest gives the last of the specs that this minor has reached.
func (s *source) latest(specs *ast.CompositeLit, minor int) *ast.CompositeLit {
	var latest *ast.CompositeLit
	reached := -1
	for _, element := range specs.Elts {
		spec := element.(*ast.CompositeLit)
		for _, member := range spec.Elts {
			pair := member.(*ast.KeyValueExpr)
			if s.text(pair.Key) != "Version" {
				continue
			}
			text := s.text(pair.Value.(*ast.CallExpr).Args[0])
			since, err := strconv.Atoi(strings.TrimPrefix(strings.Trim(text, `"`), "1."))
			if err != nil {
				fail("%v: not a version of 1.x: %s", s.at(pair), text)
			}
			if since <= minor && since > reached {
				latest, reached = spec, since
			}
		}
	}
	return latest
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
		case "Version":
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
