#!/usr/bin/env bash
# Runs the tests that need one GPU, a process a file; usage: on_gpu.sh PYTHON OUT FILE...
python=$1 out=$2; shift 2
export PYTHONPATH=src:tests
one() {
    timeout 500 "$1" -m pytest "$3" -q -m gpu -k "not dask-cuda" -p no:cacheprovider --maxfail=15 > "$2/$(echo "$3" | tr / _).log" 2>&1
    echo "$3: $(tail -1 "$2/$(echo "$3" | tr / _).log")"
}
export -f one
printf '%s\n' "$@" | xargs -P 10 -I{} bash -c "one $python $out {}"
