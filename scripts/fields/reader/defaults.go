// SPDX-License-Identifier: Apache-2.0
package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"time"
)

type defaults struct {
	// By the path of the field.
	values map[string]any
	// What depends on other fields or on feature gates, as upstream's code.
	dependent map[string]string
	fields    map[string]field
}

// readDefaults follows SetDefaults_KubeletConfiguration. What it assigns to a field where that
// field is not set is a default; what it assigns on any other condition is dependent.
func readDefaults(s *source, fields []field) defaults {
	read := defaults{map[string]any{}, map[string]string{}, map[string]field{}}
	for _, each := range fields {
		read.fields[each.goPath] = each
	}
	p := s.load(defaultsPackage)
	set := p.funcs["SetDefaults_KubeletConfiguration"]
	read.follow(s, set, p, "")
	// Up to 1.25 SetDefaults sets it too; from 1.26 on `run`, in cmd/kubelet/app/server.go.
	if _, known := read.values["evictionHard"]; !known {
		eviction := s.load(evictionPackage)
		signals := eviction.values["DefaultEvictionHard"]
		read.values["evictionHard"] = s.evaluate(signals.expr, eviction, signals.file)
	}
	return read
}

// follow reads a function whose only parameter is a pointer to the object at a path.
func (d defaults) follow(s *source, function funcDecl, p *pkg, path string) {
	object := function.decl.Type.Params.List[0].Names[0].Name
	for _, statement := range function.decl.Body.List {
		switch statement := statement.(type) {
		case *ast.DeclStmt, *ast.AssignStmt:
			// A local variable: the zero of a type, or a copy of the feature gates.
		case *ast.IfStmt:
			d.followIf(s, statement, p, function.file, object, path)
		case *ast.ExprStmt:
			d.followCall(s, statement.X.(*ast.CallExpr), p, function.file, object, path)
		default:
			fail("%v: cannot follow %s", s.at(statement), s.text(statement))
		}
	}
}

// followCall reads `package.function(&object.field)`.
func (d defaults) followCall(s *source, call *ast.CallExpr, p *pkg, file *ast.File, object, path string) {
	if len(call.Args) != 1 {
		fail("%v: cannot follow %s", s.at(call), s.text(call))
	}
	inner, ok := d.pathOf(s, call.Args[0], object, path)
	if !ok {
		fail("%v: cannot follow %s", s.at(call), s.text(call))
	}
	switch callee := call.Fun.(type) {
	case *ast.Ident:
		d.follow(s, p.funcs[callee.Name], p, inner+".")
	case *ast.SelectorExpr:
		other := s.load(imported(file, s.text(callee.X)))
		d.follow(s, other.funcs[callee.Sel.Name], other, inner+".")
	}
}

func (d defaults) followIf(s *source, statement *ast.IfStmt, p *pkg, file *ast.File, object, path string) {
	assigned := d.assignments(s, statement, object, path)
	unset := d.unsetBy(s, statement.Cond, object, path)
	isPlain := statement.Init == nil && statement.Else == nil
	for _, inner := range statement.Body.List {
		if _, nested := inner.(*ast.IfStmt); nested {
			isPlain = false
		}
	}
	for _, each := range assigned {
		if isPlain && each.path == unset {
			d.values[each.field.Path] = inJSON(s.evaluate(each.value, p, file), each.field.Type)
		} else {
			d.dependent[each.field.Path] = s.text(statement)
		}
	}
}

type assignment struct {
	path  string
	field field
	value ast.Expr
}

func (d defaults) assignments(s *source, statement ast.Node, object, path string) []assignment {
	var found []assignment
	locals := map[string]ast.Expr{}
	ast.Inspect(statement, func(node ast.Node) bool {
		assign, ok := node.(*ast.AssignStmt)
		if !ok {
			return true
		}
		if assign.Tok == token.DEFINE {
			locals["&"+s.text(assign.Lhs[0])] = assign.Rhs[0]
			return true
		}
		target, ok := d.pathOf(s, assign.Lhs[0], object, path)
		if !ok {
			return true
		}
		if each, known := d.fields[target]; known {
			value := assign.Rhs[0]
			if local, ok := locals[s.text(value)]; ok {
				value = local
			}
			found = append(found, assignment{target, each, value})
		} else if !strings.HasSuffix(target, ".SerializeAsString") {
			fail("%v: %s is no field", s.at(assign), target)
		}
		return true
	})
	return found
}

// unsetBy gives the field that a condition asks for being unset; "" for another condition.
func (d defaults) unsetBy(s *source, condition ast.Expr, object, path string) string {
	compared, ok := condition.(*ast.BinaryExpr)
	if !ok {
		return ""
	}
	if compared.Op == token.LOR {
		// podPidsLimit: not set or negative.
		return d.unsetBy(s, compared.X, object, path)
	}
	zeros := map[string]bool{"nil": true, `""`: true, "0": true, "zeroDuration": true, "empty": true}
	if compared.Op != token.EQL || !zeros[s.text(compared.Y)] {
		return ""
	}
	target, _ := d.pathOf(s, compared.X, object, path)
	return target
}

// pathOf gives the path of `object.A.B` or `&object.A.B` among the fields of the config. A duration
// within a field is that field.
func (d defaults) pathOf(s *source, expr ast.Expr, object, path string) (string, bool) {
	text, isField := strings.CutPrefix(strings.TrimPrefix(s.text(expr), "&"), object+".")
	return path + strings.TrimSuffix(text, ".Duration.Duration"), isField
}

func inJSON(value any, kind string) any {
	if kind == "duration" || kind == "nullable-duration" || kind == "nanoseconds" {
		text := time.Duration(value.(int64)).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	}
	if number, ok := value.(int64); ok && kind == "quantity" {
		return strconv.FormatInt(number, 10)
	}
	return value
}
