package chartref

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// bucketName matches the names of buckets on S3 servers.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$`)

// FromBucket returns the source of a Bucket. The error is the reason why it cannot be fetched.
func FromBucket(bucket map[string]any) (Source, error) {
	switch provider := cmp.Or(text(bucket, "spec", "provider"), "generic"); {
	case provider == "gcp" || provider == "azure":
		return Source{}, fmt.Errorf("a Bucket of the provider %s has no S3 API", provider)
	case provider != "generic" && provider != "aws":
		return Source{}, fmt.Errorf("the provider %q of the Bucket is unknown", provider)
	}
	endpoint, name, scheme := text(bucket, "spec", "endpoint"), text(bucket, "spec", "bucketName"), "https"
	if err := plain(endpoint, name); err != nil {
		return Source{}, err
	}
	if insecure, _ := field(bucket, "spec", "insecure").(bool); insecure {
		scheme = "http"
	}
	if strings.Contains(endpoint, "://") {
		return Source{}, errors.New("the endpoint has a scheme, which source-controller refuses")
	}
	address, err := check(scheme + "://" + endpoint)
	if err != nil {
		return Source{}, err
	}
	if parsed, err := url.Parse(address); err != nil || strings.Trim(parsed.Path, "/") != "" {
		return Source{}, errors.New("the endpoint has a path, which source-controller refuses")
	}
	if !bucketName.MatchString(name) || path.Clean(name) != name {
		return Source{}, fmt.Errorf("%q is not a valid bucket name", name)
	}
	s := Source{Kind: Bucket, URL: address + "/" + name, Prefix: text(bucket, "spec", "prefix"), Region: text(bucket, "spec", "region"), Ignore: text(bucket, "spec", "ignore")}
	return s, s.plain()
}

// Endpoint returns the address of the server of a Bucket, and the name of the bucket.
func (s Source) Endpoint() (address, bucket string) {
	at := strings.LastIndexByte(s.URL, '/')
	return s.URL[:at], s.URL[at+1:]
}
