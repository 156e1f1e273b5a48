package release_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/release"
)

func content(inputs string) release.Unsealed {
	return release.Unsealed{ModuleVersionID: "mver_1", Kind: "aws:ecs", Inputs: strictjson.MustParse(inputs)}
}

func seal(t *testing.T, c release.Unsealed) release.Sealed {
	t.Helper()
	sealed, err := release.Seal(c)
	if err != nil {
		t.Fatalf("Seal(%s): %v", c.Inputs.JSON(), err)
	}
	return sealed
}

func TestSealedTextHasTheFourMembersInOrder(t *testing.T) {
	t.Parallel()
	c := content(`{"b": 1, "a": true}`)
	want := `{"artifact":null,"inputs":{"a":true,"b":1},"kind":"aws:ecs","moduleVersionId":"mver_1"}`
	if got := seal(t, c).JSON; got != want {
		t.Errorf("without an artifact: got %s, want %s", got, want)
	}
	c.Artifact = strictjson.MustParse(`{"revision": 7}`)
	want = strings.Replace(want, "null", `{"revision":7}`, 1)
	sealed := seal(t, c)
	if sealed.JSON != want {
		t.Errorf("with an artifact: got %s, want %s", sealed.JSON, want)
	}
	// As sha256sum has it.
	if want := "sha256:040c4ec7b37bc78583cb4c6bd1835a77ca8d6ad623f5aa2b21040b87fc480276"; sealed.Digest != want {
		t.Errorf("digest: got %s, want %s", sealed.Digest, want)
	}
}

