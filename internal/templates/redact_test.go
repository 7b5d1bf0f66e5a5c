package templates

import "testing"

// TestWithoutSecrets: no reason of a failing template holds a value that a function of it was given and
// that is a secret by its name or looks drawn; others stay.
func TestWithoutSecrets(t *testing.T) {
	for reason, want := range map[string]string{
		`executing "t" at <fail .Values.password>: error calling fail: hunter 2`:           `executing "t" at <fail .Values.password>: error calling fail: <hidden>`,
		`executing "t" at <atoi $.Values.db.apiKey>: error calling atoi: "a b": bad`:       `executing "t" at <atoi $.Values.db.apiKey>: error calling atoi: <hidden>`,
		`executing "t" at <fail $x>: error calling fail: no "kX9vbQ2mZ7pL4tR8" here`:       `executing "t" at <fail $x>: error calling fail: no "<hidden>" here`,
		`executing "t" at <fail .Values.version>: error calling fail: version 1.2.3 of Ab`: `executing "t" at <fail .Values.version>: error calling fail: version 1.2.3 of Ab`,
		`map has no entry for key "password"`:                                              `map has no entry for key "password"`,
	} {
		if got := withoutSecrets(reason); got != want {
			t.Errorf("%s", got)
		}
	}
}
