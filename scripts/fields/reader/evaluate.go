// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/token"
	"strings"
)

// The units of package time, in nanoseconds.
var units = map[string]int64{
	"Nanosecond": 1, "Microsecond": 1e3, "Millisecond": 1e6, "Second": 1e9, "Minute": 60e9, "Hour": 3600e9,
}

// evaluate gives the value of an expression: string, bool, number, a list or a map of them. A
// duration is its nanoseconds. Pointers count as what they point to.
func (s *source) evaluate(expr ast.Expr, p *pkg, file *ast.File) any {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		return plain(constant.MakeFromLiteral(expr.Value, expr.Kind, 0))
	case *ast.ParenExpr:
		return s.evaluate(expr.X, p, file)
	case *ast.StarExpr:
		return s.evaluate(expr.X, p, file)
	case *ast.UnaryExpr:
		inner := s.evaluate(expr.X, p, file)
		if expr.Op == token.AND {
			return inner
		}
		return plain(constant.UnaryOp(expr.Op, constant.Make(inner), 0))
	case *ast.BinaryExpr:
		left, right := s.evaluate(expr.X, p, file), s.evaluate(expr.Y, p, file)
		return plain(constant.BinaryOp(constant.Make(left), expr.Op, constant.Make(right)))
	case *ast.Ident:
		if expr.Name == "true" || expr.Name == "false" {
			return expr.Name == "true"
		}
		if known, ok := p.values[expr.Name]; ok {
			return s.evaluate(known.expr, p, known.file)
		}
	case *ast.SelectorExpr:
		return s.evaluateSelected(expr, file)
	case *ast.CallExpr:
		// A conversion, a pointer to a value, or a quantity with its format.
		if len(expr.Args) == 1 || strings.HasSuffix(s.text(expr.Fun), ".NewQuantity") {
			return s.evaluate(expr.Args[0], p, file)
		}
	case *ast.CompositeLit:
		return s.evaluateComposite(expr, p, file)
	}
	fail("%v: cannot evaluate %s", s.at(expr), s.text(expr))
	return nil
}

func (s *source) evaluateSelected(expr *ast.SelectorExpr, file *ast.File) any {
	owner, ok := expr.X.(*ast.Ident)
	if !ok {
		fail("%v: cannot evaluate %s", s.at(expr), s.text(expr))
	}
	path := imported(file, owner.Name)
	if path == "time" {
		return units[expr.Sel.Name]
	}
	if path == "" || s.folderOf(path) == "" {
		fail("%v: nothing is known of %s", s.at(expr), s.text(expr))
	}
	other := s.load(path)
	known, ok := other.values[expr.Sel.Name]
	if !ok {
		fail("%v: %s has no value", s.at(expr), s.text(expr))
	}
	return s.evaluate(known.expr, other, known.file)
}

func (s *source) evaluateComposite(expr *ast.CompositeLit, p *pkg, file *ast.File) any {
	if _, isList := expr.Type.(*ast.ArrayType); isList {
		list := []any{}
		for _, element := range expr.Elts {
			list = append(list, s.evaluate(element, p, file))
		}
		return list
	}
	if _, isMap := expr.Type.(*ast.MapType); isMap {
		entries := ordered{}
		for _, element := range expr.Elts {
			pair := element.(*ast.KeyValueExpr)
			entries = append(entries, entry{s.evaluate(pair.Key, p, file), s.evaluate(pair.Value, p, file)})
		}
		return entries
	}
	// metav1.Duration, resource.QuantityValue: wrappers of one value.
	if len(expr.Elts) == 1 {
		if pair, ok := expr.Elts[0].(*ast.KeyValueExpr); ok {
			return s.evaluate(pair.Value, p, file)
		}
	}
	fail("%v: cannot evaluate %s", s.at(expr), s.text(expr))
	return nil
}

func plain(known constant.Value) any {
	switch known.Kind() {
	case constant.Bool:
		return constant.BoolVal(known)
	case constant.String:
		return constant.StringVal(known)
	case constant.Int:
		number, _ := constant.Int64Val(known)
		return number
	default:
		number, _ := constant.Float64Val(known)
		return number
	}
}

// ordered is a map in the order of the source.
type ordered []entry

type entry struct{ key, value any }

func (o ordered) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, each := range o {
		key, err := json.Marshal(each.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(each.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}
