//go:build !peers

package main

// peers reports whether tests run other tools.
const peers = false
