package jinja

import (
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

func parseIf(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	node := &ifNode{at: here}
	for tag := "if"; tag != "endif"; {
		var b branch
		var err error
		if tag != "else" {
			if b.condition, err = parseExpression(args); err != nil {
				return nil, err
			}
		}
		if err := finished(args); err != nil {
			return nil, err
		}
		ends := []string{"elif", "else", "endif"}
		if tag == "else" {
			ends = ends[2:]
		}
		body, next, err := p.WrapUntil(ends...)
		if err != nil {
			return nil, err
		}
		b.body = body.Nodes
		node.branches = append(node.branches, b)
		tag, args = body.EndTag, next
	}
	return node, finished(args)
}

func parseFor(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	node := &forNode{at: here}
	for {
		name := args.Match(tokens.Name)
		if name == nil {
			return nil, args.Error("the name of a loop variable is missing", args.Current())
		}
		node.targets = append(node.targets, name.Val)
		if args.Match(tokens.Comma) == nil {
			break
		}
	}
	if args.Match(tokens.In) == nil {
		return nil, args.Error("in is missing in a for loop", args.Current())
	}
	var err error
	if node.list, err = parseExpression(args); err != nil {
		return nil, err
	}
	if args.MatchName("if") != nil {
		if node.condition, err = parseExpression(args); err != nil {
			return nil, err
		}
	}
	if recursive := args.MatchName("recursive"); recursive != nil {
		return nil, args.Error("recursive loops are not allowed", recursive)
	}
	if err := finished(args); err != nil {
		return nil, err
	}
	body, end, err := p.WrapUntil("else", "endfor")
	if err != nil {
		return nil, err
	}
	node.body = body.Nodes
	if body.EndTag == "else" {
		node.otherwise, err = parseLastBody(p, "endfor")
		return node, err
	}
	return node, finished(end)
}

func parseSet(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	node := &setNode{at: here}
	for {
		target, err := args.ParseVariableOrLiteral()
		if err != nil {
			return nil, err
		}
		switch target.(type) {
		case *nodes.Name, *nodes.GetAttribute:
			node.targets = append(node.targets, target)
		default:
			return nil, args.Error("only a name or an attribute of a namespace can be set", here.token)
		}
		if args.Match(tokens.Comma) == nil {
			break
		}
	}
	var err error
	if args.Match(tokens.Assign) == nil {
		if err := finished(args); err != nil {
			return nil, err
		}
		node.body, err = parseLastBody(p, "endset")
		return node, err
	}
	for {
		value, err := parseConditional(args)
		if err != nil {
			return nil, err
		}
		node.values = append(node.values, value)
		if args.Match(tokens.Comma) == nil {
			return node, finished(args)
		}
	}
}

func parseMacro(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	node := &macroNode{at: here}
	name := args.Match(tokens.Name)
	if name == nil || args.Match(tokens.LeftParenthesis) == nil {
		return nil, args.Error("a macro needs a name and parameters in parentheses", args.Current())
	}
	node.name = name.Val
	for args.Match(tokens.RightParenthesis) == nil {
		if len(node.parameters) > 0 && args.Match(tokens.Comma) == nil {
			return nil, args.Error("a comma is missing between parameters", args.Current())
		}
		name := args.Match(tokens.Name)
		if name == nil {
			return nil, args.Error("the name of a parameter is missing", args.Current())
		}
		next := parameter{name: name.Val}
		if args.Match(tokens.Assign) != nil {
			var err error
			if next.fallback, err = parseExpression(args); err != nil {
				return nil, err
			}
		}
		node.parameters = append(node.parameters, next)
	}
	if err := finished(args); err != nil {
		return nil, err
	}
	var err error
	node.body, err = parseLastBody(p, "endmacro")
	return node, err
}

func parseCall(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	e, err := parseExpression(args)
	if err != nil {
		return nil, err
	}
	call, ok := e.(*nodes.Call)
	if !ok {
		return nil, args.Error("{% call %} needs the call of a macro", here.token)
	}
	if err := finished(args); err != nil {
		return nil, err
	}
	body, err := parseLastBody(p, "endcall")
	return &callNode{at: here, call: call, body: body}, err
}

func parseFilter(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	node := &filterNode{at: here}
	for {
		filter, err := args.ParseFilter()
		if err != nil {
			return nil, err
		}
		node.filters = append(node.filters, filter)
		if args.Match(tokens.Pipe) == nil {
			break
		}
	}
	if err := finished(args); err != nil {
		return nil, err
	}
	var err error
	node.body, err = parseLastBody(p, "endfilter")
	return node, err
}

func parseGeneration(p, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	if err := finished(args); err != nil {
		return nil, err
	}
	body, err := parseLastBody(p, "endgeneration")
	return &generationNode{at: here, body: body}, err
}

func parseBreak(_, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	return &breakNode{here}, finished(args)
}

func parseContinue(_, args *parser.Parser, here at) (nodes.ControlStructure, error) {
	return &continueNode{here}, finished(args)
}
