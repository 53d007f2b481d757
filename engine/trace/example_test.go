package trace_test

import (
	"fmt"
	"strings"
	"time"

	"specula/engine/event"
	"specula/engine/trace"
)

func Example() {
	var file strings.Builder
	w := trace.NewWriter(&file, func() time.Time { return time.Unix(0, 0) })
	if err := w.Write(event.Notice{Level: "info", Text: "hello"}); err != nil {
		fmt.Println(err)
	}
	fmt.Print(file.String())
	for record, err := range trace.Read(strings.NewReader(file.String())) {
		fmt.Println(record.AtMS, record.Event, err)
	}
	// Output:
	// {"format":"specula-trace","version":1}
	// {"kind":"notice","atMS":0,"data":{"level":"info","text":"hello"}}
	// 0 {info hello} <nil>
}
