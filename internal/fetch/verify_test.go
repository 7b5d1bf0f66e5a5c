package fetch

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
	"github.com/fleetwright/fleetwright/internal/lock"
)

func newSigner(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A chart whose signature is asked for is fetched only if a key made it, and what is cached is verified without a network.
func TestVerify(t *testing.T) {
	s := fetchtest.New(t)
	ofRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, of25519, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	mine, other := newSigner(t), newSigner(t)
	signed := func(name string) (chartref.Ask, string) {
		manifest := s.Push("charts/"+name, "1.0.0", fetchtest.Layer, fetchtest.Chart(t, name, "1.0.0", name))
		return chartref.Ask{URL: "oci://" + s.Registry() + "/charts/" + name, Tag: "1.0.0", Insecure: true}, manifest
	}
	pem := func(keys ...crypto.Signer) (all string) {
		for _, key := range keys {
			all += fetchtest.PublicKey(t, key)
		}
		return all
	}
	for i, c := range []struct {
		by   []crypto.Signer
		keys []string
		want string
	}{
		{[]crypto.Signer{mine}, []string{pem(mine)}, ""},
		{[]crypto.Signer{other, mine}, []string{pem(mine)}, ""},
		{[]crypto.Signer{mine}, []string{pem(other, mine)}, ""},
		{[]crypto.Signer{ofRSA}, []string{pem(ofRSA)}, ""},
		{[]crypto.Signer{of25519}, []string{pem(of25519)}, ""},
		{[]crypto.Signer{mine, other}, []string{pem(mine), pem(other)}, ""},
		{[]crypto.Signer{mine}, []string{pem(mine), pem(other)}, "matches the public keys in the repository"},
		{[]crypto.Signer{other}, []string{pem(mine)}, "matches the public keys in the repository"},
		{nil, []string{pem(mine)}, "it is not signed"},
		{[]crypto.Signer{mine}, []string{"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"}, "a public key in the repository is not valid"},
	} {
		ask, manifest := signed(fmt.Sprintf("app%d", i))
		if c.by != nil {
			s.Sign(t, strings.TrimPrefix(ask.URL, "oci://"+s.Registry()+"/"), manifest, manifest, c.by...)
		}
		o := options(t)
		o.Keys = func(chartref.Ask) []string { return c.keys }
		out := one(t, o, ask)
		if c.want != "" {
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("%d: the error is %v, want one with %q", i, out.Err, c.want)
			}
			continue
		}
		if out.Err != nil || out.Unverified != "" || out.Entry.Signature == "" {
			t.Errorf("%d: %+v", i, out)
			continue
		}
		o.Lock.Put(out.Entry)
		requests := s.Requests("")
		if again := one(t, o, ask); again.Status != Cached || again.Entry != out.Entry || s.Requests("") > requests {
			t.Errorf("%d: again %+v with %d requests", i, again, s.Requests("")-requests)
		}
		o.Keys = func(chartref.Ask) []string { return []string{pem(newSigner(t))} }
		if again := one(t, o, ask); again.Err == nil {
			t.Errorf("%d: with another key: %+v", i, again)
		}
	}
}

// Signatures of other artifacts, and locks that name them, prove nothing.
func TestVerifyLies(t *testing.T) {
	s, mine := fetchtest.New(t), newSigner(t)
	good := s.Push("charts/app", "1.0.0", fetchtest.Layer, fetchtest.Chart(t, "app", "1.0.0", "good"))
	bad := s.Push("charts/app", "2.0.0", fetchtest.Layer, fetchtest.Chart(t, "app", "2.0.0", "bad"))
	s.Sign(t, "charts/app", good, good, mine)
	s.Sign(t, "charts/app", bad, good, mine)
	o := options(t)
	o.Keys = func(chartref.Ask) []string { return []string{fetchtest.PublicKey(t, mine)} }
	ask := chartref.Ask{URL: "oci://" + s.Registry() + "/charts/app", Tag: "1.0.0", Insecure: true}
	first := one(t, o, ask)
	if first.Err != nil {
		t.Fatal(first.Err)
	}
	badAsk := ask
	badAsk.Tag = "2.0.0"
	if out := one(t, o, badAsk); out.Err == nil || !strings.Contains(out.Err.Error(), "no signature of "+bad+" matches the public keys") {
		t.Errorf("%+v", out)
	}
	// A forged lock names another archive in the cache beside the proof.
	other, err := o.Cache.Write(fetchtest.Chart(t, "app", "9.9.9", "forged"))
	if err != nil {
		t.Fatal(err)
	}
	forged := first.Entry
	forged.SHA256 = other
	for _, entry := range []lock.Chart{forged, {Ask: ask, Resolved: "1.0.0", Manifest: bad, SHA256: other, Signature: first.Entry.Signature}} {
		if isVerified(o.Cache, entry, o.Keys(ask)) {
			t.Errorf("%+v is verified", entry)
		}
	}
	if !isVerified(o.Cache, first.Entry, o.Keys(ask)) || isVerified(cache.New(t.TempDir()), first.Entry, o.Keys(ask)) {
		t.Error("the proof is not that in the cache")
	}

	// A bundle of Sigstore is not checked, which is no failure.
	bundled := s.Push("charts/app", "3.0.0", fetchtest.Layer, fetchtest.Chart(t, "app", "3.0.0", "bundled"))
	s.Answer("/v2/charts/app/referrers/"+bundled, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		_, _ = fmt.Fprintf(w, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":2,"artifactType":"application/vnd.dev.sigstore.bundle.v0.3+json"}]}`, fetchtest.Sum([]byte("{}")))
	})
	badAsk.Tag = "3.0.0"
	if out := one(t, o, badAsk); out.Err != nil || !strings.Contains(out.Unverified, "bundle of Sigstore") {
		t.Errorf("%+v", out)
	}
}

// The files of an artifact are verified whenever they are fetched.
func TestVerifySource(t *testing.T) {
	s, mine := fetchtest.New(t), newSigner(t)
	manifest := s.Push("files", "latest", "flux/layer", fetchtest.Archive(t, map[string]string{"a.yaml": "a: 1\n"}))
	ask := chartref.Source{Kind: chartref.OCI, URL: "oci://" + s.Registry() + "/files", Tag: "latest", Insecure: true}
	o := options(t)
	o.UpdateSource = func(chartref.Source) bool { return false }
	o.SourceKeys = func(chartref.Source) []string { return []string{fetchtest.PublicKey(t, mine)} }
	if out, _ := fetchOne(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "it is not signed") {
		t.Errorf("%+v", out)
	}
	s.Sign(t, "files", manifest, manifest, mine)
	out, _ := fetchOne(t, o, ask)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	o.Lock.PutSource(out.Entry)
	s.Sign(t, "files", manifest, manifest, newSigner(t))
	if out, _ := fetchOne(t, o, ask); out.Err == nil {
		t.Error("a cached artifact is not verified again")
	}
}
