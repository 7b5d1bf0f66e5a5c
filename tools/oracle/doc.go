// Package oracle compares the verdicts of package schemas with those of other
// validators on the same objects: the API server's own decoding and server-side
// apply of the built-in kinds, and kubeconform. It is a separate module, so that
// the product does not depend on them.
//
//	go -C tools/oracle test -v .
package oracle
