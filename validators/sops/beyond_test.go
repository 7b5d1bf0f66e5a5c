package sops_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

const configMapHead = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n"

// beyond are places outside of the manifests of workloads and Secrets, as [places] are: files of other
// tools and formats, and texts that are encoded.
var beyond = map[string]string{
	"helmfile, set":                 "-- helmfile.yaml --\nreleases:\n  - name: db\n    chart: acme/db\n    set:\n      - name: auth.password\n        value: CANARY\n",
	"helmfile, setString":           "-- helmfile.yaml --\nreleases:\n  - name: db\n    chart: acme/db\n    setString:\n      - name: auth.password\n        value: CANARY\n",
	"helmfile, list of values":      "-- helmfile.yaml --\nreleases:\n  - name: db\n    chart: acme/db\n    set:\n      - name: auth.passwords\n        values: [\"password=CANARY\"]\n",
	"helmfile, inline values":       "-- helmfile.yaml --\nreleases:\n  - name: db\n    chart: acme/db\n    values:\n      - auth:\n          password: CANARY\n",
	"helmfile, environments":        "-- helmfile.yaml --\nenvironments:\n  default:\n    values:\n      - dbPassword: CANARY\n",
	"helmfile, a template":          "-- helmfile.yaml.gotmpl --\nreleases:\n{{- range .Values.names }}\n  - name: {{ . }}\n    chart: acme/db\n    values:\n      - auth:\n          password: CANARY\n{{- end }}\n",
	"helmfile, a file of values":    "-- helmfile.yaml --\nreleases:\n  - name: db\n    chart: acme/db\n    values: [config/db.yaml]\n-- config/db.yaml --\nauth:\n  password: CANARY\n",
	"helmfile, a template of them":  "-- config/db.yaml.gotmpl --\nauth:\n  user: {{ .Values.user | quote }}\n  password: CANARY\n",
	"a values file alone":           "-- config/db.yaml --\nauth:\n  password: CANARY\n",
	"helmCharts, a file of values":  "-- kustomization.yaml --\nhelmCharts:\n  - name: db\n    valuesFile: db.yaml\n-- db.yaml --\nauth:\n  password: CANARY\n",
	"helmCharts, inline values":     "-- kustomization.yaml --\nhelmCharts:\n  - name: db\n    valuesInline:\n      auth:\n        password: CANARY\n",
	"an inflation generator":        "-- chart.yaml --\napiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: db}\nname: db\nvaluesInline:\n  auth:\n    password: CANARY\n",
	"a generator, literals":         "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: db}\nliterals:\n  - replication=CANARY\n",
	"a generator, inline":           "-- kustomization.yaml --\ngenerators:\n  - |-\n    apiVersion: builtin\n    kind: SecretGenerator\n    metadata: {name: db}\n    literals:\n      - replication=CANARY\n",
	"a generator, envs":             "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: db}\nenvs: [db.txt]\n-- db.txt --\nreplication=CANARY\n",
	"a generator, files":            "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: db}\nfiles: [password=db.txt]\n-- db.txt --\nCANARY\n",
	"a generator of a ConfigMap":    "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: db}\nliterals:\n  - DB_PASSWORD=CANARY\n",
	"a ConfigMap's, envs":           "-- g.yaml --\napiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: db}\nenvs: [db.txt]\n-- db.txt --\nHOST=db\nDB_PASSWORD=CANARY\n",
	"configMapGenerator, envs":      "-- kustomization.yaml --\nconfigMapGenerator:\n  - name: db\n    envs: [db.txt]\n-- db.txt --\nHOST=db\nDB_PASSWORD=CANARY\n",
	"configMapGenerator, files":     "-- kustomization.yaml --\nconfigMapGenerator:\n  - name: db\n    files: [app.conf=db.txt]\n-- db.txt --\nhost db\ndb.password = CANARY\n",
	"configMapGenerator, a value":   "-- kustomization.yaml --\nconfigMapGenerator:\n  - name: db\n    files: [db-password=db.txt]\n-- db.txt --\nCANARY\n",
	"a file of properties":          "-- app.properties --\nhost=db\ndb.password=CANARY\n",
	"a file in INI":                 "-- app.ini --\n[db]\npassword = CANARY\n",
	"a file in TOML":                "-- app.toml --\n[db]\npassword = \"CANARY\"\n",
	"a file in JSON":                "-- app.json --\n{\n  \"db\": {\n    \"password\": \"CANARY\"\n  }\n}\n",
	"JSON in one line":              "-- app.json --\n{\"db\":{\"user\":\"app\",\"password\":\"CANARY\"}}\n",
	"variables of Terraform":        "-- prod.tfvars --\nregion = \"eu\"\ndb_password = \"CANARY\"\n",
	"an environment of direnv":      "-- .envrc --\nuse nix\nexport DB_PASSWORD=CANARY\n",
	"a netrc":                       "-- .netrc --\nmachine git.acme.net\n  login bot\n  password CANARY\n",
	"a netrc in one line":           "-- ci/netrc --\nmachine git.acme.net login bot password CANARY\n",
	"credentials of git":            "-- .git-credentials --\nhttps://bot:CANARY@git.acme.net\n",
	"a npmrc":                       "-- .npmrc --\nregistry=https://npm.acme.net/\n//npm.acme.net/:_authToken=CANARY\n",
	"a npmrc, a password":           "-- .npmrc --\n//npm.acme.net/:_auth=USERBASE64\n",
	"a pull secret":                 "-- .dockerconfigjson --\n{\"auths\":{\"ghcr.io\":{\"auth\":\"USERBASE64\"}}}\n",
	"a configuration of Docker":     "-- docker/config.json --\n{\n  \"auths\": {\n    \"ghcr.io\": {\n      \"auth\": \"USERBASE64\"\n    }\n  }\n}\n",
	"credentials of AWS":            "-- .aws/credentials --\n[default]\naws_secret_access_key = CANARYxyZ/4\n",
	"passwords of Postgres":         "-- .pgpass --\ndb.acme.net:5432:app:app:CANARY\n",
	"a kubeconfig":                  "-- kubeconfig --\napiVersion: v1\nkind: Config\nclusters: []\nusers:\n  - name: admin\n    user:\n      token: CANARY\n",
	"a kubeconfig, config":          "-- .kube/config --\napiVersion: v1\nkind: Config\nusers:\n  - name: admin\n    user:\n      password: CANARY\n",
	"a kubeconfig, admin.conf":      "-- admin.conf --\napiVersion: v1\nkind: Config\nusers:\n  - name: admin\n    user:\n      client-key-data: PEM64\n",
	"a kubeconfig in YAML":          "-- kubeconfig.yaml --\napiVersion: v1\nkind: Config\nusers:\n  - name: admin\n    user:\n      client-key-data: LONGPEM64\n",
	"Talos, secrets":                "-- talsecret.yaml --\ncluster:\n  id: x\n  secret: CANARYabcdefghijklmnopqrstuvwxyz0123456789=\nsecrets:\n  bootstraptoken: a1b2c3.d4e5f6a7b8c9d0e1\n",
	"Talos, a token":                "-- talsecret.yaml --\ntrustdinfo:\n  token: a1b2c3.d4e5f6a7b8c9d0e1\n",
	"Talos, a key":                  "-- talsecret.yaml --\ncerts:\n  os:\n    crt: Q0VSVA==\n    key: TALOS64\n",
	"Talos, a control plane":        "-- controlplane.yaml --\nversion: v1alpha1\nmachine:\n  type: controlplane\n  token: a1b2c3.d4e5f6a7b8c9d0e1\n  ca:\n    crt: Q0VSVA==\n    key: TALOS64\n",
	"Talos, a patch":                "-- talconfig.yaml --\nclusterName: a\npatches:\n  - |-\n    machine:\n      files:\n        - path: /etc/x\n          content: |\n            [auth]\n            password = CANARY\n",
	"binaryData":                    "-- a.yaml --\n" + configMapHead + "binaryData:\n  app.properties: FILE64\n",
	"base64 in a ConfigMap":         "-- a.yaml --\n" + configMapHead + "data:\n  config: FILE64\n",
	"base64 over lines":             "-- a.yaml --\n" + configMapHead + "binaryData:\n  config: |\n    FILE64LINES\n",
	"a key in binaryData":           "-- a.yaml --\n" + configMapHead + "binaryData:\n  tls: PEM64\n",
	"a replacement":                 "-- kustomization.yaml --\nreplacements:\n  - sourceValue: CANARY\n    targets:\n      - select: {kind: Secret, name: db}\n        fieldPaths: [stringData.replication]\n",
	"a replacement of a setting":    "-- kustomization.yaml --\nreplacements:\n  - sourceValue: CANARY\n    targets:\n      - select: {kind: HelmRelease, name: db}\n        fieldPaths: [spec.values.auth.password]\n",
	"a replacement, a file":         "-- kustomization.yaml --\nreplacements:\n  - path: r.yaml\n-- r.yaml --\nsourceValue: CANARY\ntargets:\n  - select: {kind: Secret, name: db}\n    fieldPaths: [stringData.replication]\n",
	"a Secret in JSON":              "-- a.json --\n{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\"},\"stringData\":{\"replication\":\"CANARY\"}}\n",
	"a Secret in JSON, base64":      "-- a.json --\n{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Secret\",\n  \"metadata\": {\"name\": \"db\"},\n  \"data\": {\"replication\": \"BASE64\"}\n}\n",
	"a Secret that is no YAML":      "-- a.yaml --\n" + secretHead + "stringData:\n\tpassword: CANARY\n",
	"a Secret that is no YAML, key": "-- a.yaml --\n" + secretHead + "stringData:\n  replication: CANARY\n wrong: [\n",
	"a Secret that is no YAML, 64":  "-- a.yaml --\n" + secretHead + "data:\n  replication: BASE64\n wrong: [\n",
	"JSON that is cut off":          "-- a.json --\n{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\"},\"stringData\":{\"password\":\"CANARY\"\n",
	"an ExternalSecret's template":  "-- a.yaml --\napiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: db}\nspec:\n  target:\n    template:\n      data:\n        password: CANARY\n",
	"a fake store":                  "-- a.yaml --\napiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: db}\nspec:\n  provider:\n    vault:\n      token: CANARY\n",
	"a SealedSecret's template":     "-- a.yaml --\napiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: db}\nspec:\n  encryptedData: {}\n  template:\n    data:\n      password: CANARY\n",
	"a policy that creates one":     "-- a.yaml --\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: db}\nspec:\n  rules:\n    - name: a\n      generate:\n        kind: Secret\n        data:\n          stringData:\n            password: CANARY\n",
	"an argument of a shell":        "-- a.yaml --\n" + deploymentHead + "          command: [sh, -c, \"exec app --db-password=CANARY --verbose\"]\n",
	"an argument in a text":         "-- a.yaml --\n" + deploymentHead + "          command:\n            - sh\n            - -c\n            - |\n              set -e\n              exec app --db-password=CANARY\n",
	"a URL in an argument":          "-- a.yaml --\n" + deploymentHead + "          args: [\"--dsn=postgres://app:CANARY@db/app\"]\n",
	"a header":                      "-- a.yaml --\n" + deploymentHead + "          args: [\"--header\", \"Authorization: Bearer CANARY\"]\n",
	"an address of a webhook":       "-- a.yaml --\napiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Provider\nmetadata: {name: a, namespace: apps}\nspec:\n  type: generic\n  address: https://hooks.acme.net/in/CANARY\n",
	"a webhook in the environment":  "-- a.yaml --\n" + deploymentHead + "          env:\n            - name: ALERT_WEBHOOK_URL\n              value: https://hooks.acme.net/in/CANARY\n",
	"an address with a token":       "-- a.yaml --\napiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Provider\nmetadata: {name: a, namespace: apps}\nspec:\n  type: generic\n  address: https://hooks.acme.net/in?access_token=CANARY\n",
	"values of a chart":             "-- chart/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n-- chart/values.yaml --\nauth:\n  password: CANARY\n",
	"a template of settings":        "-- app.toml.tmpl --\n[db]\nuser = \"{{ .user }}\"\npassword = \"CANARY\"\n",
	"a service account of Google":   "-- sa.json --\n{\"type\":\"service_account\",\"private_key\":\"ESCAPEDPEM\"}\n",
	"an element of XML":             "-- config.xml --\n<Config>\n  <ApiKey>CANARY</ApiKey>\n</Config>\n",
	"XML in a ConfigMap":            "-- a.yaml --\n" + configMapHead + "data:\n  config.xml: |\n    <Config>\n      <ApiKey>CANARY</ApiKey>\n    </Config>\n",
	"a flag in a text":              "-- a.yaml --\n" + deploymentHead + "          command: [sh, -c, \"exec app --db-password CANARY --verbose\"]\n",
	"a user of curl":                "-- a.yaml --\n" + deploymentHead + "          command: [sh, -c, \"curl -u bot:CANARY https://a.b\"]\n",
	"keys of an API server":         "-- enc.yaml --\napiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n  - resources: [secrets]\n    providers:\n      - secretbox:\n          keys:\n            - name: key1\n              secret: BASE64\n",
	"a manifest in base64":          "-- a.yaml --\n" + configMapHead + "binaryData:\n  a.yaml: SECRET64\n",
	"a snippet of nginx":            "-- a.yaml --\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: a\n  annotations:\n    nginx.ingress.kubernetes.io/configuration-snippet: |\n      proxy_set_header Authorization \"Bearer CANARY\";\n",
	"the environment of Compose":    "-- compose.yaml --\nservices:\n  db:\n    image: postgres\n    environment:\n      - POSTGRES_PASSWORD=CANARY\n",
	"variables of Ansible":          "-- group_vars/all.yml --\ndb_password: CANARY\n",
	"a file that is a value":        "-- apps/db-password.txt --\nCANARY\n",
	"an age key in a ConfigMap":     "-- a.yaml --\n" + configMapHead + "data:\n  key: AGEKEY\n",
}

