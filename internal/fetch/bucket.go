package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	awscredentials "github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/fluxcd/pkg/sourceignore"

	"github.com/fleetwright/fleetwright/internal/artifact"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/limits"
)

var bucketCode = regexp.MustCompile(`^[A-Za-z]{1,40}$`)

// Bounds of buckets.
const (
	mostPages    = 200
	mostIgnore   = 1 << 20
	bucketSlots  = 8
	usualRegion  = "us-east-1"
	amazonSuffix = ".amazonaws.com"
)

// amazonHost matches the hosts of Amazon S3. Other hosts below amazonaws.com may be anybody's, such as those of API gateways.
var amazonHost = regexp.MustCompile(`^(?:[a-z0-9-]+\.)?s3(?:[.-][a-z0-9-]+)*\.amazonaws\.com$`)

// access reaches buckets, within the bounds of all requests.
type access struct {
	transport http.RoundTripper
	netrc     func(host string) (user, password string)
	alive     func()
	now       func() time.Time
}

// bucket is a bucket of an S3 server. It uses AWS' signer, which SOPS links already; AWS' S3 client would add 5 MB.
type bucket struct {
	http   *boundedClient
	root   *url.URL // the address of the objects, with a / at its end
	region string
	keys   aws.CredentialsProvider // nil: anonymous
	now    func() time.Time
}

// fromBucket downloads the files of a bucket that source-controller downloads. Source: BucketReconciler, fetchEtagIndex and
// fetchIndexFiles.
func (a access) fromBucket(ctx context.Context, ask chartref.Source) (revision string, files artifact.Files, err error) {
	b, err := a.bucket(ask, nil)
	if err != nil {
		return "", nil, err
	}
	ignored, err := b.ignored(ctx, ask.Ignore)
	if isDenied(err) {
		keys, found := a.credentials(ctx, ask)
		if !found {
			return "", nil, fmt.Errorf("%w, and neither .netrc nor the configuration of AWS has credentials for it", err)
		}
		if b, err = a.bucket(ask, keys); err == nil {
			ignored, err = b.ignored(ctx, ask.Ignore)
		}
	}
	if err != nil {
		return "", nil, err
	}
	listed, err := b.list(ctx, ask.Prefix, ignored)
	if err != nil {
		return "", nil, err
	}
	if revision, files, err = b.download(ctx, listed); err != nil {
		return "", nil, err
	}
	return revision, files, nil
}

// bucket returns the bucket of a source.
func (a access) bucket(ask chartref.Source, keys aws.CredentialsProvider) (*bucket, error) {
	endpoint, name := ask.Endpoint()
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("the endpoint is not valid")
	}
	b := &bucket{a.client(), at, cmp.Or(ask.Region, regionOf(at.Hostname())), keys, a.now}
	if host := at.Hostname(); !strings.Contains(name, ".") && (strings.HasSuffix(host, amazonSuffix) || strings.HasSuffix(host, ".aliyuncs.com")) {
		at.Host, at.Path = name+"."+at.Host, "/"
	} else {
		at.Path = "/" + name + "/"
	}
	return b, nil
}

// regionOf returns the region in the host name of an Amazon server, or the default region for other servers.
func regionOf(host string) string {
	if rest, amazon := strings.CutSuffix(host, amazonSuffix); amazon {
		if region, found := strings.CutPrefix(rest, "s3."); found {
			return region
		}
	}
	return usualRegion
}

// client returns an HTTP client for S3 servers. It follows no redirects, since a signature is for one server.
func (a access) client() *boundedClient {
	return &boundedClient{&http.Client{Transport: a.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, a.alive}
}

type boundedClient struct {
	http  *http.Client
	alive func()
}

// Do sends a request, and limits the size of the answer.
func (b *boundedClient) Do(req *http.Request) (*http.Response, error) {
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, err
	}
	body := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{limitedTo(counted{body, b.alive}, limits.FileBytes+1<<20), body}
	return resp, nil
}

