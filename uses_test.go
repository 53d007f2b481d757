package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/engine/spec"
)

// What is declared in one place must be used in another. These tests name what was forgotten.

// uses says which files of the repository use what its packages declare. Packages of others are not
// read, so a use that depends on their types is not seen.
type uses struct {
	set     *token.FileSet
	files   map[string][]*ast.File // by package
	checked map[string]*types.Package
	of      map[types.Object][]string // paths of the files that use the object
}

func findUses(t *testing.T) *uses {
	u := &uses{files: map[string][]*ast.File{}, checked: map[string]*types.Package{}, of: map[types.Object][]string{}}
	for _, s := range sources(t) {
		u.set = s.files
		u.files[s.pkg()] = append(u.files[s.pkg()], s.ast)
	}
	for pkg := range u.files {
		u.check(pkg)
	}
	return u
}

// Import checks a package of ours with all that it imports. A package of others is empty.
func (u *uses) Import(name string) (*types.Package, error) {
	if pkg, ours := strings.CutPrefix(name, "specula/"); ours {
		return u.check(pkg), nil
	}
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func (u *uses) check(pkg string) *types.Package {
	if p := u.checked[pkg]; p != nil {
		return p
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	c := types.Config{Importer: u, FakeImportC: true, Error: func(error) {}} // errors come from packages of others
	u.checked[pkg], _ = c.Check("specula/"+pkg, u.set, u.files[pkg], info)
	for name, o := range info.Uses {
		u.add(o, name)
	}
	for _, f := range u.files[pkg] {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && info.Types[call.Fun].IsType() {
				u.addFields(info.Types[call.Args[0]].Type, call)
			}
			return true
		})
	}
	return u.checked[pkg]
}

func (u *uses) add(o types.Object, at ast.Node) {
	u.of[o] = append(u.of[o], u.set.Position(at.Pos()).Filename)
}

// addFields counts the fields of a struct as used where the struct is converted to another type.
func (u *uses) addFields(t types.Type, at ast.Node) {
	if t == nil {
		return
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			u.add(field, at)
		}
	}
}

// within reports whether a file of a package uses o.
func (u *uses) within(pkg string, o types.Object) bool {
	return slices.ContainsFunc(u.of[o], func(file string) bool { return path.Dir(file) == pkg })
}

// A setting that nothing reads does nothing.
func TestEverySettingIsRead(t *testing.T) {
	u := findUses(t)
	reads := func(file string) bool {
		return path.Dir(file) != "engine/config" || file == "engine/config/form.go" // which compiles constraints
	}
	fields := 0
	sections := u.checked["engine/config"].Scope().Lookup("Config").Type().Underlying().(*types.Struct)
	for section := range sections.Fields() {
		for field := range section.Type().Underlying().(*types.Struct).Fields() {
			fields++
			if !slices.ContainsFunc(u.of[field], reads) {
				t.Errorf("nothing reads the setting %s.%s of engine/config", section.Name(), field.Name())
			}
		}
	}
	if want := len(config.Settings()); fields != want {
		t.Errorf("%d fields were looked at, there are %d settings", fields, want)
	}
}

// A key or a command that nothing carries out is dead.
func TestEveryKeyAndCommandIsCarriedOut(t *testing.T) {
	u := findUses(t)
	for _, c := range []struct {
		pkg, typ string
		where    string
		but      []string
	}{
		{"ui/keys", "Action", "changeOf in ui/controls.go or a switch in ui/action.go", []string{"None", "Edit", "Newline"}}, // the text area does the last two
		{"ui/command", "Verb", "run in ui/slash.go", nil},
	} {
		scope, found := u.checked[c.pkg].Scope(), 0
		for _, name := range scope.Names() {
			o, ok := scope.Lookup(name).(*types.Const)
			if !ok || o.Type() != scope.Lookup(c.typ).Type() || slices.Contains(c.but, name) {
				continue
			}
			found++
			if !u.within("ui", o) {
				t.Errorf("nothing carries out %s.%s: add it to %s", path.Base(c.pkg), name, c.where)
			}
			if !u.within(c.pkg, o) {
				t.Errorf("%s.%s is not in the table of %s", path.Base(c.pkg), name, c.pkg)
			}
		}
		if found < 10 {
			t.Errorf("only %d constants of %s.%s were found", found, c.pkg, c.typ)
		}
	}
}

// A rule that is not in the register cannot be chosen.
func TestEveryRuleIsInTheRegister(t *testing.T) {
	scope, found := findUses(t).checked["engine/spec"].Scope(), 0
	for _, name := range scope.Names() {
		o, ok := scope.Lookup(name).(*types.Const)
		if !ok || o.Type() != scope.Lookup("Rule").Type() {
			continue
		}
		found++
		rule := spec.Rule(constant.StringVal(o.Val()))
		if !slices.ContainsFunc(spec.Rules[:], func(r spec.RuleTraits) bool { return r.Rule == rule }) {
			t.Errorf("the rule spec.%s is in no register: add it to Rules in engine/spec/rule.go", name)
		}
	}
	if found < len(spec.Rules) {
		t.Errorf("only %d constants of spec.Rule were found, the register has %d", found, len(spec.Rules))
	}
}

