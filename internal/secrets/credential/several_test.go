package credential

import "testing"

// TestSeveral: the items of a list under a plural are judged as what stands under the name of one, and the
// names of Secrets are none.
func TestSeveral(t *testing.T) {
	for _, c := range []struct {
		field, value string
		looks, hides bool
	}{
		{"passwords", "kX9vbQ2mZ7pL4tR8", true, true},
		{"apiKeys", "kX9vbQ2mZ7pL4tR8", true, true},
		{"accessTokens", "kX9vbQ2mZ7pL4tR8", true, true},
		{"secrets", "kX9vbQ2mZ7pL4tR8", true, true},
		{"secrets", "AppRegClientId", false, false},
		{"secrets", "db-credentials-v2", false, false},
		{"imagePullSecrets", "registry-1a2b", false, false},
		{"maxTokens", "100000", false, false},
		{"compass", "northwest1", false, false},
	} {
		if looks, hides := LooksSecret(c.field, c.value), HideLine(c.field, c.value); looks != c.looks || hides != c.hides {
			t.Errorf("%s: %s looks like a secret: %v, is hidden: %v", c.field, c.value, looks, hides)
		}
	}
	for value, hidden := range map[string]bool{
		"-pkX9vbQ2mZ7pL4tR8": true, "reg:kX9vbQ2mZ7pL4tR8@x/y:1": true, "-printReplicas": false, "-Dspring.config=abcd1": false, "a.b/c:1.2@sha256:0": false,
		"ghcr.io/a/b:v1.2.3": false, "git@github.com:a/b": false,
	} {
		if hidesUser(value) != hidden {
			t.Errorf("%s is hidden: %v", value, !hidden)
		}
	}
}
