// Release builds the published files of Fleetwright in a folder: archives, an image, package files and
// checksums. The same commit and version always produce the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

const usage = `usage: release COMMAND [FLAGS]

  build    -source DIR -version vX.Y.Z -out DIR [-platforms P,…] [-base URL] [-key FILE]
  ready    -source DIR -version vX.Y.Z -out DIR [-platforms P,…]
  compile  -source DIR [-platforms P,…]
  verify   -from DIR [-key cosign.pub] [-pinned action.sums]
  pin      -from DIR -source DIR
  weigh    -from DIR
  keygen   -out DIR
  registry -listen HOST:PORT
  push     -from DIR -to REPOSITORY:TAG
  serve    -from DIR -listen HOST:PORT`

// run runs one command.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	var r release
	var from, to, listen, platforms, pinned string
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&r.source, "source", ".", "the checkout to release")
	flags.StringVar(&r.version, "version", "", "the version, vX.Y.Z")
	flags.StringVar(&r.out, "out", "", "the folder to write")
	flags.StringVar(&r.base, "base", "https://github.com/fleetwright/fleetwright/releases/download", "where releases are published")
	flags.StringVar(&r.key, "key", "", "cosign's key: cosign.key to sign (password in COSIGN_PASSWORD), cosign.pub to verify")
	flags.StringVar(&platforms, "platforms", strings.Join(allPlatforms, ","), "what to build for")
	flags.StringVar(&pinned, "pinned", "", "the action.sums that pins the release")
	flags.StringVar(&from, "from", "", "the folder of a release")
	flags.StringVar(&to, "to", "", "the image to push to")
	flags.StringVar(&listen, "listen", "127.0.0.1:5000", "where to listen")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	r.platforms = strings.Split(platforms, ",")
	switch args[0] {
	case "build":
		return r.build(ctx)
	case "ready":
		return r.ready(ctx)
	case "compile":
		return r.compile(ctx)
	case "verify":
		return verify(from, r.key, pinned)
	case "weigh":
		return weigh(ctx, from)
	case "pin":
		return pin(from, r.source)
	case "keygen":
		return keygen(r.out)
	case "registry":
		return serveRegistry(ctx, listen)
	case "push":
		return push(ctx, from, to)
	case "serve":
		return serveFolder(ctx, listen, from)
	}
	return fmt.Errorf("unknown command %q\n%s", args[0], usage)
}