// encodings are what stands for the values that [beyond] holds.
func encodings() *strings.Replacer {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	body := strings.Repeat("MIIEowIBAAKCAQEAq83nVwX/zR7+PdLt9Yc0", 2)
	pem := "-----BEGIN RSA PRIVATE" + " KEY-----\n" + body + "\n-----END RSA PRIVATE" + " KEY-----\n"
	long := "-----BEGIN RSA PRIVATE" + " KEY-----\n" + strings.Repeat(body+"\n", 60) + "-----END RSA PRIVATE" + " KEY-----\n"
	talos := "-----BEGIN ED25519 PRIVATE" + " KEY-----\n" + body[:64] + "\n-----END ED25519 PRIVATE" + " KEY-----\n"
	file := encode("host=db\ndb.user=app\ndb.password=" + canary + "\n")
	return strings.NewReplacer("LONGPEM64", encode(long), "PEM64", encode(pem), "TALOS64", encode(talos), "USERBASE64", encode("bot:"+canary),
		"SECRET64", encode(secretHead+"stringData:\n  replication: "+canary+"\n"), "ESCAPEDPEM", strings.ReplaceAll(pem, "\n", "\\n"), "FILE64LINES", file[:40]+"\n    "+file[40:], "FILE64", file, "CANARY", canary, "BASE64", encode(canary),
		"AGEKEY", "AGE-SECRET-KEY-"+"184JMZMVQH3E6U0PSL869004Y3U2NYV7R30EU99CSEDNPH02YUVFSZW44VU")
}

