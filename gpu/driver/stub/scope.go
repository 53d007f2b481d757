package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// declarations holds the declarations of a package from which types of arguments are inferred.
type declarations struct {
	fields  map[string]map[string]ast.Expr // type → field → its type
	results map[string][]ast.Expr          // function, or type.method → types of its results
}

func declare(files []*ast.File) declarations {
	d := declarations{map[string]map[string]ast.Expr{}, map[string][]ast.Expr{}}
	for _, file := range files {
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					d.declareType(spec)
				}
			case *ast.FuncDecl:
				if declaration.Type.Results == nil {
					continue
				}
				name := declaration.Name.Name
				if declaration.Recv != nil {
					name = typeName(declaration.Recv.List[0].Type) + "." + name
				}
				for _, result := range declaration.Type.Results.List {
					for range max(1, len(result.Names)) {
						d.results[name] = append(d.results[name], result.Type)
					}
				}
			}
		}
	}
	return d
}

func (d declarations) declareType(spec ast.Spec) {
	named, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	structure, ok := named.Type.(*ast.StructType)
	if !ok {
		return
	}
	fields := map[string]ast.Expr{}
	for _, field := range structure.Fields.List {
		if len(field.Names) == 0 { // embedded
			fields[typeName(field.Type)] = field.Type
		}
		for _, name := range field.Names {
			fields[name.Name] = field.Type
		}
	}
	d.fields[named.Name.Name] = fields
}

func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.ParenExpr:
		return typeName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// calls lists the calls of driver functions in a function, in source order.
func (d declarations) calls(f *ast.FuncDecl) []function {
	s := scope{d, map[string]ast.Expr{}}
	s.bind(f.Recv)
	s.bind(f.Type.Params)
	s.bind(f.Type.Results)
	var list []function
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, name := range n.Names {
				s.types[name.Name] = n.Type
			}
		case *ast.AssignStmt:
			s.assign(n)
		case *ast.CallExpr:
			if name, ok := fromC(n.Fun); ok && driverFunction.MatchString(name) {
				call := function{name: name}
				for _, argument := range n.Args {
					call.parameters = append(call.parameters, spell(s.typeOf(argument)))
				}
				list = append(list, call)
			}
		}
		return true
	})
	return list
}

// scope holds the types of a function's receiver, parameters and results, and of those variables in its body that
// the method calls has come to so far.
type scope struct {
	declarations
	types map[string]ast.Expr
}

func (s scope) bind(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			s.types[name.Name] = field.Type
		}
	}
}

func (s scope) assign(a *ast.AssignStmt) {
	var types []ast.Expr
	if call, ok := a.Rhs[0].(*ast.CallExpr); ok && len(a.Lhs) > 1 && len(a.Rhs) == 1 {
		types = s.resultsOf(call)
	} else {
		for _, value := range a.Rhs {
			types = append(types, s.typeOf(value))
		}
	}
	for i, left := range a.Lhs {
		if name, ok := left.(*ast.Ident); ok && i < len(types) && types[i] != nil {
			s.types[name.Name] = types[i]
		}
	}
}

// typeOf returns the type of an expression, or nil if it is not known.
func (s scope) typeOf(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.typeOf(e.X)
	case *ast.Ident:
		if e.Name == "nil" {
			return &ast.SelectorExpr{X: ast.NewIdent("unsafe"), Sel: ast.NewIdent("Pointer")}
		}
		return s.types[e.Name]
	case *ast.UnaryExpr:
		if inner := s.typeOf(e.X); e.Op == token.AND && inner != nil {
			return &ast.StarExpr{X: inner}
		}
	case *ast.StarExpr:
		if pointer, ok := s.typeOf(e.X).(*ast.StarExpr); ok {
			return pointer.X
		}
	case *ast.IndexExpr:
		if list, ok := s.typeOf(e.X).(*ast.ArrayType); ok {
			return list.Elt
		}
	case *ast.CompositeLit:
		return e.Type
	case *ast.SelectorExpr:
		return s.fields[typeName(s.typeOf(e.X))][e.Sel.Name]
	case *ast.CallExpr:
		if results := s.resultsOf(e); len(results) > 0 {
			return results[0]
		}
	}
	return nil
}

// resultsOf returns the types of the results of a call, or the type that a conversion converts to.
func (s scope) resultsOf(call *ast.CallExpr) []ast.Expr {
	if name, ok := fromC(call.Fun); ok && name == "CString" {
		return []ast.Expr{&ast.StarExpr{X: &ast.SelectorExpr{X: ast.NewIdent("C"), Sel: ast.NewIdent("char")}}}
	}
	if spell(call.Fun) != "" { // a conversion
		return []ast.Expr{call.Fun}
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if f.Name == "make" {
			return call.Args[:1]
		}
		return s.results[f.Name]
	case *ast.SelectorExpr:
		receiver := typeName(s.typeOf(f.X))
		if results, ok := s.results[receiver+"."+f.Sel.Name]; ok {
			return results
		}
		// The receiver is an interface: take the results of a method with this name, whatever type has it. Not
		// for c: each type of cu has a method c with another result.
		for name, results := range s.results {
			if strings.HasSuffix(name, "."+f.Sel.Name) && f.Sel.Name != "c" {
				return results
			}
		}
	}
	return nil
}
