#!/usr/bin/env bash
# includes.sh must fail on each kind of wrong include, name file and line, and pass on right ones.
# Usage: includes_test.sh SCRATCH_FOLDER
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/includes.sh
scratch=$1
rm -rf "$scratch"

tree() { # FILE INCLUDE-LINE: a tree of one file that says nothing else
  rm -rf "$scratch"
  mkdir -p "$scratch/$(dirname "$1")"
  printf '#pragma once\n%s\n' "$2" >"$scratch/$1"
}

expect_pass() {
  tree "$1" "$2"
  bash "$check" "$scratch" >/dev/null || { echo "wrongly refused: $1: $2" >&2 && exit 1; }
}

expect_fault() {
  tree "$1" "$2"
  local said
  if said=$(bash "$check" "$scratch" 2>&1); then
    echo "not caught: $1: $2" >&2
    exit 1
  fi
  [[ $said == *"$1:2:"* ]] || { printf 'caught without its place: %s\n' "$said" >&2 && exit 1; }
}

expect_pass model/a.cpp '#include "model/units.hpp"'
expect_pass model/a.cpp '#include <fmt/format.h>'
expect_pass model/a.hpp '#include <vector>'
expect_pass impl/host/a.cpp '#include "model/units.hpp"'
expect_pass impl/host/a.cpp '#include "impl/allocator.hpp"'
expect_pass props/a.hpp '#include "impl/allocator.hpp"'
expect_pass cli/a.cpp '#include "props/campaign.hpp"'
expect_pass cli/a.cpp '#include <CLI/CLI.hpp>'

expect_fault model/a.cpp '#include "impl/allocator.hpp"'
expect_fault model/a.cpp '  #  include "props/campaign.hpp"'
expect_fault model/a.hpp '#include <props/campaign.hpp>'
expect_fault model/a.hpp '#include <fmt/format.h>'
expect_fault model/a.hpp '#include "units.hpp"'
expect_fault model/a.hpp '#include "../model/units.hpp"'
expect_fault impl/mutants/a.cpp '#include "props/lockstep.hpp"'
expect_fault impl/host/a.cpp '#include "cli/main.hpp"'
expect_fault props/a.cpp '#include "cli/main.hpp"'
expect_fault props/a.cpp '#include "tests/naive/model.hpp"'
expect_fault kernels/a.cu '#include "model/units.hpp"'

tree model/a.hpp 'struct Run { int first; };'
mkdir -p "$scratch/cli" && printf '#pragma once\nstruct Run final { long count; };\n' >"$scratch/cli/b.hpp"
if said=$(bash "$check" "$scratch" 2>&1) || [[ $said != *"defines Run, and so does"* ]]; then
  echo "not caught: two types of one name: $said" >&2
  exit 1
fi

rm -rf "$scratch" && mkdir -p "$scratch"
if bash "$check" "$scratch" 2>/dev/null; then
  echo "not caught: a tree without sources" >&2
  exit 1
fi
echo "includes.sh catches what it must"