// credentials returns the user's own credentials for a server: from .netrc, or from the environment or profile of AWS if they
// are for this server. They are never used for other servers.
func (a access) credentials(ctx context.Context, ask chartref.Source) (aws.CredentialsProvider, bool) {
	endpoint, _ := ask.Endpoint()
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, false
	}
	if key, secret := a.netrc(at.Hostname()); key != "" {
		return awscredentials.NewStaticCredentialsProvider(key, secret, ""), true
	}
	own, err := config.NewEnvConfig()
	if err != nil {
		return nil, false
	}
	profile, err := config.LoadSharedConfigProfile(ctx, cmp.Or(own.SharedConfigProfile, "default"), func(o *config.LoadSharedConfigOptions) {
		if own.SharedConfigFile != "" {
			o.ConfigFiles = []string{own.SharedConfigFile}
		}
		if own.SharedCredentialsFile != "" {
			o.CredentialsFiles = []string{own.SharedCredentialsFile}
		}
	})
	if err != nil {
		profile = config.SharedConfig{} // there is none
	}
	of := func(named string) bool { return named != "" && strings.TrimRight(named, "/") == endpoint }
	if !of(os.Getenv("AWS_ENDPOINT_URL_S3")) && !of(own.BaseEndpoint) && !of(profile.BaseEndpoint) &&
		(at.Scheme != "https" || !amazonHost.MatchString(at.Hostname())) {
		return nil, false
	}
	switch {
	case own.Credentials.HasKeys():
		return awscredentials.StaticCredentialsProvider{Value: own.Credentials}, true
	case profile.Credentials.HasKeys():
		return awscredentials.StaticCredentialsProvider{Value: profile.Credentials}, true
	case profile.CredentialProcess != "":
		return processcreds.NewProvider(profile.CredentialProcess), true
	}
	return nil, false
}

// answerError is an answer of a server other than success.
type answerError struct {
	status int
	code   string
}

func (e *answerError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
	if e.code != "" {
		text += ", " + e.code
	}
	return text
}

// isDenied reports whether a server requires credentials.
func isDenied(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && (answer.status == http.StatusForbidden || answer.status == http.StatusUnauthorized)
}

func isAbsent(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == http.StatusNotFound && answer.code == "NoSuchKey"
}

// noContent is the digest of a request without a body.
const noContent = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// do requests an object, or with a query the bucket itself.
func (b *bucket) do(ctx context.Context, key string, query url.Values) (*http.Response, error) {
	at := *b.root
	at.Path += key
	at.RawPath = escaped(at.Path)
	if key == "" {
		at.Path, at.RawPath = cmp.Or(strings.TrimSuffix(at.Path, "/"), "/"), ""
	}
	at.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("the key of an object is not valid")
	}
	req.Header.Set("User-Agent", "fleetwright")
	if b.keys != nil {
		keys, err := b.keys.Retrieve(ctx)
		if err != nil {
			return nil, errors.New("the configuration of AWS has no valid credentials")
		}
		req.Header.Set("X-Amz-Content-Sha256", noContent)
		signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		if err := signer.SignHTTP(ctx, keys, req, noContent, "s3", b.region, b.now()); err != nil {
			return nil, err
		}
	}
	resp, err := b.http.Do(req)
	if err != nil || resp.StatusCode == http.StatusOK {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct {
		Code string `xml:"Code"`
	}
	if data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10)); err == nil {
		_ = xml.Unmarshal(data, &said) // an answer that is not XML has no code
	}
	if !bucketCode.MatchString(said.Code) {
		said.Code = ""
	}
	return nil, &answerError{resp.StatusCode, said.Code}
}

