package jsregexp_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"slipway/internal/base/jsregexp"
)

// The first pattern has a lookahead, which Go's regexp does not know; the last takes a browser longer than anybody
// waits.
func ExampleEngine_Test() {
	engine, err := jsregexp.New(1)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	for _, name := range []string{"web-1", "admin"} {
		ok, _, err := engine.Test(context.Background(), `^(?!admin$)[a-z0-9-]+$`, name, jsregexp.MaxSteps)
		fmt.Println(name, ok, err)
	}
	_, err = engine.Compile(context.Background(), `[a-z`, jsregexp.MaxSteps)
	fmt.Println(err)
	_, _, err = engine.Test(context.Background(), `^(a+)+$`, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", jsregexp.MaxSteps)
	fmt.Println("hangs:", errors.Is(err, jsregexp.ErrTooSlow))
	// Output:
	// web-1 true <nil>
	// admin false <nil>
	// not a regular expression: unexpected end
	// hangs: true
}
