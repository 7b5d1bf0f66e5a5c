//go:build !hostile || !unix

package main

// becomeOther does nothing: the tests that run other programs in this process have the tag hostile.
func becomeOther() {}
