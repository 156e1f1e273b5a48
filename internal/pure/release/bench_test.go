package release_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/release"
)

// shipped returns a release of about 2 KB.
func shipped() release.Unsealed {
	var inputs []string
	for i := range 40 {
		inputs = append(inputs, fmt.Sprintf(`"input_%02d":"a value of some length, %d"`, i, i))
	}
	return release.Unsealed{
		ModuleVersionID: "mver_01h455vb4pex5vsknk084sn02q", Kind: "aws:ecs",
		Inputs: strictjson.MustParse("{" + strings.Join(inputs, ",") + "}"), Artifact: strictjson.MustParse(`{"image":"web:1.4.2"}`),
	}
}

func BenchmarkSeal(b *testing.B) {
	unsealed := shipped()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := release.Seal(unsealed); err != nil {
			b.Fatal(err)
		}
	}
}

// Open proves a release by its digest, as each replay does.
func BenchmarkOpen(b *testing.B) {
	sealed, err := release.Seal(shipped())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := release.Open(sealed.Digest, sealed.JSON); err != nil {
			b.Fatal(err)
		}
	}
}
