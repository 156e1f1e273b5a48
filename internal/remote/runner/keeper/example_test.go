package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"slipway/internal/remote/runner/keeper"
)

// A program runs under a lease of a minute, which nobody renews. The main function of this test's binary, TestMain,
// calls Called and Main.
func Example() {
	dir, err := os.MkdirTemp("", "keeper-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	lease := keeper.Lease{ID: "lease_1", End: keeper.Now().Add(time.Minute), Length: time.Minute}
	handle, err := keeper.Start(filepath.Join(dir, ".keepers"), "dep_1", lease, keeper.Program{
		Command: `read name; echo "Hello, $name."; echo "and why" >&2; exit 3`, Dir: dir, Input: []byte("world\n"),
	}, os.Environ(), nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	output := handle.Output(0)
	defer output.Close()
	record, err := output.Next(ctx)
	for ; err == nil; record, err = output.Next(ctx) {
		if !record.Stderr {
			fmt.Println(record.Line)
		}
	}
	if !errors.Is(err, io.EOF) {
		log.Fatal(err)
	}
	end, err := handle.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("exit code %d: %s\n", end.ExitCode, end.Stderr)
	if err := handle.Remove(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Hello, world.
	// exit code 3: and why
}
