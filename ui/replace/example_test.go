package replace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"specula/ui/replace"
)

// Write calls the function may right before it replaces the old content. If may returns an error,
// the old content stays.
func ExampleWrite() {
	folder, err := os.MkdirTemp("", "replace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "chat.json")
	fmt.Println(replace.Write(replace.Disk{}, path, []byte("first"), nil))
	fmt.Println(replace.Write(replace.Disk{}, path, []byte("second"), func() error { return errors.New("not now") }))
	content, _ := os.ReadFile(path)
	fmt.Printf("%s\n", content)
	// Output:
	// <nil>
	// not now
	// first
}
