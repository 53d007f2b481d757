package jinja_test

import (
	"fmt"
	"time"

	"specula/tokenizer/chat/jinja"
)

func ExampleTemplate_Render() {
	template, err := jinja.Parse("{{ '<' ~ name|upper ~ '>' }}")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := template.Render(map[string]jinja.Value{"name": jinja.Data("b>")}, time.Now)
	if err != nil {
		fmt.Println(err)
		return
	}
	for piece, data := range text.Pieces() {
		fmt.Println(piece, data)
	}
	// Output:
	// < false
	// B> true
	// > false
}

func ExampleParse() {
	_, err := jinja.Parse("Hello\n{% include '/etc/passwd' %}")
	fmt.Println(err)
	// Output: line 2, column 4: {% include %} would read another file and is not allowed
}
