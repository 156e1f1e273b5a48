package release_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slipway/internal/pure/release"
)

func TestNamesThatLookLikeSecretsMaskTheirValues(t *testing.T) {
	t.Parallel()
	for names, masked := range map[string]bool{
		"password PASSWORD DB_PASSWORD dbPassword DBPassword db.password Pass-Word passwd MYSQL_PWD pwd passphrase":        true,
		"secret CLIENT_SECRET secret_key_base token TOKEN API_TOKEN accessToken tokens":                                    true,
		"api_key API-KEY apiKey APIKEY access_key AWS_ACCESS_KEY_ID accessKey private_key privateKey PRIVATE.KEY":          true,
		"credential GOOGLE_CREDENTIALS auth AUTH basic_auth BASIC-AUTH authKey oauth Authorization dsn SENTRY_DSN":         true,
		"connection_string ConnectionString CONNECTION-STRING":                                                             true,
		"name image LOG_LEVEL key public_key_id author AUTHORITY keyboard pass compass dsn2 hidden user address passenger": false,
	} {
		for _, name := range strings.Fields(names) {
			quoted := fmt.Sprintf("%q", name)
			for place, text := range map[string]string{
				"an environment entry": `{"definition":{"containerDefinitions":[{"name":"web","environment":[{"name":` + quoted + `,"value":%s}]}]}}`,
				"an input":             `{` + quoted + `:%s}`,
				"an input's object":    `{"box":{"deep":{` + quoted + `:%s}}}`,
				"an input's list":      `{"box":{` + quoted + `:["same",%s]}}`,
			} {
				got := diff(t, json.RawMessage(fmt.Sprintf(text, `"before"`)), json.RawMessage(fmt.Sprintf(text, `"after"`)))
				if len(got) != 1 || got[0].Kind != release.Changed || got[0].Masked != masked || (got[0].Before == nil) != masked || (got[0].After == nil) != masked {
					t.Errorf("%s in %s: %s, want masked %t", name, place, told(got), masked)
				}
			}
		}
	}
}

func TestValuesThatLookLikeSecretsAreMaskedAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value  string
		masked bool
	}{
		{"postgres://app:hunter2@db:5432/app", true},
		{"redis://:hunter2@cache:6379", true},
		{"see amqp://u:p@h/v for more", true},
		{"https://host:8080/path@v2", false},
		{"https://user@host/path", false},
		{"ssh://git@host/owner/repo", false},
		{"git@host:owner/repo", false},
		{"registry.example:5000/web@sha256:0a1b", false},
		{"Server=db;User Id=app;Password=hunter2;", true},
		{"--password=hunter2", true},
		{"host=db user=app", false},
		{"-----BEGIN RSA PRIVATE KEY-----\nMII", true},
		{"-----BEGIN PRIVATE KEY-----", true},
		{"-----BEGIN CERTIFICATE-----", false},
		{"AKIAIOSFODNN7EXAMPLE", true},
		{"key ASIAIOSFODNN7EXAMPLE.", true},
		{"MAKIAIOSFODNN7EXAMPLE", false},
		{"ghp_" + strings.Repeat("a1", 18), true},
		{"slp_developer_" + strings.Repeat("A", 49), true},
		{"slp_developer", false},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", true},
		{"arn:aws:secretsmanager:eu-west-1:123456789012:secret:db", false},
		{"web:1.4.2", false},
		{"", false},
	} {
		text, err := json.Marshal(map[string]any{"definition": map[string]any{"command": []any{"run", c.value}}})
		if err != nil {
			t.Fatal(err)
		}
		plain := json.RawMessage(`{"definition":{"command":["run","plain"]}}`)
		for _, got := range [][]release.Change{diff(t, text, plain), diff(t, plain, text)} {
			if len(got) != 1 || got[0].Masked != c.masked || (got[0].Before == nil) != c.masked || (got[0].After == nil) != c.masked {
				t.Errorf("%q: %s, want masked %t", c.value, told(got), c.masked)
			}
		}
		// If it is new or gone, it is masked as well.
		for _, got := range [][]release.Change{diff(t, text, nil), diff(t, nil, text)} {
			if i := slices.IndexFunc(got, func(c release.Change) bool { return c.Pointer == "/definition/command/1" }); i < 0 || got[i].Masked != c.masked {
				t.Errorf("%q: %s, want masked %t", c.value, told(got), c.masked)
			}
		}
	}
}

