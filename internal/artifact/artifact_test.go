package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"strings"
	"testing"
)

// The bytes depend on the files alone, and lead back to them.
func TestPack(t *testing.T) {
	files := Files{"b.yaml": []byte("b"), "a/b/c": nil, strings.Repeat("long/", 60) + "x": []byte("long"), "ä": []byte("ä")}
	first, err := Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if again, err := Pack(maps.Clone(files)); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("other bytes, %v", err)
		}
	}
	read, err := Unpack(first)
	if err != nil || !maps.EqualFunc(files, read, bytes.Equal) {
		t.Errorf("%v, %v", read, err)
	}
	for _, name := range []string{"../x", "/x", "a/../../x", ".", "", `a\b`} {
		if _, err := Pack(Files{name: nil}); err == nil {
			t.Errorf("%q is packed", name)
		}
	}
}

func archiveOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)
	for _, h := range headers {
		if err := packed.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if packed.Close() != nil || zipped.Close() != nil {
		t.Fatal("close")
	}
	return out.Bytes()
}

// What leads out of an archive, or comes to too much, is refused; links are left out.
func TestExtract(t *testing.T) {
	good := archiveOf(t, tar.Header{Name: "./", Typeflag: tar.TypeDir}, tar.Header{Name: "./a/b.yaml", Size: 3},
		tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "../../x"})
	files, err := Extract(good)
	if err != nil || len(files) != 1 || len(files["a/b.yaml"]) != 3 {
		t.Errorf("%v, %v", files, err)
	}
	for want, data := range map[string][]byte{
		`"../evil" leads out`:     archiveOf(t, tar.Header{Name: "../evil", Size: 1}),
		`"/etc/evil" leads out`:   archiveOf(t, tar.Header{Name: "/etc/evil", Size: 1}),
		`"a/../../b" leads out`:   archiveOf(t, tar.Header{Name: "a/../../b", Size: 1}),
		"not a tar.gz":            []byte("hello"),
		"the archive has more":    archiveOf(t, tar.Header{Name: "bomb", Size: Most + 1}),
		"the archive is not vali": good[:len(good)/2],
	} {
		if _, err := Extract(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	many := make([]tar.Header, Most/overhead+1)
	for i := range many {
		many[i].Name, many[i].Typeflag = "d", tar.TypeDir
	}
	if _, err := Extract(archiveOf(t, many...)); err == nil {
		t.Error("an archive of too many entries is read")
	}
}
