#!/usr/bin/env bash
# Holds the one-way flow of docs/architecture.md: fails when a file of a room includes a room that it may not use, names
# an include that is not "room/file", or lets a header ask its users for fmt; and when two headers define one type's name.
# Usage: includes.sh SOURCE_TREE
set -euo pipefail
cd "$1"

declare -A may_include=(
  [model]="model"
  [kernels]="kernels"
  [impl]="model kernels impl"
  [props]="model impl props"
  [recording]="model impl props recording"
  [fuzz]="model impl props recording fuzz"
  [bench]="model impl props fuzz bench"
  [cli]="model impl props recording fuzz cli"
)

faults=0
fault() {
  printf '%s\n' "$1" >&2
  faults=$((faults + 1))
}

check_include() { # FILE LINE ROOM OPENING PATH
  local file=$1 line=$2 room=$3 opening=$4 path=$5
  local included=${path%%/*}
  if [[ $path == fmt/* ]]; then
    [[ $file == *.cpp ]] || fault "$file:$line: includes <$path>; headers do without fmt, include it in a .cpp"
  elif [[ $path == */* && -n ${may_include[$included]:-} || $included == tests ]]; then
    [[ " ${may_include[$room]} " == *" $included "* ]] ||
      fault "$file:$line: $room/ includes \"$path\"; it may include: ${may_include[$room]}"
  elif [[ $opening == '"' ]]; then
    fault "$file:$line: includes \"$path\"; write it from the root of the tree, as in \"$room/$path\""
  fi
}

files=0
for room in "${!may_include[@]}"; do
  [[ -d $room ]] || continue
  while IFS= read -r file; do
    files=$((files + 1))
    while IFS=: read -r line text; do
      [[ $text =~ ^[[:space:]]*\#[[:space:]]*include[[:space:]]*([\"\<])([^\"\>]+) ]] || continue
      check_include "$file" "$line" "$room" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file" || true)
  done < <(find "$room" -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) | sort)
done

# Two headers that define a type of the same name make one program with two types: no compiler says so, and the linker
# takes either one's functions for both.
declare -A defined_in
while IFS=: read -r file line text; do
  [[ $text =~ ^(struct|class)[[:space:]]+([A-Za-z0-9_]+)(\ final)?(\ :\ [^\;]*)?\ \{ ]] || continue
  name=${BASH_REMATCH[2]}
  [[ -z ${defined_in[$name]:-} ]] ||
    fault "$file:$line: defines $name, and so does ${defined_in[$name]}; rename one"
  defined_in[$name]=$file:$line
done < <(find "${!may_include[@]}" -name '*.hpp' -exec grep -nHE '^(struct|class) ' {} + 2>/dev/null | sort || true)

if ((files == 0)); then
  fault "$PWD: no source file of any room here"
fi
if ((faults > 0)); then
  printf '%d include(s) against docs/architecture.md\n' "$faults" >&2
  exit 1
fi
printf '%d files include only what they may\n' "$files"
