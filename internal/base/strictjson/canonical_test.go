package strictjson_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gowebpki/jcs"

	"slipway/internal/base/strictjson"
)

func canonical(t *testing.T, text string) string {
	t.Helper()
	return string(strictjson.Canonical(parse(t, text)))
}

// The doubles of RFC 8785, appendix B, by their bits.
func TestDoublesAreWrittenAsECMAScriptDoes(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		literal := strconv.FormatFloat(math.Float64frombits(bits), 'e', -1, 64)
		if got := canonical(t, literal); got != want {
			t.Errorf("%016x (%s): got %s, want %s", bits, literal, got, want)
		}
	}
}

func TestNumbersThatAreExactAreWrittenInOneWay(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		"4.50":                                   "4.5",
		"2e-3":                                   "0.002",
		"1E30":                                   "1e+30",
		"1e-10":                                  "1e-10",
		"-0.0":                                   "0",
		"0e999999999999999999999":                "0",
		"1000000000000000000000":                 "1e+21",
		"0.000000000000000000000000001":          "1e-27",
		"0.1":                                    "0.1",
		"-1.50e+1":                               "-15",
		"9007199254740991":                       "9007199254740991",
		"9007199254740993":                       "",
		"12345678901234567890":                   "",
		"333333333.33333329":                     "",
		"0.1000000000000000055511151231257827":   "",
		"3.14159265358979323846":                 "",
		"1e400":                                  "",
		"-1e400":                                 "",
		"1e-400":                                 "",
		"1e-999999999999999999999":               "",
		"1e999999999999999999999":                "",
		"0.30000000000000004":                    "0.30000000000000004",
		"-123456789012345680000":                 "-123456789012345680000",
		"1234567890123456800001":                 "",
		"100000000000000000000000000000000e-30":  "100",
		"0.0000000000000000000000000001234e+028": "1.234",
	} {
		if exact := strictjson.IsExact(literal); exact != (want != "") {
			t.Errorf("%s: exact is %t", literal, exact)
		}
		if want == "" {
			want = literal
		}
		if got := canonical(t, literal); got != want {
			t.Errorf("%s: got %s, want %s", literal, got, want)
		}
	}
}

func TestTextIsEscapedAsLittleAsItCan(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`: `"€$\u000f\nA'B\"\\\\\"/"`,
		`"\b\f\n\r\t\u0000\u001f\u007f"`:                  `"\b\f\n\r\t\u0000\u001f` + "\u007f\"",
		`"\u2028\u2029<&>\ud83d\ude02"`:                   "\"\u2028\u2029<&>😂\"",
		`"\ufffd\\ud800"`:                                 "\"\ufffd\\\\ud800\"",
		`"\ufffd\ud83d\ude02"`:                            "\"\ufffd😂\"",
		`"A\u030a"`:                                       "\"A\u030a\"", // no normalization
		`[ null , true , false , { } , [ ] , "" ]`:        `[null,true,false,{},[],""]`,
	} {
		if got := canonical(t, value); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}

func TestKeysAreOrderedByTheirUTF16Units(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`: `{"\r":2,"1":4,"` + "\u0080" + `":6,"ö":7,"€":1,"😀":5,"` + "\ufb33" + `":3}`,
		`{"10":1,"1":2,"":3,"a":4,"A":5,"aa":6}`:                                      `{"":3,"1":2,"10":1,"A":5,"a":4,"aa":6}`,
		`{"\ud83d\ude80":1,"\ud83d\ude00":2,"\ue000":3,"\ud7ff":4}`:                   "{\"\ud7ff\":4,\"😀\":2,\"🚀\":1,\"\ue000\":3}",
		`{"péché":1,"pêche":2,"peach":3}`:                                             `{"peach":3,"péché":1,"pêche":2}`,
		`{"😀b":1,"😀a":2,"x😀":3,"x":4}`:                                                `{"x":4,"x😀":3,"😀a":2,"😀b":1}`,
		`{"b":{"d":1,"c":2},"a":[{"f":1,"e":2}]}`:                                     `{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}`,
	} {
		if got := canonical(t, value); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}

// Another implementation of RFC 8785 agrees on random values.
func TestAnotherCanonicalizerAgrees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2_000) {
		text := randomJSON(rand.New(rand.NewPCG(seed, 7)), 4)
		want, err := jcs.Transform([]byte(`{"v":` + text + `}`))
		if err != nil {
			t.Fatalf("seed %d: %v in %s", seed, err, text)
		}
		if got := canonical(t, `{"v":`+text+`}`); got != string(want) {
			t.Fatalf("seed %d: %s\ngot  %s\nwant %s", seed, text, got, want)
		}
	}
}

// randomJSON returns a JSON text whose numbers are exact.
func randomJSON(random *rand.Rand, depth int) string {
	keys := []string{"", "a", "A", "aa", "é", "\r", "€", "\ufb33", "😀", "🚀", "~/", "\u0080", "1", "10", "\x00", "\u2028", "\b\f"}
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch random.IntN(kinds) {
	case 0:
		return []string{"null", "true", "false", "0", "-0.0", "1E3", "0.00001"}[random.IntN(7)]
	case 1:
		return strconv.FormatFloat(math.Ldexp(random.NormFloat64(), random.IntN(400)-200), "eg"[random.IntN(2)], -1, 64)
	case 2:
		return strconv.Itoa(random.IntN(1e9))
	case 3:
		return string((&strictjson.Node{Kind: strictjson.String, Text: keys[random.IntN(len(keys))]}).JSON())
	case 4:
		text := "["
		for i := range random.IntN(4) {
			if i > 0 {
				text += ","
			}
			text += randomJSON(random, depth-1)
		}
		return text + "]"
	default:
		n := "{"
		for i, k := range random.Perm(len(keys))[:random.IntN(len(keys))] {
			if i > 0 {
				n += ", "
			}
			n += string((&strictjson.Node{Kind: strictjson.String, Text: keys[k]}).JSON()) + ":" + randomJSON(random, depth-1)
		}
		return n + "}"
	}
}

func TestStringsAreEscapedNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	n := &strictjson.Node{Kind: strictjson.String, Text: "\"\\/<>&\u2028é😀\n\r\t\b\x1f\x7f"}
	want := "\"\\\"\\\\/<>&\u2028é😀\\n\\r\\t\\b\\u001f\x7f\""
	if got := string(n.JSON()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
