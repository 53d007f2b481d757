package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// function is a function of the driver API, with the C types of its parameters. All return
// CUresult.
type function struct {
	name       string
	parameters []string
}

// uses lists what a package uses of cuda.h.
type uses struct {
	functions []function
	types     []string
	constants []string
}

var (
	driverFunction = regexp.MustCompile(`^cu[A-Z]`)
	driverConstant = regexp.MustCompile(`^(CU_|CUDA_(SUCCESS|ERROR))`)
	ownFunction    = regexp.MustCompile(`\b(cu[A-Z]\w*)\(`)
)

// infer reads the Go files of a folder and collects what they use of cuda.h.
func infer(folder string) (uses, error) {
	files, err := parseFolder(folder)
	if err != nil {
		return uses{}, err
	}
	own, err := ownFunctions(folder)
	if err != nil {
		return uses{}, err
	}
	known := declare(files)
	types, constants := map[string]bool{"CUresult": true}, map[string]bool{}
	found := map[string]function{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := fromC(n); ok && driverConstant.MatchString(name) {
				constants[name] = true
			} else if ok && (strings.HasPrefix(name, "CU") || strings.HasPrefix(name, "cuuint")) {
				types[name] = true
			}
			return true
		})
		for _, d := range file.Decls {
			body, ok := d.(*ast.FuncDecl)
			if !ok || body.Body == nil {
				continue
			}
			for _, f := range known.calls(body) {
				if own[f.name] {
					continue
				}
				if before, ok := found[f.name]; ok && !slices.Equal(before.parameters, f.parameters) {
					return uses{}, fmt.Errorf("%s is called with %q and with %q", f.name,
						before.parameters, f.parameters)
				}
				if i := slices.Index(f.parameters, ""); i >= 0 {
					return uses{}, fmt.Errorf("%s: the type of argument %d was not understood in %s",
						f.name, i, body.Name.Name)
				}
				found[f.name] = f
			}
		}
	}
	byName := func(a, b function) int { return cmp.Compare(a.name, b.name) }
	return uses{slices.SortedFunc(maps.Values(found), byName), slices.Sorted(maps.Keys(types)),
		slices.Sorted(maps.Keys(constants))}, nil
}

func parseFolder(folder string) ([]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", folder)
	}
	return files, nil
}

// ownFunctions are the functions that cu declares in its own headers.
func ownFunctions(folder string) (map[string]bool, error) {
	headers, err := filepath.Glob(filepath.Join(folder, "*.h"))
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, path := range headers {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, match := range ownFunction.FindAllStringSubmatch(string(text), -1) {
			own[match[1]] = true
		}
	}
	return own, nil
}

// fromC returns the name after "C.".
func fromC(n ast.Node) (string, bool) {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := s.X.(*ast.Ident)
	return s.Sel.Name, ok && x.Name == "C"
}

// spell returns the C type that a Go type stands for, or "" if it stands for none.
func spell(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		if inner := spell(t.X); inner != "" {
			return inner + "*"
		}
	case *ast.ParenExpr:
		return spell(t.X)
	case *ast.SelectorExpr:
		if name, ok := fromC(t); ok {
			return cmp.Or(map[string]string{"uint": "unsigned int", "uchar": "unsigned char", "ushort": "unsigned short",
				"ulonglong": "unsigned long long"}[name], name)
		}
		if x, ok := t.X.(*ast.Ident); ok && x.Name == "unsafe" && t.Sel.Name == "Pointer" {
			return "void*"
		}
	}
	return ""
}
