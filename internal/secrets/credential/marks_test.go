package credential

import (
	"testing"
)

// TestForms: an example of each form is found wherever it stands in a text of lines, and a text without
// its marks holds none.
func TestForms(t *testing.T) {
	const (
		letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6kL8nP0rS2uV4xY6zA8cD1fG3iK5m"
		hex     = "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015"
		upper   = "ZQ7XK2WM9BV4TR8P"
		guid    = "72f988bf-86f1-41af-91ab-2d7cd011db47"
	)
	examples := map[string][]string{
		"a GitHub token": {"ghp" + "_" + letters[:36], "gho" + "_" + letters[:36], "ghu" + "_" + letters[:36], "ghs" + "_" + letters[:36], "ghr" + "_" + letters[:36],
			"github" + "_pat_" + letters[:22] + "_" + letters[:59]},
		"a GitLab token": {"glpat" + "-" + letters[:20], "glrt" + "-" + letters[:20], "gldt" + "-" + letters[:20], "glptt" + "-" + letters[:20], "glft" + "-" + letters[:20],
			"glimt" + "-" + letters[:20], "glagent" + "-" + letters[:20], "glcbt" + "-" + letters[:20], "gloas" + "-" + letters[:20], "glsoat" + "-" + letters[:20], "glrtr" + "-" + letters[:20]},
		"an AWS access key":       {"AKIA" + upper},
		"a Slack token":           {"xoxb" + "-123456789012-" + letters[:24]},
		"a Slack webhook":         {"https://hooks.slack" + ".com/services/T0AB12CD3/B0AB12CD3/" + letters[:24]},
		"a Discord webhook":       {"https://discord" + ".com/api/webhooks/123456789012345678/" + letters[:60]},
		"a Google API key":        {"AIza" + letters[:35]},
		"a Stripe key":            {"sk" + "_live_" + letters[:24], "rk" + "_live_" + letters[:24]},
		"a Telegram bot token":    {"123456789" + ":AA" + letters[:33]},
		"a Tailscale key":         {"tskey" + "-auth-" + letters[:12] + "-" + letters[:30]},
		"a Doppler token":         {"dp" + ".st.prd." + letters[:40]},
		"a HashiCorp Vault token": {"hvs" + "." + letters[:24]},
		"a Docker Hub token":      {"dckr" + "_pat_" + letters[:27]},
		"an npm token":            {"npm" + "_" + letters[:36]},
		"a PyPI token":            {"pypi" + "-" + letters + letters[:30]},
		"a SendGrid key":          {"SG" + "." + letters[:22] + "." + letters[:43]},
		"an OpenAI key":           {"sk" + "-proj-" + letters[:48], "sk" + "-svcacct-" + letters[:48], "sk" + "-admin-" + letters[:48], "sk" + "-" + letters[:20] + "T3BlbkFJ" + letters[:20]},
		"an Anthropic key":        {"sk" + "-ant-api03-" + letters + letters[:30]},
		"a Hugging Face token":    {"hf" + "_" + letters[:34]},
		"a DigitalOcean token":    {"dop" + "_v1_" + hex},
		"a Grafana token":         {"glsa" + "_" + letters[:32] + "_" + hex[:8], "glc" + "_eyJ" + letters[:40]},
		"a Terraform Cloud token": {letters[:14] + ".atlasv1." + letters[:60]},
		"a Shopify token":         {"shpat" + "_" + hex[:32], "shpca" + "_" + hex[:32], "shppa" + "_" + hex[:32], "shpss" + "_" + hex[:32]},
		"an Atlassian token":      {"ATATT3" + letters + letters},
		"a 1Password token":       {"ops" + "_eyJ" + letters + letters},
		"a Teams webhook":         {"https://acme.webhook.office" + ".com/webhookb2/" + guid + "@" + guid + "/IncomingWebhook/" + hex[:32] + "/" + guid},
		"an Azure Storage key":    {"AccountName=a;AccountKey=" + letters + letters[:22] + "=="},
		"a JSON Web Token":        {"eyJ" + letters[:20] + ".eyJ" + letters[:30] + "." + letters[:40]},
		"a password": {"machine a.b login c password " + letters[:16], "machine a.b\n\tlogin c\n\tpassword " + letters[:16], "db:5432:app:app:" + letters[:16], "*:*:*:app:" + letters[:16],
			"curl -s -u bot:" + letters[:16] + " https://a.b", "curl --user 'bot:" + letters[:16] + "' https://a.b"},
		"a bearer token":         {"Authorization: Bearer " + letters[:24], "bearer " + letters[:24]},
		"a URL with a password":  {"postgres://app:" + letters[:16] + "@db/app"},
		"the hash of a password": {"app:$2y$05$" + letters[:53], "$6$abcdefgh$" + letters, "{SHA}" + letters[:27] + "=", "$apr1$abcdefgh$" + letters[:22], "$argon2id$v=19$m=65536$" + letters[:40]},
		"a user's password in base64": {`{"auth": "Ym90OmtYOXZiUTJtWjdwTDR0Ujg="}`, "//npm.acme.net/:_auth=Ym90OmtYOXZiUTJtWjdwTDR0Ujg=", "auth: Ym90OmtYOXZiUTJtWjdwTDR0Ujg=",
			"Authorization: Basic Ym90OmtYOXZiUTJtWjdwTDR0Ujg=", "HEADER_VALUE: Basic Ym90OmtYOXZiUTJtWjdwTDR0Ujg="},
	}
	for name, all := range examples {
		for _, example := range all {
			if what, line := SecretIn("a: b\n" + example + "\nc: d\n"); what != name || line != 2 {
				t.Errorf("%s is %q in line %d, want %q in line 2", example, what, line, name)
			}
			if !known(example) {
				t.Errorf("%s is not known", example)
			}
		}
	}
	for _, f := range append(tokens[:len(tokens):len(tokens)], entries...) {
		if len(examples[f.name]) == 0 {
			t.Errorf("%s has no example", f.name)
		}
	}
}

