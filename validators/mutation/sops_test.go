package mutation_test

import "strings"

// The keys of the homelab's specification.
const (
	homelabCluster  = "age1a36ag9um4laz90scxwu854ah544u7tnrga60ns7yfnvv7z2m6fasqf6zn3"
	homelabPlatform = "age1matzr8p33rcuv6wfy6ppkuwtm9982r524msjw2fe675x8qzx25xs6xhll8"
	homelabFriend   = "age1mvsk2ned2cr7jhc8fw7nh0gsa2vcdv3mynunms5j6650ty27wpzs2c7mrm"
	jellyfin        = "kubernetes/apps/media/jellyfin/"
)

// sealed is a Secret as SOPS encrypts it to some keys; more stands before its metadata.
func sealed(more string, keys ...string) string {
	text := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: jellyfin\n  namespace: media\nstringData:\n  token: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]\n" +
		more + "sops:\n  age:\n"
	for _, key := range keys {
		text += "    - recipient: " + key + "\n      enc: sealed\n"
	}
	return text + "  lastmodified: \"2026-01-01T00:00:00Z\"\n  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]\n  encrypted_regex: ^(data|stringData)$\n  mac_only_encrypted: true\n  version: 3.13.3\n"
}

// listed adds a Secret to jellyfin's kustomization.
func listed(file, content string) []edit {
	return []edit{
		replace(jellyfin+"app/kustomization.yaml", "resources:\n", "resources:\n- "+file+"\n"),
		add(jellyfin+"app/"+file, content),
	}
}

// encryption is the specification's, which says what keys the cluster has.
var encryption = add("fleet/encryption.yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata:\n  name: encryption\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n"+
	"spec:\n  recipients:\n    platform:\n      age: ["+homelabPlatform+"]\n    clusters:\n      cluster:\n        age: ["+homelabCluster+"]\n")

// sopsMutants put secrets in plaintext, or encrypt them to others than those who need them.
var sopsMutants = []mutant{
	{
		name: "secret-in-clear", example: "homelab", rule: "sops-plaintext-secret",
		edits: listed("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: jellyfin\n  namespace: media\ndata:\n  user: YWRtaW4=\n  «»token: cThaciMyTHdYOWJONHZUazE=\n"),
	},
	{
		name: "variables-in-clear", example: "homelab", rule: "sops-plaintext-secret",
		edits: []edit{add(jellyfin+"app/jellyfin.sops.env", "MODE=fast\n«»TOKEN=q8Zr2LwX9bN4vTk1\n")},
	},
	{
		name: "values-in-clear-that-the-rule-does-not-choose", example: "homelab", rule: "sops-plaintext-secret",
		edits: []edit{add(jellyfin+"app/values.sops.yaml", "db:\n  «»password: hunter2\n")},
	},
	{
		name: "mac-removed", example: "homelab", rule: "sops-broken",
		edits: listed("secret.sops.yaml", strings.Replace(strings.Replace(sealed("", homelabCluster, homelabPlatform), "  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]\n", "", 1), "sops:\n", "«»sops:\n", 1)),
	},
	{
		name: "value-added-by-hand", example: "homelab", rule: "sops-partial",
		edits: listed("secret.sops.yaml", strings.Replace(sealed("", homelabCluster, homelabPlatform), "stringData:\n", "stringData:\n  «»password: hunter2\n", 1)),
	},
	{
		name: "generator-with-a-literal", example: "homelab", rule: "sops-generator-plaintext",
		edits: []edit{replace(jellyfin+"app/kustomization.yaml", "resources:\n", "secretGenerator:\n- name: jellyfin\n  literals:\n  - «»token=q8Zr2LwX9bN4vTk1\nresources:\n")},
	},
	{
		name: "generator-of-a-file-in-clear", example: "homelab", rule: "sops-generator-plaintext",
		edits: []edit{
			replace(jellyfin+"app/kustomization.yaml", "resources:\n", "secretGenerator:\n- name: jellyfin\n  envs:\n  - «»jellyfin.env\nresources:\n"),
			add(jellyfin+"app/jellyfin.env", "USER=admin\nTOKEN=q8Zr2LwX9bN4vTk1\n"),
		},
	},
	{
		name: "colleague-not-added", example: "homelab", rule: "sops-recipient-missing",
		edits: listed("secret.sops.yaml", strings.Replace(sealed("", homelabCluster), "sops:\n", "«»sops:\n", 1)),
	},
	{
		name: "colleague-not-removed", example: "homelab", rule: "sops-recipient-stale",
		edits: listed("secret.sops.yaml", strings.Replace(sealed("", homelabCluster, homelabPlatform, homelabFriend), "- recipient: "+homelabFriend, "- «»recipient: "+homelabFriend, 1)),
	},
	{
		name: "file-renamed", example: "homelab", rule: "sops-rule-missing",
		edits: listed("secret.enc.yaml", strings.Replace(sealed("", homelabCluster, homelabPlatform), "sops:\n", "«»sops:\n", 1)),
	},
	{
		name: "rule-below-a-rule-for-all", example: "homelab", rule: "sops-rule-unused",
		edits: []edit{replace(".sops.yaml", "creation_rules:\n- path_regex", "creation_rules:\n- age: "+homelabPlatform+"\n- «»path_regex")},
	},
	{
		name: "decryption-removed", example: "homelab", rule: "sops-decryption-missing",
		edits: append(listed("secret.sops.yaml", sealed("", homelabCluster, homelabPlatform)),
			replace(jellyfin+"ks.yaml", "spec:\n  dependsOn:\n  - name: envoy-gateway\n  decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n", "«»spec:\n  dependsOn:\n  - name: envoy-gateway\n")),
	},
	{
		name: "encrypted-to-somebody-else", example: "homelab", rule: "sops-undecryptable",
		edits: append(listed("secret.sops.yaml", strings.Replace(sealed("", homelabPlatform), "sops:\n", "«»«sops-recipient-missing»sops:\n", 1)), encryption),
	},
	{
		name: "private-key-committed", example: "homelab", rule: "sops-private-key",
		edits: []edit{add("age.agekey", "# created: 2026-01-01T00:00:00Z\n«»AGE-SECRET-KEY-"+"184JMZMVQH3E6U0PSL869004Y3U2NYV7R30EU99CSEDNPH02YUVFSZW44VU\n")},
	},
	{
		name: "password-in-values", example: "homelab", rule: "secret-hardcoded",
		edits: []edit{replace("kubernetes/apps/network/external-dns/app/helmrelease.yaml", "    triggerLoopOnEvent: true\n", "    triggerLoopOnEvent: true\n    apiToken: «»q8Zr2LwX9bN4vTk1\n")},
	},
	{
		name: "password-among-variables", example: "homelab", rule: "secret-hardcoded",
		edits: []edit{replace("kubernetes/flux/cluster/cluster-vars.yaml", "CLUSTER_NAME: home", "CLUSTER_NAME: home\n  DB_PASSWORD: «»S3cr3t-V4lue")},
	},
}