// A proposer that the engine does not make cannot be chosen.
func TestEveryProposerIsMade(t *testing.T) {
	u := findUses(t)
	scope := u.checked["engine/spec"].Scope()
	proposer, made := scope.Lookup("Proposer").Type().Underlying().(*types.Interface), map[string]bool{}
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.TypeName:
			if !types.IsInterface(o.Type()) && types.Implements(types.NewPointer(o.Type()), proposer) {
				made[name] = made[name] || u.within("engine", o)
			}
		case *types.Func:
			if o.Signature().Results().Len() == 0 || !u.within("engine", o) {
				continue
			}
			if p, ok := o.Signature().Results().At(0).Type().(*types.Pointer); ok && types.Implements(p, proposer) {
				made[p.Elem().(*types.Named).Obj().Name()] = true
			}
		}
	}
	for name, ok := range made {
		if !ok {
			t.Errorf("nothing in engine makes the proposer spec.%s: add a row to drafters in engine/drafters.go", name)
		}
	}
	if len(made) < 5 {
		t.Errorf("only %d proposers were found", len(made))
	}
}

// A field of an event that nothing fills shows nothing. Races fill their events in ui/cli.
func TestEveryFieldOfEventsIsFilled(t *testing.T) {
	u := findUses(t)
	scope, fields := u.checked["engine/event"].Scope(), 0
	fills := func(file string) bool {
		return strings.HasPrefix(file, "engine/") && path.Dir(file) != "engine/trace" || path.Dir(file) == "ui/cli"
	}
	for _, name := range scope.Names() {
		s, ok := scope.Lookup(name).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for field := range s.Fields() {
			if fields++; !slices.ContainsFunc(u.of[field], fills) {
				t.Errorf("nothing in engine or ui/cli fills the field %s of event.%s", field.Name(), name)
			}
		}
	}
	if fields < 100 {
		t.Errorf("only %d fields of events were found", fields)
	}
}

// A section of the side column must be in both lists, sections and wideSections. Otherwise some width does not draw it.
func TestEverySectionIsDrawn(t *testing.T) {
	u := findUses(t)
	column := types.NewPointer(u.checked["ui/pane"].Scope().Lookup("column").Type())
	draw := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewVar(0, nil, "", types.Typ[types.Int])),
		types.NewTuple(types.NewVar(0, nil, "", types.NewSlice(types.Typ[types.String]))), false)
	lists := map[string]map[string]bool{"sections": u.selected("ui/pane", "sections"), "wideSections": u.selected("ui/pane", "wideSections")}
	found := 0
	for method := range types.NewMethodSet(column).Methods() {
		m := method.Obj().(*types.Func)
		if !types.Identical(types.NewSignatureType(nil, nil, nil, m.Signature().Params(), m.Signature().Results(), false), draw) {
			continue
		}
		found++
		for list, names := range lists {
			if !names[m.Name()] {
				t.Errorf("the section %s is not drawn by %s in ui/pane/side.go: add it there", m.Name(), list)
			}
		}
	}
	if found < 7 {
		t.Errorf("only %d sections were found", found)
	}
}

// A pane of the layout that is not put into its rectangle leaves a hole, and so does one that is not drawn.
func TestEveryPaneIsDrawn(t *testing.T) {
	u := findUses(t)
	fields := func(pkg, name string) *types.Struct {
		return u.checked[pkg].Scope().Lookup(name).Type().Underlying().(*types.Struct)
	}
	rectangle := u.checked["ui/layout"].Scope().Lookup("Rect").Type()
	for field := range fields("ui/layout", "Rects").Fields() {
		if types.Identical(field.Type(), rectangle) && !slices.Contains(u.of[field], "ui/pane/compose.go") {
			t.Errorf("the pane %s has a rectangle, but nothing is put there: add it to Compose in ui/pane/compose.go", field.Name())
		}
	}
	for field := range fields("ui/pane", "Parts").Fields() {
		if !slices.Contains(u.of[field], "ui/view.go") {
			t.Errorf("the pane %s is not drawn: add it to parts in ui/view.go", field.Name())
		}
	}
}

// selected returns the names that a function of a package selects, as in x.name. If functions or methods of the
// package have one of these names, the names that they select are returned, too.
func (u *uses) selected(pkg, function string) map[string]bool {
	selected, open := map[string]bool{}, []string{function}
	for len(open) > 0 {
		name := open[0]
		open = open[1:]
		for _, f := range u.files[pkg] {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); !ok || d.Name.Name != name {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && !selected[s.Sel.Name] {
						selected[s.Sel.Name] = true
						open = append(open, s.Sel.Name)
					}
					return true
				})
			}
		}
	}
	return selected
}
