#!/usr/bin/env bash
# Run the tests that need one GPU, a process a file: [JOBS=10] on_gpu.sh PYTHON LOGS FILE...  Fails if a file does.
python=$1 logs=$2; shift 2
# Tests start commands in other folders, so the paths are absolute.
export PYTHONPATH=$PWD/src:$PWD/tests
one() {
    log=$2/$(echo "$3" | tr / _).log
    timeout 500 "$1" -m pytest "$3" --full -q -m gpu -k "not dask-cuda" -p no:cacheprovider --maxfail=15 > "$log" 2>&1
    local status=$?
    echo "$3: $(tail -1 "$log")"
    [ $status = 5 ] || return $status  # 5: the file has no test for a GPU
}
export -f one
printf '%s\n' "$@" | xargs -P "${JOBS:-10}" -I{} bash -c "one $python $logs {}"
