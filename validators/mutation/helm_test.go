package mutation_test

import "slices"

// helmMutants break a release of a chart that is in the repository.
var helmMutants = []mutant{
	{
		name: "a-text-for-a-number", example: "homelab", rule: "flux-helm-values",
		edits: motd(motdRelease("port: 80", `port: «»"80"`)),
	},
	{
		name: "unknown-to-the-chart", example: "homelab", rule: "flux-helm-values",
		edits: motd(motdRelease("  values:", "  values:\n    texts: «»Hello")),
	},
	{
		name: "unused-by-the-chart", example: "homelab", rule: "helm-value-unused",
		edits: motd(replace("charts/motd/values.schema.json", `"additionalProperties": false,`, ""), motdRelease("    port: 80\n", "    port: 80\n    «»prot: 81\n")),
	},
	{
		name: "missing", example: "homelab", rule: "flux-helm-values",
		edits: motd(motdRelease("  values:\n    text: Hello\n    port: 80\n", "  «»values: {}\n")),
	},
	{
		name: "fails-by-the-chart's-own-word", example: "homelab", rule: "flux-helm-failed",
		edits: motd(motdRelease("port: 80", "port: 8080"), mark(motdFile, "kind: «»HelmRelease")),
	},
	{
		name: "template-that-is-none", example: "homelab", rule: "flux-helm-failed",
		edits: motd(replace("charts/motd/templates/config.yaml", "{{ .Values.text | quote }}", "{{ .Values.text | quoted }}"),
			mark(motdFile, "kind: «»HelmRelease")),
	},
	{
		name: "folder-moved", example: "homelab", rule: "flux-helm-failed",
		edits: motd(motdRelease("chart: charts/motd", "chart: «»charts/message")),
	},
	{
		name: "of-a-chart-and-a-file", example: "homelab", rule: "ownership-duplicate",
		edits: motd(
			replace("kubernetes/apps/flux-system/flux-operator/app/kustomization.yaml", "resources:\n", "resources:\n- motd.yaml\n"),
			add("kubernetes/apps/flux-system/flux-operator/app/motd.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: motd\n  namespace: flux-system\n"),
			mark(motdFile, "«»apiVersion: helm"),
		),
	},
	{
		name: "of-a-chart", example: "homelab", rule: "schema-invalid",
		edits: motd(
			replace("charts/motd/templates/service.yaml", "port: {{ .Values.port }}", "port: {{ .Values.port | quote }}"),
			mark(motdFile, "«»apiVersion: helm"),
		),
	},
}

const motdFile = "kubernetes/apps/flux-system/flux-instance/app/motd.yaml"

const motdManifest = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: motd
  namespace: flux-system
spec:
  chart:
    spec:
      chart: charts/motd
      sourceRef:
        kind: GitRepository
        name: flux-system
  interval: 1h0m0s
  timeout: 5m0s
  serviceAccountName: helm-controller
  install:
    strategy:
      name: RetryOnFailure
  upgrade:
    strategy:
      name: RetryOnFailure
  values:
    text: Hello
    port: 80
`

// motd adds a chart and a release of it to the homelab, and breaks them.
func motd(breaks ...edit) []edit {
	return slices.Concat([]edit{
		replace("kubernetes/apps/flux-system/flux-instance/app/kustomization.yaml", "resources:\n", "resources:\n- motd.yaml\n"),
		add(motdFile, motdManifest),
		add("charts/motd/Chart.yaml", "apiVersion: v2\nname: motd\nversion: 1.0.0\n"),
		add("charts/motd/values.yaml", "port: 443\n"),
		add("charts/motd/values.schema.json", `{"type": "object", "required": ["text"], "additionalProperties": false,
  "properties": {"text": {"type": "string"}, "port": {"type": "integer"}, "global": {}}}`),
		add("charts/motd/templates/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  text: {{ .Values.text | quote }}\n"),
		add("charts/motd/templates/service.yaml", `{{- if gt (int .Values.port) 1024 }}{{ fail "the port must be below 1024" }}{{ end }}
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  ports:
    - port: {{ .Values.port }}
`),
	}, breaks)
}

// motdRelease changes the release.
func motdRelease(old, fresh string) edit { return replace(motdFile, old, fresh) }
