#!/bin/sh
# Fetches a release of sglang from PyPI and unpacks it, without installing it or anything that it needs:
#
#     adapters/fetch_release.sh 0.5.23
#
# Prints the folder for the adapter's --sglang, below $POOLPROOF_CACHE, else ~/.cache/poolproof. What is there is not
# fetched again. Ends with 3 when there is no such release, or the registry cannot be reached.
set -eu
if [ $# -ne 1 ]; then
  echo "usage: fetch_release.sh VERSION" >&2
  exit 2
fi
version=$1
cache=${POOLPROOF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/poolproof}/sglang
folder=$cache/$version
if [ ! -d "$folder" ]; then
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # The wheel's own platform does not matter: nothing of it is compiled or run but Python sources.
  if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --python-version 3.11 --implementation cp --platform manylinux_2_34_x86_64 --platform any \
    --dest "$work" "sglang==$version" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    echo "fetch_release.sh: sglang $version could not be fetched" >&2
    exit 3
  fi
  python3 -m zipfile -e "$work"/sglang-*.whl "$work/unpacked"
  mv "$work/unpacked" "$folder" 2>/dev/null || [ -d "$folder" ] # another fetch may have been faster
fi
echo "$folder"
