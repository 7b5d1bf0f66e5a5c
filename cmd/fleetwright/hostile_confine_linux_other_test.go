//go:build hostile && linux && !amd64

package main

// Newer architectures have clone and openat only.
var forks, plainOpens []uintptr
