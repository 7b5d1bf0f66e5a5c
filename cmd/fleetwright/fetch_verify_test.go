package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

// Signatures are checked where the repository has the public key, and otherwise said to be unresolved, once.
func TestFetchVerify(t *testing.T) {
	f := newFetchCase(t)
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	release := func(name, verify string) {
		f.put("clusters/prod/"+name+".yaml", fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: %[1]s, namespace: apps}
spec: {interval: 1h, insecure: true, url: "oci://%[2]s/charts/%[1]s", ref: {tag: 1.0.0}, verify: %[3]s}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: %[1]s}}
`, name, f.Registry(), verify))
	}
	manifests := map[string]string{}
	for _, name := range []string{"signed", "unsigned", "keyless", "notation", "encrypted"} {
		manifests[name] = f.Push("charts/"+name, "1.0.0", fetchtest.Layer, fetchtest.Chart(t, name, "1.0.0", name))
	}
	f.Sign(t, "charts/signed", manifests["signed"], manifests["signed"], mine)
	key := base64.StdEncoding.EncodeToString([]byte(fetchtest.PublicKey(t, mine)))
	f.put("clusters/prod/keys.yaml", fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: cosign, namespace: apps}
data: {cosign.pub: %s}
---
apiVersion: v1
kind: Secret
metadata: {name: encrypted, namespace: apps}
data: {cosign.pub: "ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]"}
sops: {mac: "ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]", version: 3.9.0}
`, key))
	release("signed", "{provider: cosign, secretRef: {name: cosign}}")
	release("keyless", "{provider: cosign}")
	release("notation", "{provider: notation, secretRef: {name: cosign}}")
	release("encrypted", "{provider: cosign, secretRef: {name: encrypted}}")
	app, appAt := f.Git(t, "app")
	app.Commit(map[string]string{"a.yaml": textMap("a", "text")})
	f.source("GitRepository", "app", fmt.Sprintf("url: %q, ref: {branch: main}, verify: {mode: HEAD, secretRef: {name: cosign}}", appAt), "./")
	want := []string{"HelmRelease apps/keyless: unresolved: the signature of chart keyless is not checked: signatures without a key are not checked",
		"the signature of chart notation is not checked: signatures of notation are not checked",
		"the signature of chart encrypted is not checked: the public key in Secret apps/encrypted is encrypted or unknown",
		"GitRepository apps/app: unresolved: the signature of " + appAt + " is not checked: only signatures of artifacts in registries are checked"}
	out := f.want(0, append(want, "4 charts and 1 source: 5 fetched"), "fetch", f.dir)
	if strings.Contains(out, "chart signed is not") || strings.Count(out, "unresolved") != 4 || strings.Count(f.lock(), "signature: sha256:") != 1 {
		t.Errorf("fetch says\n%s\nthe lock is\n%s", out, f.lock())
	}
	requests := f.Requests("")
	f.want(0, append(want, "5 cached"), "fetch", f.dir)
	f.want(0, []string{"5 cached"}, "fetch", "--prune", f.dir)
	f.want(0, []string{`"unverified": [`, "signatures without a key are not checked"}, "fetch", "--format", "json", f.dir)
	if f.Requests("") > requests {
		t.Error("what is verified is verified again on the network")
	}
	f.want(0, []string{"text: signed"}, "build", f.dir)

	release("unsigned", "{provider: cosign, secretRef: {name: cosign}}")
	f.want(1, []string{"HelmRelease apps/unsigned: chart unsigned is not fetched: the signature is not verified: it is not signed"}, "fetch", f.dir)
	if strings.Contains(f.lock(), "unsigned") {
		t.Errorf("the lock is\n%s", f.lock())
	}
}
