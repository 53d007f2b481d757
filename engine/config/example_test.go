package config_test

import (
	"fmt"

	"specula/engine/config"
)

// A setting is changed by its name in the file, its flag or its slash command; all go through the
// same check.
func Example() {
	c := config.Default()
	fmt.Println(c.Set("temp", "0"))
	fmt.Println(c.Set("gamma", "100"))
	fmt.Println(c.Set("gama", "6"))
	temperature, _ := c.Get("sampling.temperature")
	fmt.Println(temperature)
	// Output:
	// <nil>
	// speculation.gamma cannot be 100: allowed is an integer from 0 to 32
	// there is no setting "gama"; did you mean gamma?
	// 0
}

// A mistake in a file is told with its line.
func ExampleDecode() {
	_, _, err := config.Decode("config.toml", []byte("[sampling]\ntemprature = 0.2\n"))
	fmt.Println(err)
	// Output: config.toml:2: there is no setting "sampling.temprature"; did you mean sampling.temperature?
}