func TestWhatIsNoSecretUnderASecretsNameIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		masked        bool
	}{
		"a switch":                   {`{"auth":true}`, `{"auth":false}`, false},
		"a switch below":             {`{"auth":{"enabled":true}}`, `{"auth":{"enabled":false}}`, false},
		"text below":                 {`{"credentials":{"user":"a"}}`, `{"credentials":{"user":"b"}}`, true},
		"a number":                   {`{"password":1234}`, `{"password":5678}`, true},
		"null to text":               {`{"password":null}`, `{"password":"x"}`, true},
		"null to empty":              {`{"password":null}`, `{"password":""}`, false},
		"a reference":                {`{"secret":"arn:aws:secretsmanager:a"}`, `{"secret":"arn:aws:secretsmanager:b"}`, false},
		"a reference to text":        {`{"secret":"arn:aws:secretsmanager:a"}`, `{"secret":"b"}`, true},
		"an entry's name":            {`{"x":{"environment":[]}}`, `{"x":{"environment":[{"name":"TOKEN"}]}}`, false},
		"what a secret entry reads":  {`{"x":{"secrets":[{"name":"TOKEN","valueFrom":"/a"}]}}`, `{"x":{"secrets":[{"name":"TOKEN","valueFrom":"/b"}]}}`, false},
		"an environment file":        {`{"x":{"environmentFiles":[{"type":"s3","value":"a"}]}}`, `{"x":{"environmentFiles":[{"type":"s3","value":"b"}]}}`, false},
		"an entry that is renamed":   {`{"x":[{"name":"TOKEN","value":"a"},1]}`, `{"x":[{"name":"TITLE","value":"b"},1]}`, true},
		"a key that a user has made": {`{"stores":{"auth-db":{"size":"s"}}}`, `{"stores":{"auth-db":{"size":"l"}}}`, false},
	} {
		for _, change := range diff(t, json.RawMessage(c.before), json.RawMessage(c.after)) {
			if !strings.HasSuffix(change.Pointer, "/name") && change.Masked != c.masked {
				t.Errorf("%s: %s, want masked %t", name, told([]release.Change{change}), c.masked)
			}
		}
	}
}

func TestSecretsAreMaskedAtAnyDepth(t *testing.T) {
	t.Parallel()
	for text, masked := range map[string]bool{
		`{"box":{"secrets":{"db":%s}}}`:                                                               true,
		`{"box":{"secrets":{"db":{"user":{"of":[%s]}}}}}`:                                             true,
		`{"box":[{"credentials":[{"id":%s}]}]}`:                                                       true,
		`{"box":{"app":{"env":[{"name":"API_TOKEN","value":%s}]}}}`:                                   true,
		`{"box":{"app":{"env":[{"name":"API_TOKEN","value":{"of":[%s]}}]}}}`:                          true,
		`{"definition":{"containerDefinitions":[{"command":["run","--password",%s,"--port","80"]}]}}`: true,
		`{"box":{"command":["sh","-c",%s]}}`:                                                          false,
		`{"box":{"command":["--verbose",%s]}}`:                                                        false,
		`{"box":{"auth":{"provider":%s}}}`:                                                            false,
		`{"box":{"secrets":[{"name":"DB","valueFrom":%s}]}}`:                                          false,
		`{"box":{"secrets":[{"name":%s,"valueFrom":"a"}]}}`:                                           false,
	} {
		got := diff(t, json.RawMessage(fmt.Sprintf(text, `"before"`)), json.RawMessage(fmt.Sprintf(text, `"after"`)))
		if len(got) == 0 {
			t.Errorf("%s: nothing differs", text)
		}
		for _, c := range got {
			if c.Masked != masked || masked && (c.Before != nil || c.After != nil) {
				t.Errorf("%s: %s, want masked %t", text, told(got), masked)
			}
		}
	}
	for _, command := range []string{"DB_PASSWORD=hunter2", "exec app --api-token hunter2 --port 80", "curl 'https://h/?token=hunter2'"} {
		text := fmt.Sprintf(`{"definition":{"command":["sh","-c",%q]}}`, command)
		for _, got := range [][]release.Change{
			diff(t, json.RawMessage(text), json.RawMessage(`{"definition":{"command":["sh","-c","true"]}}`)), diff(t, nil, json.RawMessage(text)),
		} {
			if strings.Contains(strings.Join(told(got), " "), "hunter2") {
				t.Errorf("%s: %s", command, told(got))
			}
		}
	}
}
