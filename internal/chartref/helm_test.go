package chartref

import (
	"strings"
	"testing"
)

func TestFromHelm(t *testing.T) {
	const digest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, c := range []struct {
		in   HelmRequest
		want Ask
	}{
		{HelmRequest{Repository: "https://example.org/", Chart: "app", Version: "1.2.3"}, Ask{URL: "https://example.org", Chart: "app", Version: "1.2.3"}},
		{HelmRequest{Repository: "https://example.org", Chart: "app"}, Ask{URL: "https://example.org", Chart: "app", Version: "*", Helm: true}},
		{HelmRequest{Repository: "https://example.org", Chart: "app", Devel: true}, Ask{URL: "https://example.org", Chart: "app", Version: ">0.0.0-0", Helm: true}},
		{HelmRequest{Repository: "oci://example.org/charts", Chart: "app:1.2.3", Insecure: true}, Ask{URL: "oci://example.org/charts/app", Version: "1.2.3", Insecure: true}},
		{HelmRequest{Repository: "oci://example.org/charts", Chart: "app:1.2.3", Version: "v2.0.0"}, Ask{URL: "oci://example.org/charts/app", Version: "v2.0.0"}},
		{HelmRequest{Repository: "oci://example.org/charts", Chart: "app", Version: "1.2.3@" + digest}, Ask{URL: "oci://example.org/charts/app", Digest: digest, Helm: true}},
		{HelmRequest{Repository: "oci://example.org:5000", Chart: "app@" + digest, Version: "1.2.3"}, Ask{URL: "oci://example.org:5000/app", Digest: digest, Helm: true}},
	} {
		if got, err := FromHelm(c.in); err != nil || got != c.want {
			t.Errorf("%+v is %+v, %v, want %+v", c.in, got, err, c.want)
		}
	}
	for want, in := range map[string]HelmRequest{
		"credentials":      {Repository: "https://ada:secret@example.org", Chart: "app"},
		"no name":          {Repository: "oci://example.org/charts", Chart: ""},
		"has no name":      {Repository: "oci://example.org/charts", Chart: "../app"},
		"cannot be latest": {Repository: "oci://example.org/charts", Chart: "app", Version: "latest"},
		"digest":           {Repository: "oci://example.org/charts", Chart: "app@sha256:aa"},
		"variable ${X}":    {Repository: "https://example.org", Chart: "app", Version: "${X}"},
	} {
		if _, err := FromHelm(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: the error is %v, want one with %q", in, err, want)
		}
	}
}

func TestFromBucket(t *testing.T) {
	bucket := func(fields ...string) map[string]any {
		spec := map[string]any{"endpoint": "s3.example.org:9000", "bucketName": "files"}
		for i := 0; i < len(fields); i += 2 {
			spec[fields[i]] = fields[i+1]
		}
		return map[string]any{"spec": spec}
	}
	got, err := FromBucket(bucket("prefix", "a/", "region", "eu", "provider", "aws", "ignore", "*.txt"))
	if want := (Source{Kind: Bucket, URL: "https://s3.example.org:9000/files", Prefix: "a/", Region: "eu", Ignore: "*.txt"}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if address, name := got.Endpoint(); address != "https://s3.example.org:9000" || name != "files" {
		t.Errorf("%s, %s", address, name)
	}
	for want, in := range map[string]map[string]any{
		"has no S3 API": bucket("provider", "gcp"), "is unknown": bucket("provider", "x"), "has a scheme": bucket("endpoint", "http://example.org"),
		"has a path": bucket("endpoint", "example.org/x"), "not a valid bucket name": bucket("bucketName", "../x"), "credentials": bucket("endpoint", "a:b@example.org"),
		"variable": bucket("prefix", "${X}"),
	} {
		if _, err := FromBucket(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: the error is %v, want one with %q", in, err, want)
		}
	}
}
