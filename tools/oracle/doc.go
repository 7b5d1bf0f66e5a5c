// Package oracle holds the verdicts of package schemas against those of others
// on the same objects: the API server's own decoding and server-side apply of the
// built-in kinds, and kubeconform. It is a module of its own, so that neither
// weighs on the product.
//
//	go -C tools/oracle test -v .
package oracle