// TestNotDrawn: what is no secret in a text of any kind.
func TestNotDrawn(t *testing.T) {
	for _, text := range []string{
		"token = os.environ[\"CF_TURN_API_TOKEN\"]", "token = JSON.parse(token_stdout).dig(\"status\", \"token\")", "pwd = fs.readFileSync(passwordFile, 'utf8');",
		"client_secret     = module.onepassword_application[\"autobrr\"].fields[\"AUTOBRR_CLIENT_SECRET\"]", "private_key = file(pathexpand(\"~/.ssh/id_ed25519\"))",
		"secret: secretName: \"operator-oauth\"", "RADARR_API_KEY: (.data.RADARR__AUTH__APIKEY | @base64d),", "idToken: AkvoradoIdToken", "secret: ExternalSecret to sync (required)",
		"AMQP_URI=amqp://guest:guest@rabbitmq/", "\t@PASS=0; FAIL=0; check && PASS=$$((PASS+1)) || FAIL=$$((FAIL+1))", "PASS=$$((PASS+1));", "password = var.db_password", "password = random_password.db.result", "export TOKEN=$(vault kv get -field=token a/b)",
		"Authorization: Bearer ${TOKEN}", "Authorization: Bearer <your-token-here-0123>", "machine git.acme.net login bot password ${TOKEN}", "auth: true", "auth=basic-auth-credentials",
		"image: ghcr.io/a/b@sha256:9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015", "webhook_url: https://acme.net/hooks/alertmanager-critical",
		"checksum/secret: 9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015", "regex = '''talos\\.dev/token:\\s*([a-zA-Z0-9+/]{32,})'''", "1Password: item/arr-stack-4fK2x9", "onepassword: Z7kQ2x9b", "hashed_secret: 87e8323770124201d120dec73001646e181ad2fb",
		"DB=mysql://osp:REPLACEOSPDBPASSWORD@osp_db/osp", "password : GrafanaIntegreatlyOrgV1beta1GrafanaDashboardSpecURLPassword", "clientSecret: $argocd-oidc:auth0.clientSecret",
		"docker run -u 1000:1000 a", "curl -u admin:${PASSWORD} a", "app --password-file /run/secrets/x --token $TOKEN", "<Password></Password>", "<ApiKey>YOUR_API_KEY</ApiKey>", "app --token --verbose",
		"kubectl create secret generic a --from-literal password=changeme", "$secret = Get-AzKeyVaultSecret -VaultName $KeyVaultName -Name $SecretName -AsPlainText", "token_url: https://login.acme.net/oauth2/token",
		"token = (var.ENV == \"prod\" ? var.VAULT_ROOT_TOKEN_PROD : var.VAULT_ROOT_TOKEN_STG)", "secret = f\"{user}-{os.environ['A1_B2']}-c3D4e5F6\"",
	} {
		if what, _ := SecretIn(text); what != "" {
			t.Errorf("%s holds %s", text, what)
		}
	}
}
