package constrain

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas, each with texts that match and texts that do not.
var schemas = []struct {
	name, schema string
	yes, no      []string
}{
	{"any", `true`, []string{`{"a":[1,-2.5e3,{}],"b":"x\n\u00e9"}`, `null`, `"é"`, "[\n  1, 2]"}, []string{``, `{`, `[1,]`, `01`, `nul`, `"a`, "\"\n\"", `"\ud800"`}},
	{"person", `{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":5},"age":{"type":"integer","minimum":0,"maximum":150},
	   "tags":{"type":"array","items":{"enum":["a","b"]},"maxItems":3}},"required":["name","age"],"additionalProperties":false}`,
		[]string{`{"name":"Ann","age":7}`, `{"name": "äöüßé", "age": 150, "tags": ["a","b","a"]}`, `{"name":"\"","age":0,"tags":[]}`},
		[]string{`{}`, `{"name":"","age":7}`, `{"name":"abcdef","age":7}`, `{"age":7,"name":"Ann"}`, `{"name":"A","age":151}`, `{"name":"A","age":7,"tags":["c"]}`,
			`{"name":"A","age":7,"tags":["a","a","a","a"]}`, `{"name":"A","age":7,"x":1}`, `{"name":"A","age":7,}`, `{"name":"A","age":07}`, `{"name":"A","age":-1}`}},
	{"optional", `{"properties":{"a":{"const":1},"b":{"const":null},"c":{"type":"boolean"}}}`,
		[]string{`{}`, `{"a":1}`, `{"b":null,"c":true}`, `{"a":1,"c":false}`, `{ "c":true }`}, []string{`{"c":true,"a":1}`, `{,}`, `{"a":1,}`, `{"d":1}`, `[]`}},
	{"more", `{"type":"object","properties":{"ab":{"type":"integer"},"a":{"type":"null"}},"additionalProperties":{"type":"boolean"},"required":["z"]}`,
		[]string{`{"ab":1,"a":null,"z":true,"abc":false,"":true}`, `{"z":false}`, `{"a":null,"z":true,"b":true}`}, []string{`{}`, `{"z":1}`, `{"z":true,"a":true}`, `{"z":true,"ab":true}`, `{"z":true,"\u0061":true}`}},
	{"tree", `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"left":{"$ref":"#/$defs/node"},
	   "right":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["v","right"]}}}`,
		[]string{`{"v":1,"right":null}`, `{"v":1,"left":{"v":2,"right":null},"right":{"v":3,"right":null}}`}, []string{`{"v":1}`, `null`, `{"v":1,"left":null,"right":null}`}},
	{"tuple", `{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":{"type":"null"},"minItems":1,"maxItems":4}`,
		[]string{`["a"]`, `["a",true]`, `["a",true,null,null]`}, []string{`[]`, `[true]`, `["a",true,1]`, `["a",true,null,null,null]`}},
	{"short tuple", `{"prefixItems":[{"const":1},{"const":2},{"const":3}],"maxItems":2}`, []string{`[]`, `[1]`, `[1,2]`}, []string{`[1,2,3]`, `[2]`}},
	{"three", `{"type":"array","items":{"type":"integer"},"minItems":3,"maxItems":3}`, []string{`[1,2,3]`, `[ 1, 2, 3 ]`}, []string{`[1,2]`, `[1,2,3,4]`, `[]`}},
	{"none", `{"type":"array","maxItems":0}`, []string{`[]`, `[ ]`}, []string{`[1]`}},
	{"bounds", `{"type":"integer","minimum":-105,"exclusiveMaximum":23}`, []string{`-105`, `-99`, `-1`, `0`, `9`, `22`}, []string{`-106`, `23`, `-0`, `00`, `100`, `2.0`, `-110`}},
	{"one side", `{"type":"integer","minimum":950}`, []string{`950`, `1000`, `999999999999999`}, []string{`949`, `0`, `-950`, `1000000000000000`}},
	{"decimal", `{"type":"number","exclusiveMinimum":0,"maximum":10}`, []string{`0.1`, `10`, `10.0`, `9.99`, `1`}, []string{`0`, `0.0`, `-1`, `10.01`, `11`, `-0.1`}},
	{"negative", `{"type":"number","minimum":-3,"exclusiveMaximum":0}`, []string{`-3`, `-3.00`, `-0.5`, `-2.9`}, []string{`0`, `-0`, `-0.0`, `-3.01`, `1`}},
	{"types", `{"type":["integer","string","null"],"maxLength":2}`, []string{`1`, `"ab"`, `null`}, []string{`"abc"`, `1.5`, `true`}},
	{"pattern", `{"type":"string","pattern":"^[A-Z]{2}\\d+(\"|\\\\)?$"}`, []string{`"AB1"`, `"AB12\""`, `"AB1\\"`}, []string{`"AB"`, `"AB1""`, `"xAB1"`}},
	{"search", `{"type":"string","pattern":"ab|^c"}`, []string{`"xxabxx"`, `"c"`, `"cab"`, `"\tab"`}, []string{`"xc"`, `"a b"`, `""`}},
	{"date", `{"type":"string","format":"date"}`, []string{`"2024-12-31"`}, []string{`"2024-13-01"`, `"2024-04-31"`, `"2023-02-29"`, `""`}},
	{"date-time", `{"type":"string","format":"date-time"}`, []string{`"2024-12-31T23:59:59Z"`, `"2024-12-31T23:59:59.5+01:00"`}, []string{`"2024-12-31T24:00:00Z"`, `"2024-12-31"`}},
	{"uuid", `{"type":"string","format":"uuid"}`, []string{`"123e4567-e89b-12d3-a456-426614174000"`}, []string{`"123e4567"`}},
	{"email", `{"type":"string","format":"email"}`, []string{`"a.b@c.de"`}, []string{`"a.b@"`, `"a@b@c.de"`, `"a..b@c.de"`}},
	{"ipv4", `{"type":"string","format":"ipv4"}`, []string{`"127.0.0.1"`, `"255.1.20.199"`}, []string{`"256.0.0.1"`, `"1.2.3"`, `"01.2.3.4"`}},
	{"time", `{"type":"string","format":"time"}`, []string{`"01:02:03Z"`}, []string{`"1:02:03Z"`, `"25:00:00Z"`}},
	{"enum", `{"enum":["a\"b",1,{"x":[1,2.50]},null,true]}`, []string{`"a\"b"`, `1`, `{"x":[1,2.50]}`, `null`, `true`}, []string{`2`, `false`, `"a"`}},
	{"typed enum", `{"type":["integer","null"],"enum":[1,1.5,"x",null]}`, []string{`1`, `null`}, []string{`1.5`, `"x"`}},
	{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"number"}}},{"$ref":"#/$defs/b"}],"required":["b"],"$defs":{"b":{"properties":{"b":{"const":2},"a":{"type":"integer"}},"required":["a"]}}}`,
		[]string{`{"a":1,"b":2}`}, []string{`{"b":2}`, `{"a":1}`, `{"a":1.5,"b":2}`}},
	{"branches", `{"type":"object","properties":{"k":{"enum":["x","y"]}},"required":["k"],"anyOf":[{"properties":{"n":{"type":"integer"}},"required":["n"]},{"properties":{"s":{"type":"string"}}}]}`,
		[]string{`{"k":"x","n":1}`, `{"k":"y"}`, `{"k":"x","s":"t"}`}, []string{`{"n":1}`, `{"k":"z"}`}},
	{"oneOf", `{"oneOf":[{"type":"object","properties":{"t":{"const":"a"},"v":{"type":"integer"}},"required":["t","v"]},{"type":"object","properties":{"t":{"const":"b"}},"required":["t"]},{"type":"null"}]}`,
		[]string{`{"t":"a","v":1}`, `{"t":"b"}`, `null`}, []string{`{"t":"a"}`, `{"t":"c"}`}},
	{"list", `{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#"}},"required":["value"]}`, []string{`{"value":1,"next":{"value":2,"next":{"value":3}}}`}, []string{`{"value":1,"next":{}}`}},
}

