package output_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/output"
)

func rules(violations []fault.Violation) []string {
	var found []string
	for _, v := range violations {
		found = append(found, v.Pointer+" "+v.Rule)
	}
	return found
}

// many returns an object of n members with a value.
func many(n int, value string) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"n%d":%s`, i, value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestWhatIsReportedHasToFit(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	lists := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 9_000)+`",`, 7), ",")
	full := lists + `,"` + strings.Repeat("x", output.MaxBytes-len(`{"a":[,""]}`)-len(lists)) + `"`
	for reported, want := range map[string][]string{
		`{}`: nil,
		`{"vpc_id":"vpc-1","_a-B9":null,"n":1.50}`: nil,
		`[]`:                               {"/outputs type"},
		`"a"`:                              {"/outputs type"},
		`{"a.b":1,"ok":1,"":2}`:            {"/outputs/a.b format", "/outputs/ format"},
		`{"9":1,"-a":1,"a b":1}`:           {"/outputs/9 format", "/outputs/-a format", "/outputs/a b format"},
		`{"a/b":1,"ü":1,"a\n":1}`:          {"/outputs/a~1b format", "/outputs/ü format", "/outputs/a\n format"},
		many(200, "0"):                     nil,
		many(202, "0"):                     {"/outputs/n200 max_items", "/outputs/n201 max_items"},
		`{"a":[` + full + `]}`:             nil,
		`{"a":[` + full + `,0]}`:           {"/outputs/a max_size"},
		`{"a":[` + full + `],"b":0,"c":0}`: {"/outputs/b max_size", "/outputs/c max_size"},
		// What no input takes is refused where it is made.
		`{"a":"` + strings.Repeat("ü", 10_000) + `"}`:           nil,
		`{"a":"` + strings.Repeat("ü", 10_001) + `"}`:           {"/outputs/a max_length"},
		`{"a":{"b":[9007199254740993,1]},"c":1e400}`:            {"/outputs/a/b/0 number_precision", "/outputs/c number_precision"},
		`{"` + strings.Repeat("n", 128) + `":0}`:                nil,
		`{"` + strings.Repeat("n", 129) + `":0}`:                {"/outputs/" + strings.Repeat("n", 129) + " format"},
		`{"a":` + nested(63) + `,"b":{"c":` + nested(63) + `}}`: {"/outputs/b max_depth"},
		`{"a":` + nested(64) + `}`:                              {"/outputs/a max_depth"},
	} {
		n, err := strictjson.ParseWithin([]byte(reported), strictjson.Limits{Depth: 100})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, rules(output.Check(n, "/outputs"))); diff != "" {
			t.Errorf("%.60s: want (-), got (+): %s", reported, diff)
		}
	}
}

func TestTheBytesThatFitAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	n := strictjson.MustParse(many(170, `"`+strings.Repeat("é\\n", 100)+`"`))
	var fit *strictjson.Node
	for {
		found := output.Check(n, "")
		if len(found) == 0 {
			break
		}
		fit = &strictjson.Node{Kind: strictjson.Object}
		for i, name := range n.Keys {
			if !slices.ContainsFunc(found, func(v fault.Violation) bool { return v.Pointer == "/"+name }) && len(fit.JSON()) < output.MaxBytes {
				fit.Append(name, n.Items[i])
			}
		}
		n = fit
	}
	if size := len(n.JSON()); size > output.MaxBytes || size < output.MaxBytes-900 {
		t.Errorf("%d bytes fit", size)
	}
}

func TestADeclarationHasNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("d", 1_001)
	found := output.CheckDeclared([]output.Declared{
		{Name: "vpc_id", Description: new("The network.")}, {Name: "a.b"}, {Name: "vpc_id", Secret: true}, {Name: "x", Description: &long},
		{Name: "y", Description: new("a\x00b")},
	}, "/outputs")
	want := []string{"/outputs/1/name format", "/outputs/2/name unique", "/outputs/3/description max_length", "/outputs/4/description control_character"}
	if diff := cmp.Diff(want, rules(found)); diff != "" {
		t.Errorf("want (-), got (+): %s", diff)
	}
	list := make([]output.Declared, 201)
	for i := range list {
		list[i].Name = fmt.Sprint("n", i)
	}
	if found := output.CheckDeclared(list[:200], "/outputs"); found != nil {
		t.Error(found)
	}
	for length, want := range map[int]int{326: 0, 327: 1} { // of four bytes each
		for i := range 200 {
			list[i].Description = new(strings.Repeat("🚀", length))
		}
		if found := output.CheckDeclared(list[:200], "/outputs"); len(found) != want {
			t.Errorf("200 descriptions of %d characters: %v", length, found)
		}
	}
	for i := range list {
		list[i].Description = nil
	}
	if diff := cmp.Diff([]string{"/outputs max_items"}, rules(output.CheckDeclared(list, "/outputs"))); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	declared := []output.Declared{{Name: "admin_token"}, {Name: "license", Secret: true}}
	for reported, want := range map[string]struct {
		kept    string
		secrets []string
	}{
		`{"b":1.50,"a":{"y":null,"x":[1]}}`:                          {`{"b":1.50,"a":{"y":null,"x":[1]}}`, nil},
		`{"db_password":"hunter2","host":"h","license":"abc"}`:       {`{"host":"h"}`, []string{"db_password", "license"}},
		`{"admin_token":"declared as none"}`:                         {`{"admin_token":"declared as none"}`, nil},
		`{"db":{"host":"h","password":"hunter2"},"list":["a"]}`:      {`{"list":["a"]}`, []string{"db"}},
		`{"url":"postgres://app:hunter2@db:5432/app","port":1}`:      {`{"port":1}`, []string{"url"}},
		`{"db_secret":"arn:aws:secretsmanager:eu:1:secret:db"}`:      {`{"db_secret":"arn:aws:secretsmanager:eu:1:secret:db"}`, nil},
		`{"private":{"key":"k"},"a":{"access":{"key":"k"}}}`:         {`{}`, []string{"private", "a"}},
		`{"bearer":"Bearer abc","header":"Bearer 0123456789abcdef"}`: {`{}`, []string{"bearer", "header"}},
		`{"pass":{"word":"w"},"private":{"keys":1,"ip":"10.0.0.1"}}`: {`{"private":{"keys":1,"ip":"10.0.0.1"}}`, []string{"pass"}},
		`{"a":{"sensitive":true,"value":"x"},"b":{"sensitive":false,"value":"x"},"admin_token":[{"sensitive":true}]}`: {
			`{"b":{"sensitive":false,"value":"x"}}`, []string{"a", "admin_token"}},
		`{"apiKey":"k","api_key":true}`: {`{"api_key":true}`, []string{"apiKey"}},
		`{"credentials":{"user":"u"}}`:  {`{}`, []string{"credentials"}},
	} {
		kept, secrets := output.Kept(strictjson.MustParse(reported), declared)
		if got := string(kept.JSON()); got != want.kept || !slices.Equal(secrets, want.secrets) {
			t.Errorf("%s: kept %s without %v, want %s without %v", reported, got, secrets, want.kept, want.secrets)
		}
	}
}

func TestWhatIsDeclaredAndNotReportedIsMissing(t *testing.T) {
	t.Parallel()
	declared := []output.Declared{{Name: "a"}, {Name: "b"}}
	for reported, want := range map[string][]string{`{}`: {"a", "b"}, `{"b":null,"c":1}`: {"a"}, `{"a":1,"b":2}`: nil} {
		if got := output.Missing(strictjson.MustParse(reported), declared); !slices.Equal(got, want) {
			t.Errorf("%s: %v is missing, want %v", reported, got, want)
		}
	}
	if got := output.Missing(nil, declared); len(got) != 2 {
		t.Error(got)
	}
	names := strings.Split(strings.TrimSuffix(strings.Repeat("n,", 23), ","), ",")
	if got, want := output.Names(names), strings.Repeat("n, ", 19)+"n and 3 more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
