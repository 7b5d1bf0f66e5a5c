package credential

import (
	"strings"
	"testing"
)

func TestLooksSecret(t *testing.T) {
	for _, c := range []struct {
		field, value string
		want         bool
	}{
		{"password", "hunter2", true},
		{"GPG_SIGNING_KEY", "0D69E11F12BDBA077B3726AB4E1F799AA4FF2279", false},
		{"JWT_SIGNING_KEY", "0D69E11F12BDBA077B3726AB4E1F799AA4FF2279", true},
		{"API_TOKEN", "0D69E11F12BDBA077B3726AB4E1F799AA4FF2279", true},
		{"credential", "ServiceAccountToken", false},
		{"password", "HorseBatteryStaple", true},
		{"adminPassword", "prom-operator", true},
		{"MYSQL_ROOT_PASSWORD", "S3cr3t-V4lue", true},
		{"secretKey", "q8Zr2LwX9bN4vTk1", true},
		{"apiKey", "9f86d081884c7d659a2feaa0c55ad015", true},
		{"client_secret", "Zt7-kLq9mWx2Rb4", true},
		{"password", "pa$SWord-<1>", true},
		{"password", "!x9Kq2", true},
		{"token", "k3sT0k3nValue99", true},
		{"DB_PASS", "hunter2", true},
		{"keystorePassword", "hunter2", true},
		{"RESTIC_REPOSITORY_PASSWORD", "hunter2", true},
		{"password1", "hunter2", true},

		{"secretKey", "S3_ACCESS_KEY_ID", false}, // of an ExternalSecret
		{"secretKey", "licenseKey", false},
		{"installationIdSecretKey", "installID", false},
		{"accountkey", "base64encodedaccountkey", false},
		{"ZOT_HTPASSWD", "tencentcloud_zot_htpasswd", false},
		{"ZOT_HTPASSWD", "zot_htpasswd_x7", true},
		{"password", "supersecretpassword", true},
		{"POSTGRES_PASSWORD", "mypostgrespassword", true},
		{"adminPassword", "superadminpassword", true},
		{"KEYCLOAK_PASSWORD", "hunter-keycloakpassword", true},
		{"adminPassword", "adminpassword", true},
		{"appSecretKey", "SommernachtsTraum", true},
		{"password", "CORRECT_HORSE", true},

		{"ClientSecret", "urn:k8s:secret:oidc-secret:providerClientSecret", false},
		{"github-app-installation-token", "2026.07.21@sha256:472c05105b8c463d8bf149f8e5ad909664cc7a97945cb52e01a2c6438297cd7e", false},

		{"compass", "hunter2", false},
		{"BYPASS", "hunter2", false},
		{"generatePassword", "always", false},

		{"password", "", false},
		{"password", "changeme", false},
		{"password", "${DB_PASSWORD}", false},
		{"password", "$DB_PASSWORD", false},
		{"password", "$(cat /root/.redfish_password)", false}, // in a here-document of a shell
		{"password", "$(Zt7-kLq9mWx2Rb4)", true},
		{"password", "<Q8ZR2LWX9BN4VTK1>", true},
		{"tls.key", "<BASE64_MSR_KEY>", false},
		{"password", "q<BASE64>Zt7-kLq9mWx2Rb4", true},
		{"password", "{{ .Values.password }}", false},
		{"password", "op://vault/item/password", false},
		{"apiKey", "{env:LITELLM_API_KEY}", false},             // opencode
		{"clientSecret", "$oidc.keycloak.clientSecret", false}, // Argo CD
		{"clientSecret", "$argocd-oidc:clientSecret", false},
		{"clientSecret", "$kX9vbQ2m.ZpLtR", true},
		{"clientSecret", "env(IMMICH_OAUTH_CLIENT_SECRET)", false}, // yq
		{"password", "kX9(vbQ2mZ)7pL4", true},
		{"CLIENT_SECRET_KEY", "OAUTH2_CLIENT_SECRET", false},
		{"DB PASSWORD", "hunter22", true},
		{"password", "<your password>", false},
		{"SMTP_PASSWORD", "<azure-secret:smtp-password>", false},
		{"password", "db-password", false},
		{"password", "ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]", false},
		{"password", "changeme-Zt7kLq9mWx2Rb4", true},
		{"password", "dummyZt7kLq9mWx2Rb4", true},
		{"api_key", "example_9f86d081884c7d659a2feaa0c55ad015", true},
		{"token", "my-Zt7kLq9mWx2Rb4", true},
		{"dbPassword", "postgres://app:S3cr3t-V4lue@db.example.com/app", true},
		{"password", "changeme123456", false},
		{"password", "ChangeMePassword1", false},
		{"password", "change-me-in-production", false},
		{"password", "change.to.access.api.mongodb.password", false},
		{"apiKey", "your-256-bit-secret", false},
		{"apiKey", "example-0123456789abcdef", false},
		{"apiKey", "replace-with-32-characters", false},
		{"secretKey", "REPLACE_ME_WITH_OPENSSL_RAND_HEX_32", false},
		{"passwordKey", "admin-password", false},
		{"existingSecret", "grafana-admin-4f9K2", false},
		{"secretName", "grafana-4f9K2x", false},
		{"passwordSecretRef", "grafana-4f9K2x", false},
		{"token", "true", false},
		{"token", "/var/run/secrets/token", false},
		{"secret", "postgres-credentials", false},
		{"secret", "grafana-env-secret", false},
		{"apiKey", "os.environ/OPENCODE_API_KEY", false},
		{"db_pass", "=…})", false}, // of a hint
		{"automountServiceAccountToken", "false", false},
		{"secretKey", "RCON_PASSWORD", false},
		{"max_token", "4096", false},
		{"webhook_url", "https://example.com/hook", false},
		{"name", "q8Zr2LwX9bN4vTk1", false},
	} {
		if got := LooksSecret(c.field, c.value); got != c.want {
			t.Errorf("%s: %s gives %v", c.field, c.value, got)
		}
	}
}

