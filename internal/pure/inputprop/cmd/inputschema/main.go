// Command inputschema writes the JSON Schema of properties to a file.
package main

import (
	"fmt"
	"os"

	"slipway/internal/pure/inputprop"
)

func main() {
	if err := os.WriteFile(os.Args[1], inputprop.JSONSchema(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "inputschema:", err)
		os.Exit(1)
	}
}