// escaped returns a path with the escapes that signatures use.
func escaped(at string) string {
	var out strings.Builder
	for _, b := range []byte(at) {
		if b == '/' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte("-._~", b) >= 0 {
			out.WriteByte(b)
		} else {
			_, _ = fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

// page is a part of the list of objects.
type page struct {
	IsTruncated           bool
	NextContinuationToken string
	EncodingType          string
	Contents              []struct {
		Key, ETag string
		Size      int64
	}
}

// page lists the objects below a prefix, beginning at a continuation token.
func (b *bucket) page(ctx context.Context, prefix, token string) (page, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
	if token != "" {
		query.Set("continuation-token", token)
	}
	var out page
	err := again(ctx, func() error {
		answer, err := b.do(ctx, "", query)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		data, err := readAll(answer.Body, limits.FileBytes, answer.ContentLength, func() {})
		if err != nil {
			return err
		}
		out = page{}
		return xml.Unmarshal(data, &out)
	})
	for i, o := range out.Contents {
		if key, failed := url.QueryUnescape(o.Key); failed == nil && out.EncodingType == "url" {
			out.Contents[i].Key = key
		}
	}
	return out, err
}

// ignored returns a function that matches the patterns of the bucket's .sourceignore and of the source's spec.ignore.
func (b *bucket) ignored(ctx context.Context, spec string) (func(key string) bool, error) {
	data, _, err := b.get(ctx, sourceignore.IgnoreFile, mostIgnore)
	if err != nil && !isAbsent(err) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if len(line) > limits.IgnoreLength {
			return nil, refused("the %s of the bucket has a pattern of more than %d characters", sourceignore.IgnoreFile, limits.IgnoreLength)
		}
	}
	patterns := sourceignore.ReadPatterns(strings.NewReader(string(data)), nil)
	if len(patterns) > limits.IgnorePatterns {
		return nil, refused("the %s of the bucket has more than %d patterns", sourceignore.IgnoreFile, limits.IgnorePatterns)
	}
	patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(spec), nil)...)
	matcher := sourceignore.NewMatcher(patterns)
	return func(key string) bool { return matcher.Match(strings.Split(key, "/"), false) }, nil
}

// list returns the objects below a prefix that are not ignored, with their tags, without large objects that are not manifests.
func (b *bucket) list(ctx context.Context, prefix string, ignored func(key string) bool) (map[string]string, error) {
	tags, sizes := map[string]string{}, map[string]int64{}
	token := ""
	for n := 0; ; n++ {
		if n == mostPages {
			return nil, refused("the bucket has more than %d pages of objects", mostPages)
		}
		page, err := b.page(ctx, prefix, token)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if strings.HasSuffix(o.Key, "/") || o.Key == sourceignore.IgnoreFile || ignored(o.Key) || o.Size > limits.FileBytes && !isManifest(o.Key) {
				continue
			}
			if _, taken := sizes[place(o.Key)]; taken {
				return nil, refused("two objects of the bucket have the path %s", place(o.Key))
			}
			tags[o.Key], sizes[place(o.Key)] = strings.Trim(o.ETag, `"`), max(o.Size, 0)
		}
		if err := artifact.Fits(maps.All(sizes)); err != nil {
			return nil, err
		}
		if token = page.NextContinuationToken; !page.IsTruncated || token == "" {
			return tags, nil
		}
	}
}

// place returns the path at which source-controller writes an object. No key leads out of the folder.
func place(key string) string { return strings.TrimPrefix(path.Clean("/"+key), "/") }

// download gets objects in parallel. The revision is computed as by source-controller: the digest of their keys and tags.
func (b *bucket) download(ctx context.Context, tags map[string]string) (revision string, files artifact.Files, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	contents, slots := map[string][]byte{}, make(chan struct{}, bucketSlots)
	keys := slices.Sorted(maps.Keys(tags))
	left := int64(artifact.Most) // the list may announce smaller sizes
	for _, key := range keys {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			data, tag, err := b.get(ctx, key, limits.FileBytes)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case isAbsent(err):
				delete(tags, key) // it was deleted after it was listed
			case err != nil:
				cancel(err)
			case left < int64(len(data)):
				cancel(refused("the objects of the bucket have more than %d MB", artifact.Most>>20))
			default:
				left -= int64(len(data))
				contents[key], tags[key] = data, tag
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return "", nil, err
	}
	files, sum := artifact.Files{}, sha256.New()
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		files[place(key)] = contents[key]
		_, _ = fmt.Fprintf(sum, "%s %s\n", key, tags[key])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), files, nil
}

// get returns an object of at most that many bytes, and its tag.
func (b *bucket) get(ctx context.Context, key string, most int64) (data []byte, tag string, err error) {
	err = again(ctx, func() error {
		answer, err := b.do(ctx, key, nil)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		tag = strings.Trim(answer.Header.Get("ETag"), `"`)
		data, err = readAll(answer.Body, most, answer.ContentLength, func() {})
		return err
	})
	return data, tag, err
}
