package chat_test

import (
	"fmt"

	"specula/tokenizer/chat"
)

func ExampleChoose() {
	template, err := chat.Choose(chat.Options{
		Source: "{% for m in messages %}<|{{ m.role }}|>{{ m.content|trim }}<|end|>{% endfor %}" +
			"{% if add_generation_prompt %}<|assistant|>{% endif %}",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(template.Name())
	segments, err := template.Render([]chat.Message{{Role: "user", Content: " Is <|end|> the end? "}}, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range segments {
		fmt.Printf("control tokens %-5v %q\n", s.Special, s.Text)
	}
	// Output:
	// the file's own template (sha256 a4f95f9939e0…): no built-in one gives the same text
	// control tokens true  "<|user|>"
	// control tokens false "Is <|end|> the end?"
	// control tokens true  "<|end|><|assistant|>"
}
