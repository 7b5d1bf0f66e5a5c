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

// A setting in the value of a flag is found, reported and hidden.
func TestSettingInFlag(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"kubectl create secret generic x --from-literal=password=hV9x2mQz7LpTd4", "kubectl create secret generic x --from-literal='password=hV9x2mQz7LpTd4'",
		"helm install x --set=auth.password=hV9x2mQz7LpTd4", "docker run --env=PASSWORD=hV9x2mQz7LpTd4", `terraform apply -var="db_password=hV9x2mQz7LpTd4"`,
	} {
		if what, _ := SecretIn(command); what == "" || !Hide("command", command) || SettingIn(command) == "" {
			t.Errorf("%s: SecretIn %q, Hide %v, SettingIn %q", command, what, Hide("command", command), SettingIn(command))
		}
	}
	for _, command := range []string{"kubectl create secret generic x --from-file=password=password.txt", "helm install x --set=auth.existingSecret=app-secret", "go build -ldflags=-X=main.version=1.2.3"} {
		if what, _ := SecretIn(command); what != "" || SettingIn(command) != "" {
			t.Errorf("%s: SecretIn %q, SettingIn %q", command, what, SettingIn(command))
		}
	}
}