func TestEqualContentHasOneDigest(t *testing.T) {
	t.Parallel()
	want := seal(t, content(`{"a":{"x":1,"y":[1,2]},"b":"é/","c":100,"d":0.5}`)).Digest
	for name, inputs := range map[string]string{
		"other key order":   `{"d":0.5,"c":100,"b":"é/","a":{"y":[1,2],"x":1}}`,
		"other white space": "\n{ \"a\" :\t{\"x\":1, \"y\":[ 1,2 ]},\r\n\"b\":\"é/\",\"c\":100,\"d\":0.5 }\n",
		"other escapes":     `{"\u0061":{"x":1,"y":[1,2]},"b":"\u00e9\/","c":100,"d":0.5}`,
		"other numerals":    `{"a":{"x":1.0,"y":[10e-1,0.2E+1]},"b":"é/","c":1e2,"d":5.0e-1}`,
	} {
		if got := seal(t, content(inputs)).Digest; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestOtherContentHasAnotherDigest(t *testing.T) {
	t.Parallel()
	base := content(`{"a":[1,2],"b":null}`)
	seen := map[string]string{seal(t, base).Digest: "the base"}
	for name, change := range map[string]func(*release.Unsealed){
		"order of a list":   func(c *release.Unsealed) { c.Inputs = strictjson.MustParse(`{"a":[2,1],"b":null}`) },
		"null, not absent":  func(c *release.Unsealed) { c.Inputs = strictjson.MustParse(`{"a":[1,2]}`) },
		"text, not number":  func(c *release.Unsealed) { c.Inputs = strictjson.MustParse(`{"a":["1",2],"b":null}`) },
		"empty artifact":    func(c *release.Unsealed) { c.Artifact = strictjson.MustParse(`{}`) },
		"kind":              func(c *release.Unsealed) { c.Kind = "terraform" },
		"module version id": func(c *release.Unsealed) { c.ModuleVersionID = "mver_2" },
	} {
		c := base
		change(&c)
		sealed := seal(t, c)
		if other, taken := seen[sealed.Digest]; taken {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[sealed.Digest] = name
	}
}

func TestShuffledKeysGiveTheSameDigest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		tree := randomTree(random, 5)
		one := seal(t, content(write(random, tree)))
		two := seal(t, content(write(random, tree)))
		if one != two {
			t.Fatalf("seed %d:\n%s\n%s", seed, one.JSON, two.JSON)
		}
		c, err := release.Open(one.Digest, one.JSON)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again := seal(t, release.Unsealed{ModuleVersionID: c.ModuleVersionID, Kind: c.Kind, Inputs: strictjson.MustParse(string(c.Inputs))})
		if again != one {
			t.Fatalf("seed %d: sealed again it is\n%s\nnot\n%s", seed, again.JSON, one.JSON)
		}
	}
}

func randomTree(random *rand.Rand, depth int) map[string]any {
	keys := []string{"", "a", "A", "aa", "é", "\r", "€", "\ufb33", "😀", "🚀", "~/", "\u0080", "1", "10", "\x00"}
	tree := map[string]any{}
	for _, i := range random.Perm(len(keys))[:random.IntN(len(keys))] {
		switch random.IntN(4) {
		case 0:
			tree[keys[i]] = random.NormFloat64() * 1e20
		case 1:
			tree[keys[i]] = []any{nil, random.IntN(1000), keys[i]}
		case 2:
			tree[keys[i]] = random.IntN(2) == 0
		default:
			if depth > 0 {
				tree[keys[i]] = randomTree(random, depth-1)
			}
		}
	}
	return tree
}

// write returns a tree as JSON, its keys in random order.
func write(random *rand.Rand, value any) string {
	tree, ok := value.(map[string]any)
	if !ok {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	var members []string
	for name, v := range tree {
		members = append(members, write(random, name)+": "+write(random, v))
	}
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, " ,") + "}"
}

func TestOpenGivesBackWhatWasSealed(t *testing.T) {
	t.Parallel()
	for _, artifact := range []*strictjson.Node{nil, strictjson.MustParse(`{"arn":"td:7","revision":7}`)} {
		given := content(`{"a":"<&>\u2028"}`)
		given.Artifact = artifact
		sealed := seal(t, given)
		got, err := release.Open(sealed.Digest, sealed.JSON)
		if err != nil {
			t.Fatal(err)
		}
		want := release.Content{
			ModuleVersionID: given.ModuleVersionID, Kind: given.Kind, Inputs: json.RawMessage("{\"a\":\"<&>\u2028\"}"), Artifact: artifact.JSON(),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestOneChangedByteIsDetected(t *testing.T) {
	t.Parallel()
	sealed := seal(t, content(`{"a":"text","n":12}`))
	for i := range len(sealed.JSON) {
		changed := []byte(sealed.JSON)
		changed[i] ^= 1
		if _, err := release.Open(sealed.Digest, string(changed)); !errors.Is(err, release.ErrDigestMismatch) {
			t.Fatalf("byte %d changed: got %v", i, err)
		}
	}
	for _, digest := range []string{"", strings.ToUpper(sealed.Digest), strings.TrimPrefix(sealed.Digest, "sha256:")} {
		if _, err := release.Open(digest, sealed.JSON); !errors.Is(err, release.ErrDigestMismatch) {
			t.Errorf("digest %q: got %v", digest, err)
		}
	}
	for _, text := range []string{"", sealed.JSON + " ", " " + sealed.JSON, sealed.JSON[:20]} {
		if _, err := release.Open(sealed.Digest, text); !errors.Is(err, release.ErrDigestMismatch) {
			t.Errorf("content %q: got %v", text, err)
		}
	}
}

func TestInexactInputIsRefusedByPlace(t *testing.T) {
	t.Parallel()
	type place struct{ Pointer, Rule string }
	for name, test := range map[string]struct {
		inputs string
		want   []place
	}{
		"every number at once": {
			`{"a":{"b":[1,9007199254740993]},"c/d":{"~":1e400},"e":1e-400}`,
			[]place{{"/inputs/a/b/1", "number_precision"}, {"/inputs/c~1d/~0", "number_precision"}, {"/inputs/e", "number_precision"}},
		},
		"a list":  {` [{}]`, []place{{"/inputs", "type"}}},
		"null":    {`null`, []place{{"/inputs", "type"}}},
		"nothing": {"", []place{{"/inputs", "required"}}},
	} {
		given := release.Unsealed{ModuleVersionID: "mver_1", Kind: "aws:ecs"}
		if test.inputs != "" {
			given = content(test.inputs)
		}
		_, err := release.Seal(given)
		var refusal *fault.Error
		if !errors.As(err, &refusal) || refusal.Code != fault.RequestInvalid {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		var got []place
		for _, v := range refusal.Violations {
			got = append(got, place{v.Pointer, v.Rule})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestARefusedNumberIsToldToComeAsText(t *testing.T) {
	t.Parallel()
	_, err := release.Seal(content(`{"account":12345678901234567890}`))
	if text := fmt.Sprint(err); !strings.Contains(text, "12345678901234567890: send it as a string") {
		t.Errorf("got %s", text)
	}
}

func TestTheOtherMembersAreCheckedToo(t *testing.T) {
	t.Parallel()
	_, err := release.Seal(release.Unsealed{Kind: "\xff", Inputs: strictjson.MustParse(`{}`), Artifact: strictjson.MustParse(`[]`)})
	text := fmt.Sprint(err)
	for _, want := range []string{"[/moduleVersionId: must not be empty]", "[/kind: must be valid UTF-8", "[/artifact: must be an object, found an array]"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

func TestARefusalStaysSmall(t *testing.T) {
	t.Parallel()
	_, err := release.Seal(content(`{"` + strings.Repeat("long", 20_000) + `":[` + strings.Repeat("1e400,", 9_999) + `1]}`))
	var refusal *fault.Error
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	last := refusal.Violations[len(refusal.Violations)-1]
	if last.Rule != "more_violations" || !strings.Contains(last.Message, "9899 more") {
		t.Errorf("the last violation is %v", last)
	}
	if size := len(err.Error()); size > 40_000 {
		t.Errorf("the refusal has %d bytes", size)
	}
}
