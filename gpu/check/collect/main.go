// Collect makes a report of the results that on_device.sh left in a folder:
// kernels/cuda/reports/DATE-GPU.md for people and DATE-GPU.json beside it for programs. It compares
// what was measured with the goals of goals.txt. Run it in the root of the repository:
//
//	go run ./gpu/check/collect FOLDER
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}

func run(arguments []string, now time.Time) error {
	if len(arguments) != 1 {
		return errors.New("the folder of results is missing: collect FOLDER")
	}
	goals, err := os.ReadFile("gpu/check/goals.txt")
	if err != nil {
		return fmt.Errorf("reading the goals, from the root of the repository: %w", err)
	}
	r, err := read(arguments[0], string(goals))
	if err != nil {
		return err
	}
	r.Date = now.Format(time.DateOnly)
	base := filepath.Join("kernels/cuda/reports", r.Date+"-"+slug(r.GPU))
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".json", append(data, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(base+".md", []byte(r.markdown()), 0o644); err != nil {
		return err
	}
	fmt.Println(base + ".md")
	return nil
}

var outsideNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

func slug(name string) string { return strings.Trim(outsideNames.ReplaceAllString(name, "-"), "-") }
