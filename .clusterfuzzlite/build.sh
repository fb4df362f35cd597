#!/bin/bash -eu
"$SRC/poolproof/fuzz/ossfuzz.sh"