// TestPlaintextBeyondManifests: a password in plaintext is an error in the files of other tools and
// formats, too, and neither messages nor source lines show it.
func TestPlaintextBeyondManifests(t *testing.T) {
	t.Parallel()
	for name, files := range beyond {
		files = encodings().Replace(files)
		repo := ruletest.Load(t, files)
		var found []finding.Finding
		for _, r := range all {
			if slices.Contains(clearRules, r.ID) || r.ID == "sops-private-key" {
				found = append(found, ruletest.Find(t, r, files)...)
			}
		}
		if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Severity == finding.Error && f.Line > 0 }) {
			t.Errorf("%s is not an error: %v\n%s", name, found, files)
		}
		for _, f := range found {
			if !hidden(f.Message + f.Hint) {
				t.Errorf("%s is told: %v", name, f)
			}
		}
		for _, file := range repo.Paths() {
			for n := 1; ; n++ {
				line, ok := repo.Lines().Line(file, n)
				if !ok {
					break
				}
				if !hidden(line) {
					t.Errorf("%s is shown: %s:%d: %s", name, file, n, line)
				}
			}
		}
	}
}

// hidden says whether a text shows nothing of the canary, as it is or in base64.
func hidden(text string) bool {
	for _, value := range []string{canary, "a1b2c3.d4e5f6a7b8c9d0e1", base64.StdEncoding.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte("bot:" + canary))} {
		if strings.Contains(text, value) {
			return false
		}
	}
	return true
}