func TestTokenIn(t *testing.T) {
	random := "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6"
	for text, want := range map[string]string{
		"a ghp" + "_" + random + " b": "a GitHub token",
		"glpat" + "-" + random[:20]:   "a GitLab token",
		"AKIA" + "IOSFODNN7QXAMPLE":   "an AWS access key",
		"https://hooks.slack" + ".com/services/T0AB12CD3/B0AB12CD3/" + random[:24]:             "a Slack webhook",
		"https://hooks.slack" + ".com/services/T00000000/B00000000/" + strings.Repeat("X", 24): "",
		"ghp" + "_" + strings.Repeat("x", 36):                                                  "",
		"AKIA" + "QWERTYUIOPASDFGH":                                                            "",
		"AKIA" + strings.Repeat("X", 16):                                                       "",
		"a word":                                                                               "",
	} {
		if got := TokenIn(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestPrivateKeysIn(t *testing.T) {
	body := strings.Repeat("MIIEowIBAAKCAQEAx7Zr9", 4)
	begin, end := "-----BEGIN RSA PRIVATE"+" KEY-----\n", "\n-----END RSA PRIVATE"+" KEY-----\n"
	for text, want := range map[string]string{
		"# a key\n" + begin + body + end:                  "a private key (RSA PRIVATE KEY)",
		begin + "Proc-Type: 4,ENCRYPTED\n\n" + body + end: "",
		begin + "...\n" + end:                             "",
		begin + "MII...":                                  "",
		"AGE-SECRET" + "-KEY-1" + strings.Repeat("Q", 58): "",
	} {
		var got string
		for _, key := range PrivateKeysIn(text) {
			got += key.Kind
		}
		if got != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for _, c := range []struct {
		key, value string
		want       bool
	}{
		{"username", "app", true},
		{"tls.crt", "-----BEGIN CERTIFICATE-----\nMII", true},
		{"tls.key", "-----BEGIN EC PRIVATE" + " KEY-----\nMHc", false},
		{"known_hosts", "github.com ssh-ed25519 AAAA", true},
		{"url", "https://git.example.com", true},
		{"url", "https://app:S3cr3t@git.example.com", false},
		{"url", "postgres://app:${PASSWORD}@db/app", true},
		{"url", "http://$access_key:$secret_key@localhost:9000", true},
		{"url", "http://app:$ecr3t-1@localhost:9000", false},
		{"AWS_ACCESS_KEY_ID", "AKIA" + "IOSFODNN7QXAMPLE", false},
		{"DB_USER", "app", true},
		{"password", "hunter2", false},
		{"enabled", "true", true},
		{"workers", "3", true},
		{"size", "10240", true},
		{"pin_token", "10240", false},
		{"address", "https://hooks.slack" + ".com/services/T0AB12CD3/B0AB12CD3/aB3dE5gH7jK9mN1pQ3sT5vW7", false},
		{"tls.crt", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE" + " KEY-----\n" + strings.Repeat("MIIEowIB", 8) + "\n-----END PRIVATE" + " KEY-----\n", false},
	} {
		if got := IsPublic(c.key, c.value); got != c.want {
			t.Errorf("%s: %s gives %v", c.key, c.value, got)
		}
	}
}

func TestJudge(t *testing.T) {
	lines := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	for _, c := range []struct {
		key, value string
		want       Grade
	}{
		{"password", "hunter2", Likely},
		{"password", "correct horse", Likely},
		{"DB_PASS", "hunter2", Likely},
		{"dbPwd", "hunter2", Likely},
		{"password_2", "hunter2", Likely},
		{"wifi-psk", "hunter2", Likely},
		{"pin_token", "10240x", Likely},
		{"replication", "kX9vbQ2mZ7pL", Likely},
		{"AWS_ACCESS_KEY_ID", "AKIA" + "IOSFODNN7QXAMPLE", Likely},
		{"auth", "admin:$2y$05$ZBjrXg0tLvqVTn9B.9vEjuFwQ1cYUkZuxDFbYlXNvZRgKqW5o2lWe", Likely},
		{".dockerconfigjson", `{"auths": {}}`, Public},
		{".dockerconfigjson", `{"auths":{"ghcr.io":{"auth":"Ym90OmtYOXZiUTJtWjdwTA=="}}}`, Likely},
		{"config.yaml", lines("password: ${DB_PASSWORD}", "adminPassword: hunter22"), Likely},
		{"config.yaml", lines("host: ${HOST}", `smtp_password: "hunter22" # the mail server's`), Likely},
		{"config.json", lines("{", `  "host": "${HOST}",`, `  "password": "hunter22",`, `  "a": 1`, "}"), Likely},
		{"config.json", `{"host": "db", "password": "hunter22"}`, Likely},
		{"app.env", lines("HOST=${HOST}", "API_TOKEN=kX9:vbQ2mZ7pL4tR8"), Likely},
		{"app.env", lines("HOST=${HOST}", "DATABASE_URL=postgres://app:S3cr3t@db/app"), Likely},
		{"key", lines("# ${KEY}", "-----BEGIN PRIVATE"+" KEY-----", strings.Repeat("MIIEowIB", 8), "-----END PRIVATE"+" KEY-----"), Likely},
		{"config.yaml", lines("host: db", "password: hunter22"), Likely},
		{"hook", "https://chat.example.net/hooks/kX9vbQ2mZ7pL4tR8wY1n", Likely},
		{"args", "--user app --api-key=kX9vbQ2mZ7pL4tR8", Likely},
		{"seed", string([]byte{0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}), Likely},
		{"store.jks", string([]byte{0xfe, 0xed, 0xfe, 0xed, 0, 0}), Likely},

		{"AZURE_SYNC_PERIOD", "12h", Plain},
		{"listen_addr", ":8443", Plain},
		{"volumeHandle", "0001-0024-407036f5-1f73-44ff-ba81-1f219b7a8a64-000000000000000b-841e604c-1dd5-4a09-8763-84e672d78c4e", Plain},
		{"volumeHandle", "0001-0024-407036f5-1f73-44ff-ba81-1f219b7a8a64-kX9vbQ2mZ7pL4tR8", Likely},
		{"listen_addr", "0.0.0.0:8443", Plain},
		{"POD_CIDR", "10.244.0.0/16", Plain},
		{"cidrs", "10.0.0.0/8, fd00::/8", Plain},
		{"server_name", "vault.infra.example.com", Public},
		{"upstream", "vault-0.vault.infra.svc.cluster.local", Plain},
		{"upstream", "localhost", Plain},
		{"IMAGE", "ghcr.io/fluxcd/source-controller:v1.6.2", Plain},
		{"IMAGE", "docker.io/library/redis@sha256:9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015", Plain},
		{"target", "https://grafana.internal.net/d/overview", Plain},
		{"storage", "10Gi", Plain},
		{"release", "v1.2.3-rc.1", Plain},
		{"TENANT", "72f988bf-86f1-41af-91ab-2d7cd011db47", Plain},
		{"path", "/var/lib/app/data", Plain},
		{"zone", "Europe/Berlin", Plain},
		{"note", "the one of the database", Plain},
		{"token_ttl", "720h", Plain},
		{"X_KEY", "header", Plain},
		{"issuer_key", "https://login.acme.net/keys", Plain},
		{"config.yaml", lines("host: db.internal.net", "user: app", "# password: hunter2"), Plain},

		{"password", "${PASSWORD}", Public},
		{"password", "changeme", Public},
		{"username", "app", Public},
		{"config.yaml", lines("host: db", "password: ${DB_PASSWORD}"), Public},
		{"app.env", lines("HOST=${HOST}", "DATABASE_URL=postgres://app:${PASSWORD}@db/app"), Public},
	} {
		if got := Judge(c.key, c.value); got != c.want {
			t.Errorf("%s: %q is %d, want %d", c.key, c.value, got, c.want)
		}
	}
}
