package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"time"
)

// file is a file in an archive or an image layer.
type file struct {
	name    string
	mode    os.FileMode
	content []byte
}

// packFiles packs files in order, into a .zip or a .tar.gz file depending on the name.
func packFiles(name string, at time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	if strings.HasSuffix(name, ".zip") {
		w := zip.NewWriter(&out)
		for _, f := range files {
			h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
			h.SetMode(f.mode)
			to, err := w.CreateHeader(h)
			if err != nil {
				return nil, err
			}
			if _, err := to.Write(f.content); err != nil {
				return nil, err
			}
		}
		err := w.Close()
		return out.Bytes(), err
	}
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(w, at, files); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// writeTar writes files that belong to root. A name that ends in a slash is a folder.
func writeTar(to io.Writer, at time.Time, files []file) error {
	w := tar.NewWriter(to)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: at, Format: tar.FormatPAX, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.mode&os.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	return w.Close()
}
