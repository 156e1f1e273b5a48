package inputvalues_test

import (
	"strings"
	"testing"

	"slipway/internal/base/fault"
)

const hunter = `hunter2`

// silent fails if a violation is missing, or repeats the secret.
func silent(t *testing.T, what, want string, violations []fault.Violation) {
	t.Helper()
	if got := rulesOf(violations); got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
	for _, v := range violations {
		if strings.Contains(v.Message, hunter) || !strings.Contains(v.Message, "looks like a secret") {
			t.Errorf("%s: %s %s", what, v.Pointer, v.Message)
		}
	}
}

func TestMessagesOfValuesRepeatNoSecret(t *testing.T) {
	t.Parallel()
	digits := `"patterns":[{"pattern":"^[0-9]+$","message":"digits"}]`
	pair := in("name", "string") + "," + in("value", "string", digits)
	for _, c := range []struct{ list, values, previous, want string }{
		{in("db_password", "string", digits), `{"db_password":"hunter2"}`, "", "pattern"},
		{in("apiKey", "number"), `{"apiKey":"hunter2"}`, "", "type"},
		{in("apiKey", "string", `"values":["hunter2"]`), `{"apiKey":"hunter22"}`, "", "not_in_values"},
		{in("token", "text", `"immutable":true`), `{"token":"hunter22"}`, `{"token":"hunter2"}`, "immutable"},
		{in("secret", "object", `"immutable":true`), `{"secret":{"a":"hunter22"}}`, `{"secret":{"a":"hunter2"}}`, "immutable"},
		{in("box", "object", `"immutable":true`), `{"box":{"password":"hunter22"}}`, `{"box":{"password":"hunter2"}}`, "immutable"},
		{in("box", "array", `"immutable":true`), `{"box":["--token","hunter22"]}`, `{"box":["--token","hunter2"]}`, "immutable"},
		{in("box", "array", `"immutable":true`), `{"box":[{"name":"PASSWORD","value":"hunter22"}]}`, `{"box":[]}`, "immutable"},
		{arrayOf("env", pair), `{"env":[{"name":"DB_PASSWORD","value":"hunter2"}]}`, "", "pattern"},
		{mapOf("stores", in("password", "string", digits)), `{"stores":{"db":{"password":"hunter2"}}}`, "", "pattern"},
		{mapOf("secrets", in("of", "string", digits)), `{"secrets":{"db":{"of":"hunter2"}}}`, "", "pattern"},
		{in("env", "keyvalue"), `{"env":{"DB_PASSWORD":["hunter2"],"API_KEY":true}}`, "", "type type"},
		{in("command", "string_array", `"values":["run","--password"]`), `{"command":["run","--password","hunter2"]}`, "", "not_in_values"},
		{in("command", "string_array", digits), `{"command":["PASSWORD=hunter2"]}`, "", "pattern"},
		{in("mode", "string", `"values":["a"]`), `{"mode":"TOKEN=hunter2"}`, "", "not_in_values"},
		{in("url", "text", digits), `{"url":"postgres://app:hunter2@db/app"}`, "", "pattern"},
		{in("source", "gitrepo"), `{"source":"https://me:hunter2@host/owner/repo"}`, "", "format"},
		{in("password", "gitrepo"), `{"password":"hunter2"}`, "", "format"},
		{in("of", "$ref:net"), `{"of":"inst_ --password hunter2"}`, "", "format"},
		{mapOf("m", in("token", "string"), `"key":{"from_fields":["token"],`+digits+`}`), `{"m":{"a":{"token":"hunter2"}}}`, "", "pattern"},
		{in("a", "text"), `"TOKEN=hunter2"`, "", "type"},
	} {
		silent(t, c.list+" "+c.values, c.want, validated(t, c.list, c.values, c.previous))
	}
}

func TestMessagesRepeatWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ list, values string }{
		{in("a", "text", lower), `{"a":"Hunter2"}`},
		{in("env", "keyvalue"), `{"env":{"MODE":1,"DB_PASSWORD":"x"}}`},
		{arrayOf("env", in("name", "string")+","+in("value", "string", lower)), `{"env":[{"name":"MODE","value":"FAST"}]}`},
		{in("command", "string_array", lower), `{"command":["run","FAST","token"]}`},
	} {
		violations := validated(t, c.list, c.values, "")
		if len(violations) != 1 || strings.Contains(violations[0].Message, "secret") {
			t.Errorf("%s: %v", c.values, violations)
		}
	}
}
