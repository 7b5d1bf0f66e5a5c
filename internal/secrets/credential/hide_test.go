package credential

import "testing"

func TestHide(t *testing.T) {
	for _, c := range []struct {
		field, value string
		want         bool
	}{
		{"adminPassword", "hunter2", true},
		{"password", "changeme", true},
		{"DATABASE_URL", "postgres://app:S3cr3t-V4lue@db/app", true},
		{"args", "--dsn='postgres://app:S3cr3t-V4lue@db/app'", true},
		{"args", "--password=S3cr3t-V4lue", true},
		{"config.ini", "[db]\nuser = app\npassword = S3cr3t-V4lue\n", true},
		{"config.yaml", "smtp:\n  password: \"S3cr3t-V4lue\"\n", true},
		{"encryption-key", "q8Zr2LwX9bN4vTk1", true},
		{"anything", "glpat" + "-aB3dE5gH7jK9mN1pQ3sT", true},
		{"tls.key", "-----BEGIN EC PRIVATE" + " KEY-----\nMHc", true},

		{"replicas", "3", false},
		{"image", "ghcr.io/a/app:v1.2.3", false},
		{"url", "https://git.example.com/a", false},
		{"url", "postgres://app:${PASSWORD}@db/app", false},
		{"passwordKey", "admin-password", false},
		{"config.ini", "[db]\nuser = app\npassword = ${PASSWORD}\n", false},
		{"host", "a", false},
	} {
		if got := Hide(c.field, c.value); got != c.want {
			t.Errorf("%s: %s gives %v", c.field, c.value, got)
		}
	}
}
