//go:build hostile && unix && !linux

package main

import (
	"errors"
	"os"
	"os/exec"
)

func confined() error { return errors.New("there is no confinement on this system") }

// runConfined is not called where there is no confinement.
func runConfined(*exec.Cmd) ([]opened, int64, error) { return nil, 0, confined() }

// wasKilled says whether the kernel ended a confined process.
func wasKilled(*os.ProcessState) bool { return false }
