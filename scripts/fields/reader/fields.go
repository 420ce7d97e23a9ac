// SPDX-License-Identifier: Apache-2.0
package main

import (
	"go/ast"
	"reflect"
	"strings"
)

// A field as the config file spells it: `a.b` of an object, `a[].b` of the objects of a list.
type field struct {
	Path string `json:"path"`
	Type string `json:"type"`
	// A pointer, a list or a map: what is not set differs from zero.
	Pointer bool `json:"pointer,omitempty"`
	// A pointer that is none in kubelet's own config: what is not set becomes zero there.
	ZeroInside bool `json:"zeroInside,omitempty"`
	goPath     string
}

// Types whose JSON is not that of their Go struct.
var known = map[string]string{
	"string": "string", "bool": "boolean", "int32": "int32", "int64": "int64", "uint32": "uint32", "float64": "number",
	"metav1.Duration": "duration", "metav1.Time": "time", "time.Duration": "nanoseconds",
	"resource.QuantityValue": "quantity", "resource.Quantity": "quantity",
	"TimeOrMetaDuration": "nanoseconds", "v1.ResourceList": "quantity-map", "corev1.ResourceList": "quantity-map",
}

var lists = map[string]string{"string": "strings", "int32": "int32s"}
var maps = map[string]string{"string": "string-map", "bool": "boolean-map", "[]string": "strings-map"}

func readFields(s *source) []field {
	p := s.load(typesPackage)
	decl := p.types["KubeletConfiguration"]
	fields := s.fieldsOf(decl.expr.(*ast.StructType), p, decl.file, "", "")
	pointers := s.pointersInside()
	for i := range fields {
		isPointer, same := pointers[fields[i].goPath]
		fields[i].ZeroInside = same && fields[i].Pointer && !isPointer
	}
	return fields
}

// pointersInside tells of each top-level field of the internal config whether it is a pointer, a
// list or a map.
func (s *source) pointersInside() map[string]bool {
	pointers := map[string]bool{}
	structure := s.load(insidePackage).types["KubeletConfiguration"].expr.(*ast.StructType)
	for _, member := range structure.Fields.List {
		for _, name := range member.Names {
			_, isPointer := member.Type.(*ast.StarExpr)
			_, isList := member.Type.(*ast.ArrayType)
			_, isMap := member.Type.(*ast.MapType)
			pointers[name.Name] = isPointer || isList || isMap
		}
	}
	return pointers
}

func (s *source) fieldsOf(structure *ast.StructType, p *pkg, file *ast.File, path, goPath string) []field {
	var fields []field
	for _, member := range structure.Fields.List {
		tag := ""
		if member.Tag != nil {
			tag = reflect.StructTag(strings.Trim(member.Tag.Value, "`")).Get("json")
		}
		name, _, _ := strings.Cut(tag, ",")
		if len(member.Names) == 0 {
			fields = append(fields, s.inlined(member, p, file, path, goPath)...)
			continue
		}
		if name == "" || name == "-" {
			fail("%v: a field without a name in JSON", s.at(member))
		}
		fields = append(fields, s.fieldOf(member.Type, p, file, path+name, goPath+member.Names[0].Name)...)
	}
	return fields
}

// inlined gives the fields of an embedded struct: those of the config itself have no TypeMeta.
func (s *source) inlined(member *ast.Field, p *pkg, file *ast.File, path, goPath string) []field {
	if s.text(member.Type) == "metav1.TypeMeta" {
		return nil
	}
	structure, owner, in := s.structOf(member.Type, p, file)
	if structure == nil {
		fail("%v: cannot embed %s", s.at(member), s.text(member.Type))
	}
	return s.fieldsOf(structure, owner, in, path, goPath+s.text(member.Type)+".")
}

func (s *source) fieldOf(expr ast.Expr, p *pkg, file *ast.File, path, goPath string) []field {
	pointer := false
	if star, ok := expr.(*ast.StarExpr); ok {
		expr, pointer = star.X, true
	}
	one := func(name string, isPointer bool) []field { return []field{{path, name, isPointer, false, goPath}} }
	if name, ok := known[s.text(expr)]; ok {
		if name == "duration" && pointer {
			name = "nullable-duration"
		}
		return one(name, pointer || name == "quantity-map")
	}
	switch expr := expr.(type) {
	case *ast.ArrayType:
		if name, ok := lists[s.text(expr.Elt)]; ok {
			return one(name, true)
		}
		structure, owner, in := s.structOf(expr.Elt, p, file)
		if structure != nil {
			return append(one("objects", true), s.fieldsOf(structure, owner, in, path+"[].", goPath+"[].")...)
		}
	case *ast.MapType:
		if name, ok := maps[s.text(expr.Value)]; ok && s.text(expr.Key) == "string" {
			return one(name, true)
		}
	default:
		if structure, owner, in := s.structOf(expr, p, file); structure != nil {
			return append(one("object", pointer), s.fieldsOf(structure, owner, in, path+".", goPath+".")...)
		}
		if decl, owner := s.typeOf(expr, p, file); decl.expr != nil {
			under := s.fieldOf(decl.expr, owner, decl.file, path, goPath)
			under[0].Pointer = under[0].Pointer || pointer
			return under
		}
	}
	fail("%v: unknown type %s of %s", s.at(expr), s.text(expr), path)
	return nil
}

// structOf gives nil for what is no struct.
func (s *source) structOf(expr ast.Expr, p *pkg, file *ast.File) (*ast.StructType, *pkg, *ast.File) {
	decl, owner := s.typeOf(expr, p, file)
	structure, _ := decl.expr.(*ast.StructType)
	return structure, owner, decl.file
}

func (s *source) typeOf(expr ast.Expr, p *pkg, file *ast.File) (typeDecl, *pkg) {
	switch expr := expr.(type) {
	case *ast.Ident:
		return p.types[expr.Name], p
	case *ast.SelectorExpr:
		path := imported(file, s.text(expr.X))
		if s.folderOf(path) == "" {
			fail("%v: nothing is known of %s", s.at(expr), path)
		}
		other := s.load(path)
		return other.types[expr.Sel.Name], other
	}
	return typeDecl{}, nil
}