// All generated texts must be valid for an independent validator. The texts above must match or
// not, as listed.
func TestSchemaAgreesWithAValidator(t *testing.T) {
	for _, tt := range schemas {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Schema(t.Context(), tt.schema)
			if err != nil {
				t.Fatal(err)
			}
			valid := validator(t, tt.schema)
			for _, text := range tt.yes {
				if !matches(t, c, text) {
					t.Errorf("%s should fit", text)
				}
				if err := valid(text); err != nil {
					t.Errorf("%s: the test is wrong, the validator says: %v", text, err)
				}
			}
			for _, text := range tt.no {
				if matches(t, c, text) {
					t.Errorf("%s should not fit", text)
				}
			}
			a := newAutomaton(t.Context(), c, everyByte(), false)
			rng := rand.New(rand.NewPCG(3, 4))
			for range 150 {
				text := randomText(t, a, rng, rng.IntN(80), `{}[]",:0123456789abtrue-.\`)
				if err := valid(text); err != nil {
					t.Fatalf("%s was generated; the validator says: %v", text, err)
				}
			}
		})
	}
}

// validator checks JSON, with formats.
func validator(t testing.TB, schema string) func(text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		var plain any
		if err := json.Unmarshal([]byte(text), &plain); err != nil {
			return err
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return err
		}
		return compiled.Validate(value)
	}
}

func TestSchemaErrorsNameThePlace(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"age":{"multipleOf":3}}}`:     "#/properties/age/multipleOf: this keyword is not supported",
		`{"properties":{"a/b":{"items":{"not":{}}}}}`: "#/properties/a~1b/items/not",
		`{"type":"strin"}`:                            `#/type: "strin" is no type`,
		`{"$ref":"http://x"}`:                         "#/$ref",
		`{"$ref":"#/$defs/x"}`:                        "there is nothing at #/$defs/x",
		`{"$ref":"#"}`:                                "# can begin with itself",
		`{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`: "#/$defs/a can begin with itself",
		`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`:              "no reply of finite length",
		`{"oneOf":[{"type":"string"},{"maxLength":3}]}`:                                   "#/oneOf: a value might satisfy both part 0 and part 1",
		`{"type":"string","pattern":"a(?=b)"}`:                                            "#/pattern",
		`{"type":"string","pattern":"a","minLength":2}`:                                   "only one is supported",
		`{"type":"string","format":"uri"}`:                                                `#/format: "uri" is not supported; there are date`,
		`{"type":"string","minLength":3,"maxLength":2}`:                                   "#/maxLength: 2 is less than minLength, which is 3",
		`{"type":"array","minItems":20000}`:                                               "at most 10000",
		`{"type":"integer","minimum":0.5}`:                                                "#/minimum: only whole numbers",
		`{"type":"integer","minimum":3,"maximum":2}`:                                      "no number is within",
		`{"type":`:                    "not JSON: line 1: it ends too early",
		"{\n\"type\":1,\n\"type\":2}": `line 3: the key "type" stands twice`,
		`{"properties":{"a":{"$ref":"#","description":"x","type":"object"}}}`: "may have nothing beside its $ref",
		`[]`:                            "a schema must be an object",
		strings.Repeat(`{"items":`, 70): "nests more than 64 deep",
		`{"allOf":[{"properties":{"a":true},"additionalProperties":false},{"properties":{"b":true}}]}`: "put the properties together",
		`{"enum":["a"],"minLength":3}`: "#/minLength: together with enum",
		`false`:                        "no reply of finite length",
	} {
		if _, err := Schema(t.Context(), schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", schema, err, want)
		}
	}
}
