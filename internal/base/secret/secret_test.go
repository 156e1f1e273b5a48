package secret_test

import (
	"strings"
	"testing"

	"slipway/internal/base/secret"
)

func TestNamesOfSecretsAreToldHoweverTheyAreSpelled(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]struct{ name, group bool }{
		"password DB_PASSWORD dbPassword db.password Pass-Word passwd MYSQL_PWD passphrase secrets CLIENT_SECRET": {true, true},
		"token accessToken api_key API-KEY apiKey privateKey GOOGLE_CREDENTIALS connection_string Authorization":  {true, true},
		"auth AUTH basic_auth BASIC-AUTH authKey oauth dsn SENTRY_DSN bearer":                                     {true, false},
		"name image LOG_LEVEL key author AUTHORITY keyboard pass compass dsn2 hidden user address passenger":      {false, false},
		strings.Repeat("n", 1000): {false, false},
		strings.Repeat("n", 1001): {true, true},
	} {
		for _, name := range strings.Fields(names) {
			if got := secret.IsName(name); got != want.name {
				t.Errorf("%s: a name %t, want %t", name, got, want.name)
			}
			if got := secret.IsGroup(name); got != want.group {
				t.Errorf("%s: a group %t, want %t", name, got, want.group)
			}
		}
	}
}

func TestSecretsAreTakenOutOfTexts(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("a1", 18)
	for text, want := range map[string]string{
		"PASSWORD=hunter2":                                 "PASSWORD=[redacted]",
		"run -e DB_PASSWORD=hunter2 -e MODE=fast":          "run -e DB_PASSWORD=[redacted] -e MODE=fast",
		"Server=db;User Id=app;Password=hunter2;Pooling=1": "Server=db;User Id=app;Password=[redacted];Pooling=1",
		`export API_KEY = "a b" TOKEN='x'`:                 `export API_KEY = [redacted] TOKEN=[redacted]`,
		"https://h/x?user=me&token=abc&page=2":             "https://h/x?user=me&token=[redacted]&page=2",
		"--db-password=hunter2":                            "--db-password=[redacted]",
		"run --verbose --api-token hunter2 --port 80":      "run --verbose --api-token [redacted] --port 80",
		"--password":           "",
		"--password --verbose": "",
		"a--token b":           "",
		"token of love":        "",
		"host=db user=app":     "",
		"SECRET=":              "",
		"SECRET=arn:aws:secretsmanager:eu:1:secret:db": "",
		"a==b == c": "",
		"postgres://app:hunter2@db:5432/app?sslmode=require": "postgres://app:[redacted]@db:5432/app?sslmode=require",
		"see amqp://u:p@h/v and redis://:q@c":                "see amqp://u:[redacted]@h/v and redis://:[redacted]@c",
		"https://host:8080/path@v2":                          "",
		"ssh://git@host/owner/repo":                          "",
		"a key: -----BEGIN RSA PRIVATE KEY-----\nMII\n":      "a key: [redacted]",
		"-----BEGIN CERTIFICATE-----":                        "",
		"key ASIAIOSFODNN7EXAMPLE.":                          "key [redacted].",
		"MAKIAIOSFODNN7EXAMPLE":                              "",
		"with " + token + " and " + token:                    "with [redacted] and [redacted]",
		"slp_developer_" + strings.Repeat("A", 49):           "slp_[redacted]",
		"slp_developer":                                      "",
		"Authorization: Bearer abcdefghijklmnop":             "Authorization: Bearer [redacted]",
		"the bearer of this letter":                          "",
		"Bearer short":                                       "",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln!":         "[redacted]!",
		"": "",
	} {
		kept := want == ""
		if kept {
			want = text
		}
		if got := secret.Redact(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := secret.IsText(text); got == kept {
			t.Errorf("%q: a secret in it %t", text, got)
		}
		if !kept && !secret.IsSuspect([]byte("before "+text+" after")) {
			t.Errorf("%q is not suspect", text)
		}
		if got := secret.Redact(want); got != want {
			t.Errorf("%q a second time: %q", want, got)
		}
	}
}

func TestAnOptionOfASecretsNameAnnouncesIt(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]bool{
		"--password": true, "--db-password": true, "--apiKey": true, "--auth": true,
		"--verbose": false, "password": false, "--password=x": false, "--": false, "--the password": false, "-p": false, "": false,
	} {
		if got := secret.IsOption(argument); got != want {
			t.Errorf("%q: %t", argument, got)
		}
	}
}

func TestNamesOfAnObjectAndItsMemberAreThatOfASecretTogether(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]bool{
		"private key": true, "tls.private key": true, "API key_id": true, "connection string": true, "pass word": true,
		"public key": false, "private ip": false, "to kenya": false, "key private": false, " key": false, "private ": false,
	} {
		object, member, _ := strings.Cut(names, " ")
		if got := secret.IsNested(object, member); got != want {
			t.Errorf("%q: %t", names, got)
		}
	}
}
