package fetchtest

import (
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// bucket is a bucket with an S3 API: its objects, and the key of its reader, "" if anybody may read it.
type bucket struct {
	objects     map[string][]byte
	key, secret string
}

// Bucket adds a bucket with objects by key. With a key and a secret it answers only requests that are signed with them.
func (s *Server) Bucket(name, key, secret string, objects map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &bucket{objects: map[string][]byte{}, key: key, secret: secret}
	for at, content := range objects {
		b.objects[at] = []byte(content)
	}
	if s.buckets == nil {
		s.buckets = map[string]*bucket{}
	}
	s.buckets[name] = b
}

// Tag returns the entity tag of an object in a bucket.
func Tag(content []byte) string { return fmt.Sprintf("%x", md5.Sum(content)) }

// pageSize is the number of objects that a bucket lists per page.
const pageSize = 3

// serveBucket serves the buckets, and reports whether the request was for one. The caller holds the lock.
func (s *Server) serveBucket(w http.ResponseWriter, r *http.Request) bool {
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	b := s.buckets[name]
	switch {
	case b == nil:
		return false
	case b.key != "" && !b.signed(r):
		refuse(w, http.StatusForbidden, "AccessDenied")
	case key != "":
		content, found := b.objects[key]
		if !found {
			refuse(w, http.StatusNotFound, "NoSuchKey")
			return true
		}
		w.Header().Set("ETag", strconv.Quote(Tag(content)))
		_, _ = w.Write(content)
	case r.URL.Query().Get("list-type") == "2":
		b.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("continuation-token"), r.URL.Query().Get("encoding-type"))
	default:
		refuse(w, http.StatusNotImplemented, "NotImplemented")
	}
	return true
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>a text of the server's</Message></Error>", code)
}

// list lists the objects whose keys begin with a prefix, after one of them.
func (b *bucket) list(w http.ResponseWriter, prefix, after, encoding string) {
	type object struct {
		Key, ETag string
		Size      int
	}
	out := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		EncodingType          string `xml:",omitempty"`
		Contents              []object
	}{EncodingType: encoding}
	var keys []string
	for key := range b.objects {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if out.IsTruncated = len(keys) > pageSize; out.IsTruncated {
		keys = keys[:pageSize]
		out.NextContinuationToken = keys[pageSize-1]
	}
	for _, key := range keys {
		named := key
		if encoding == "url" {
			named = url.QueryEscape(key)
		}
		out.Contents = append(out.Contents, object{named, strconv.Quote(Tag(b.objects[key])), len(b.objects[key])})
	}
	_ = xml.NewEncoder(w).Encode(out)
}

// signed reports whether a request has a signature of version 4 that was created with the key of the bucket.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func (b *bucket) signed(r *http.Request) bool {
	fields := map[string]string{}
	for field := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] != b.key {
		return false
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		if name == "content-length" {
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	query := strings.Split(r.URL.RawQuery, "&")
	slices.Sort(query)
	request := strings.Join([]string{r.Method, cmp.Or(r.URL.EscapedPath(), "/"), strings.Join(query, "&"), headers.String(), fields["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), strings.TrimPrefix(Sum([]byte(request)), "sha256:")}, "\n")
	key := []byte("AWS4" + b.secret)
	for _, part := range append(scope[1:], text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key) == fields["Signature"]
}
