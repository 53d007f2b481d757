package film_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"specula/ui/export/film"
)

// A film of two frames as a recording for asciinema. A marker stands before the second one.
func ExampleFilm_Cast3() {
	f := film.Film{Title: "two words", W: 5, H: 1, Frames: slices.Values([]film.Frame{
		{Screen: "hello"},
		{At: time.Second, Screen: "world", Mark: "round 2"},
	})}
	var file bytes.Buffer
	if err := f.Cast3(&file); err != nil {
		fmt.Println(err)
		return
	}
	_, events, _ := strings.Cut(file.String(), "\n") // the first line has size and colours
	fmt.Print(events)
	// Output:
	// [0,"o","\u001b[?25l\u001b[2J\u001b[Hhello\u001b[m"]
	// [1,"m","round 2"]
	// [0,"o","\u001b[Hworld\u001b[m"]
	// [0,"o","\u001b[m"]
}
