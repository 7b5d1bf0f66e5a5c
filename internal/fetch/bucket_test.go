package fetch

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/artifact"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

// noOwn is an environment without credentials of AWS.
func noOwn(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
}

func bucketOf(s *fetchtest.Server, name string) chartref.Source {
	return chartref.Source{Kind: chartref.Bucket, URL: s.URL + "/" + name}
}

// fetchOne fetches one source.
func fetchOne(t *testing.T, o Options, ask chartref.Source) (SourceOutcome, artifact.Files) {
	t.Helper()
	out := Sources(t.Context(), []chartref.Source{ask}, o)[0]
	if out.Err != nil {
		return out, nil
	}
	data, err := o.Cache.Read(out.Entry.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	files, err := artifact.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	return out, files
}

// The files of a bucket are those that source-controller takes, and so is the revision.
func TestBucket(t *testing.T) {
	noOwn(t)
	s, o := fetchtest.New(t), options(t)
	objects := map[string]string{
		".sourceignore": "*.txt\n!keep.txt\n", "deploy/a.yaml": "a: 1\n", "deploy/b c+é.yaml": "b: 1\n", "deploy/": "", "deploy/x.txt": "x", "deploy/keep.txt": "k",
		"deploy/.sourceignore": "a.yaml\n", "deploy/image.png": "png", "other/c.yaml": "c: 1\n", "/lead//d.yaml": "d: 1\n", "../up.yaml": "u: 1\n",
	}
	s.Bucket("files", "", "", objects)
	want := func(ask chartref.Source, keys ...string) {
		t.Helper()
		out, files := fetchOne(t, o, ask)
		slices.Sort(keys)
		var places []string
		sum := sha256.New()
		for _, key := range keys {
			places = append(places, place(key))
			_, _ = fmt.Fprintf(sum, "%s %s\n", key, fetchtest.Tag([]byte(objects[key])))
			if string(files[place(key)]) != objects[key] {
				t.Errorf("%q is %q", key, files[place(key)])
			}
		}
		slices.Sort(places)
		if got := slices.Sorted(maps.Keys(files)); out.Err != nil || !slices.Equal(got, places) {
			t.Errorf("%s: the files are %q, %v, want %q", ask, got, out.Err, places)
		}
		if want := fmt.Sprintf("sha256:%x", sum.Sum(nil)); out.Entry.Revision != want {
			t.Errorf("%s: the revision is %s, want %s", ask, out.Entry.Revision, want)
		}
	}
	all := bucketOf(s, "files")
	want(all, "deploy/a.yaml", "deploy/b c+é.yaml", "deploy/keep.txt", "deploy/.sourceignore", "deploy/image.png", "other/c.yaml", "/lead//d.yaml", "../up.yaml")
	below := all
	below.Prefix = "deploy/"
	want(below, "deploy/a.yaml", "deploy/b c+é.yaml", "deploy/keep.txt", "deploy/.sourceignore", "deploy/image.png")
	below.Ignore = "/*\n!/deploy/\n*.png\n.sourceignore\n*.txt"
	want(below, "deploy/a.yaml", "deploy/b c+é.yaml")

	again, _ := fetchOne(t, options(t), all)
	if first, _ := fetchOne(t, options(t), all); again.Entry != first.Entry {
		t.Errorf("the same bucket is %v and %v", again.Entry, first.Entry)
	}
}

// Credentials are the user's own for the server, and sent to no other.
func TestBucketCredentials(t *testing.T) {
	s := fetchtest.New(t)
	s.Bucket("private", "AKIDEXAMPLE", "s3cr3t-Passw0rd", map[string]string{"a b.yaml": "a: 1\n"})
	s.Bucket("public", "", "", map[string]string{"a.yaml": "a: 1\n"})
	var sent []string
	s.Answer("/public/.sourceignore", func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<Error><Code>NoSuchKey</Code></Error>"))
	})
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte("machine 127.0.0.1 login AKIDEXAMPLE password s3cr3t-Passw0rd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("[profile own]\nendpoint_url = %s\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = s3cr3t-Passw0rd\n[profile other]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = s3cr3t-Passw0rd\n", s.URL)
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env    map[string]string
		netrc  string
		denied bool
	}{
		"none":             {denied: true},
		"netrc":            {netrc: netrc},
		"its endpoint":     {env: map[string]string{"AWS_ENDPOINT_URL_S3": s.URL + "/", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cr3t-Passw0rd"}},
		"any endpoint":     {env: map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cr3t-Passw0rd"}},
		"a profile":        {env: map[string]string{"AWS_PROFILE": "own", "AWS_CONFIG_FILE": profile}},
		"another profile":  {env: map[string]string{"AWS_PROFILE": "other", "AWS_CONFIG_FILE": profile}, denied: true},
		"another endpoint": {env: map[string]string{"AWS_ENDPOINT_URL": "http://localhost:1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cr3t-Passw0rd"}, denied: true},
		"no endpoint":      {env: map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cr3t-Passw0rd"}, denied: true},
		"a wrong secret":   {env: map[string]string{"AWS_ENDPOINT_URL_S3": s.URL, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wrong"}, denied: true},
	} {
		t.Run(name, func(t *testing.T) {
			noOwn(t)
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			o := options(t)
			o.Env = func(key string) string { return map[string]string{"NETRC": c.netrc}[key] }
			out, files := fetchOne(t, o, bucketOf(s, "private"))
			switch {
			case c.denied && (out.Err == nil || !strings.Contains(out.Err.Error(), "403 Forbidden, AccessDenied")):
				t.Errorf("the error is %v", out.Err)
			case !c.denied && string(files["a b.yaml"]) != "a: 1\n":
				t.Errorf("the files are %q, %v", files, out.Err)
			}
			if text := fmt.Sprint(out); strings.Contains(text, "s3cr3t") || strings.Contains(text, "AKID") || strings.Contains(text, "server's") {
				t.Errorf("a secret is shown: %s", text)
			}
			if out, _ := fetchOne(t, o, bucketOf(s, "public")); out.Err != nil {
				t.Error(out.Err)
			}
		})
	}
	if slices.ContainsFunc(sent, func(authorization string) bool { return authorization != "" }) {
		t.Errorf("credentials are sent where nobody asks for them: %q", sent)
	}
}

// What a server of buckets may do is bounded.
func TestBucketBounds(t *testing.T) {
	noOwn(t)
	s, o := fetchtest.New(t), options(t)
	s.Bucket("files", "", "", map[string]string{"a.yaml": "a: 1\n"})
	list := func(text string) {
		s.Answer("/files", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	failed := func(want string) {
		t.Helper()
		if out, _ := fetchOne(t, o, bucketOf(s, "files")); out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", out.Err, want)
		}
	}
	list("<ListBucketResult><Contents><Key>a.yaml</Key><Size>99999999999</Size></Contents></ListBucketResult>")
	failed("it has more than")
	list("<ListBucketResult><Contents><Key>a\\b.yaml</Key></Contents></ListBucketResult>")
	failed("leads out")
	list("<ListBucketResult><Contents><Key>a.yaml</Key></Contents><Contents><Key>/a.yaml</Key></Contents></ListBucketResult>")
	failed("two objects of the bucket have the path a.yaml")
	var many strings.Builder
	for i := range 8 {
		fmt.Fprintf(&many, "<Contents><Key>%d.yaml</Key><Size>1</Size></Contents>", i)
		s.Answer(fmt.Sprintf("/files/%d.yaml", i), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 9<<20)) })
	}
	list("<ListBucketResult>" + many.String() + "</ListBucketResult>")
	failed("the objects of the bucket have more than 60 MB")
	for ignore, want := range map[string]string{
		strings.Repeat("a*\n", 501):      "more than 500 patterns",
		strings.Repeat("*", 1001) + "\n": "more than 1000 characters",
	} {
		s.Answer("/files/.sourceignore", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(ignore)) })
		failed(want)
	}
	s.Answer("/files/.sourceignore", nil)
	pages := 0
	s.Answer("/files", func(w http.ResponseWriter, _ *http.Request) {
		pages++
		_, _ = fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", pages)
	})
	failed("more than 200 pages")
	s.Answer("/files", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
	})
	failed("answers 307")
	s.Answer("/files", nil)
	s.Answer("/files/a.yaml", func(w http.ResponseWriter, _ *http.Request) {
		for range 12 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	failed("larger than")
	refusing := o
	refusing.Trusted = func(string) bool { return false }
	if out, _ := fetchOne(t, refusing, bucketOf(s, "files")); out.Err == nil || !strings.Contains(out.Err.Error(), "private address") {
		t.Errorf("the error is %v", out.Err)
	}
}

// TestAmazonHost: keys of AWS go to hosts of S3, not to others that anybody may have below amazonaws.com.
func TestAmazonHost(t *testing.T) {
	for host, want := range map[string]bool{
		"s3.amazonaws.com": true, "s3.eu-west-1.amazonaws.com": true, "s3-eu-west-1.amazonaws.com": true, "files.s3.eu-west-1.amazonaws.com": true,
		"s3.dualstack.eu-west-1.amazonaws.com": true, "abc.execute-api.us-east-1.amazonaws.com": false, "s3.abc.elb.amazonaws.com.example.org": false,
		"ec2-1-2-3-4.compute-1.amazonaws.com": false, "s3evil.amazonaws.com": false,
	} {
		if got := amazonHost.MatchString(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}
