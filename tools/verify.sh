#!/usr/bin/env bash
# Runs parts of the checks that the gate leaves out, one after another, and prints a closing line for each.
# usage: verify.sh [PART…]
set -uo pipefail
cd "$(dirname "$0")/.."
parts='race fuzz soak hostile e2e release peers cross bench field'
for part in "$@"; do
  case " ${parts// / | } " in
    *" $part "*) ;;
    *) printf 'no part %s; the parts are: %s\n' "$part" "$parts" >&2; exit 2 ;;
  esac
done
[ $# -gt 0 ] || set -- $parts
status=0 closing=''
for part in "$@"; do
  started=$SECONDS result=passed
  printf '\n=== %s\n' "$part"
  if ! make "verify-$part"; then status=1 result=failed; fi
  line="verify $part: $result in $((SECONDS - started)) s"
  printf '=== %s\n' "$line"
  closing+=$line$'\n'
done
[ $# -eq 1 ] || printf '\n%s' "$closing"
exit "$status"
