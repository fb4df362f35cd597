#!/usr/bin/env bash
# The door's manners, without building or installing anything.
# Usage: dev_test.sh SOURCE_TREE
set -euo pipefail
root=$1

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# Runs ./dev with the arguments, from a folder that is not the tree's; sets `status`, `out` and `err`.
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
door() {
  status=0
  out=$(cd / && "$root/dev" "$@" 2>"$errors") || status=$?
  err=$(<"$errors")
}

door
((status == 2)) || fail "./dev without arguments ended with $status, not 2"
[[ $err == *"./dev run"* && -z $out ]] || fail "./dev without arguments does not show its help on stderr"

door help
((status == 0)) || fail "./dev help ended with $status"
[[ -z $err ]] || fail "./dev help wrote to stderr: $err"
for command in run test build fmt lint bench clean help; do
  [[ $out == *"./dev $command"* ]] || fail "./dev help is silent about '$command'"
done

door nonsense
((status == 2)) || fail "./dev nonsense ended with $status, not 2"
[[ $err == *"'nonsense'"* ]] || fail "./dev nonsense does not name what it did not understand: $err"

door bench --save ../outside
((status == 2)) || fail "./dev bench --save takes a name that leaves docs/results (ended with $status)"

[[ -x $root/.ci/run ]] || fail ".ci/run is not executable"
for script in "$root/dev" "$root/.ci/run" "$root"/tests/habits/*.sh; do
  bash -n "$script" || fail "$script is not valid bash"
done
