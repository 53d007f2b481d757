package jinja

import (
	"errors"
	"fmt"

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// at is the position of a statement in the source.
type at struct{ token *tokens.Token }

func (a at) Position() *tokens.Token { return a.token }
func (a at) String() string          { return a.token.String() }

type (
	ifNode struct {
		at
		branches []branch // the first whose condition holds runs; a nil condition is else
	}
	branch struct {
		condition nodes.Expression
		body      []nodes.Node
	}
	forNode struct {
		at
		targets   []string
		list      nodes.Expression
		condition nodes.Expression // nil: every element
		body      []nodes.Node
		otherwise []nodes.Node // runs if there was no element
	}
	setNode struct {
		at
		targets []nodes.Expression // *nodes.Name, or *nodes.GetAttribute of a namespace
		values  []conditional      // nil: the output of the body
		body    []nodes.Node
	}
	macroNode struct {
		at
		name       string
		parameters []parameter
		body       []nodes.Node
	}
	parameter struct {
		name     string
		fallback nodes.Expression // nil: undefined
	}
	callNode struct { // {% call f() %}body{% endcall %}
		at
		call *nodes.Call
		body []nodes.Node
	}
	filterNode struct { // {% filter f %}body{% endfilter %}
		at
		filters []*nodes.FilterCall
		body    []nodes.Node
	}
	generationNode struct { // marks the assistant's words for training; here only a block
		at
		body []nodes.Node
	}
	breakNode    struct{ at }
	continueNode struct{ at }
)

// conditional is "value if condition else alternative"; without a condition it is just the value.
type conditional struct {
	value, condition nodes.Expression
	alternative      *conditional
}

// parse builds the tree of a template.
func parse(stream *tokens.Stream) (*nodes.Template, error) {
	p := parser.NewParser("chat template", stream, config.New(), nil, &statements{})
	root, err := p.Parse()
	if err == nil {
		return root, nil
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause // gonja wraps the error once per enclosing statement
	}
	if syntax, ok := err.(*parser.SyntaxError); ok {
		// The message may quote the template, in which a number can be as long as the file. So it
		// is cut.
		if syntax.Raw == "" {
			return nil, fmt.Errorf("line %d: %.200s", syntax.Line, syntax.Message)
		}
		return nil, fmt.Errorf("line %d: %.200s, near %.40q", syntax.Line, syntax.Message, syntax.Raw)
	}
	return nil, err
}

// statements has the parsers of the allowed statements, and counts how many statements are open.
type statements struct{ depth int }

// Get is called by gonja's parser for every statement.
func (s *statements) Get(name string) (parser.ControlStructureParser, bool) {
	parsers := map[string]func(p, args *parser.Parser, here at) (nodes.ControlStructure, error){
		"if": parseIf, "for": parseFor, "set": parseSet, "macro": parseMacro, "call": parseCall, "filter": parseFilter,
		"generation": parseGeneration, "break": parseBreak, "continue": parseContinue,
	}
	parse, ok := parsers[name]
	return func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		here := at{args.Current()}
		if here.token.Line == 0 { // a tag without arguments
			here.token = p.Current()
		}
		if !ok {
			return nil, p.Error(refusal(name), here.token)
		}
		if s.depth++; s.depth > maxNesting {
			return nil, p.Error(fmt.Sprintf("more than %d statements inside each other", maxNesting), here.token)
		}
		defer func() { s.depth-- }()
		return parse(p, args, here)
	}, true
}

func refusal(statement string) string {
	switch statement {
	case "include", "import", "from", "extends":
		return fmt.Sprintf("{%% %s %%} would read another file and is not allowed", statement)
	}
	return fmt.Sprintf("{%% %.40s %%} is not allowed in a chat template, or has no beginning", statement)
}

// finished reports an error if a tag has more arguments than its statement takes.
func finished(args *parser.Parser) error {
	if args.End() {
		return nil
	}
	return args.Error("this was not expected in the tag; an if-else inside an expression is not supported", args.Current())
}

func parseExpression(args *parser.Parser) (nodes.Expression, error) {
	e, err := args.ParseExpression()
	if err == nil && e == nil {
		err = args.Error("an expression is missing", args.Current())
	}
	return e, err
}

func parseConditional(args *parser.Parser) (c conditional, err error) {
	if c.value, err = parseExpression(args); err != nil || args.MatchName("if") == nil {
		return c, err
	}
	if c.condition, err = parseExpression(args); err != nil || args.MatchName("else") == nil {
		return c, err
	}
	alternative, err := parseConditional(args)
	c.alternative = &alternative
	return c, err
}

// parseLastBody reads up to the end tag, which takes no arguments.
func parseLastBody(p *parser.Parser, end string) ([]nodes.Node, error) {
	body, args, err := p.WrapUntil(end)
	if err != nil {
		return nil, err
	}
	return body.Nodes, finished(args)
}
