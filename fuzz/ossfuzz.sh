#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz, ClusterFuzzLite and AFL++ want them: binaries, seed corpora, dictionaries and options
# in $OUT. The archive of libzstd must be there (libzstd-dev): who runs the targets has no shared one. Usage: fuzz/ossfuzz.sh [TARGET...], with the variables that OSS-Fuzz sets: CC, CXX, CFLAGS, CXXFLAGS,
# LIB_FUZZING_ENGINE, OUT, WORK. Outside of it, one target for a look:
#   CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer CXXFLAGS='-O1 -fsanitize=fuzzer-no-link,address' \
#     OUT=/tmp/out WORK=/tmp/work fuzz/ossfuzz.sh fuzz_trace
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for variable in CC CXX LIB_FUZZING_ENGINE OUT WORK; do
  if [[ -z ${!variable:-} ]]; then
    printf 'ossfuzz.sh: %s is not set; OSS-Fuzz sets it, and the head of this script says how to do without\n' \
      "$variable" >&2
    exit 2
  fi
done
mkdir -p "$OUT" "$WORK"
OUT=$(readlink -f "$OUT")
WORK=$(readlink -f "$WORK")
export LIB_FUZZING_ENGINE CFLAGS=${CFLAGS:-} CXXFLAGS=${CXXFLAGS:-}

targets=("$@")
if ((${#targets[@]} == 0)); then
  targets=(fuzz_ops_{token,paged,hybrid,ring,pure_swa} fuzz_differential fuzz_trace fuzz_readers)
fi

pack() { # ZIP FOLDER
  if command -v zip >/dev/null; then
    (cd "$2" && find . -type f | sort | zip -q -j "$1" -@)
  else
    (cd "$2" && python3 -m zipfile -c "$1" ./*)
  fi
}

# The engine's flags, not ours: what it instruments and sanitizes is its business, and a newer compiler may warn.
cmake --fresh -S "$root" -B "$WORK/poolproof" -G Ninja -DCMAKE_BUILD_TYPE=None -DPOOLPROOF_FUZZ_FLAGS=-Wno-error -DCMAKE_C_COMPILER="$CC" \
  -DCMAKE_CXX_COMPILER="$CXX" -DPOOLPROOF_FUZZ=ON -DPOOLPROOF_CUDA=OFF -DPOOLPROOF_TESTS=OFF -DPOOLPROOF_BATCHES=ON
ninja -C "$WORK/poolproof" "${targets[@]}"

for target in "${targets[@]}"; do
  name=${target#fuzz_}
  cp "$WORK/poolproof/fuzzers/$target" "$OUT/"
  if [[ -d $root/fuzz/corpus/$name ]]; then
    rm -f "$OUT/${target}_seed_corpus.zip"
    pack "$OUT/${target}_seed_corpus.zip" "$root/fuzz/corpus/$name"
  fi
  # A text's words, or the most that an input of records has (fuzz/input/ops_runner.hpp).
  if [[ $name == trace || $name == readers ]]; then
    cp "$root/fuzz/dictionary/poolproof.dict" "$OUT/$target.dict"
    printf '[libfuzzer]\nmax_len = 4096\ndict = %s.dict\n' "$target" >"$OUT/$target.options"
  else
    printf '[libfuzzer]\nmax_len = 386\n' >"$OUT/$target.options"
  fi
done
