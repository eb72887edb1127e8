#!/usr/bin/env bash
# What needs a GPU, in one go; usage: on_gpus.sh PYTHON OUT SECONDS [FOLDER of Parquet files].
# Each part has a log in OUT, which ends with its exit status and seconds; what is not over in time is stopped.
python=$1 out=$2 seconds=$3 parquet=${4:-}
root=$PWD; export PYTHONPATH=$root/src:$root/tests PYTHONUNBUFFERED=1
mkdir -p "$out/suite"
part() {  # NAME COMMAND...
    local name=$1 start=$SECONDS; shift
    ( timeout -k 5 $((seconds - SECONDS)) "$@" > "$out/$name.log" 2>&1
      echo "exit status $?, $((SECONDS - start)) s" >> "$out/$name.log" ) &
}
part faults "$python" -m pytest tests/hostile/test_kernel_faults.py -n 2 -m gpu -p no:cacheprovider
first=(tests/io/test_source_states.py tests/hostile/test_parquet_files.py tests/steps/test_large_strings.py
       tests/hostile/test_source_changes.py tests/gpu_engine/test_allocations.py tests/kernels/test_user_kernels.py)
mapfile -t others < <(grep -rlE "engine|gpu" tests --include='test_*.py' | grep -v -e test_kernel_faults | sort)
part clusters "$python" -m pytest tests -q -m gpu -k dask-cuda -p no:cacheprovider --ignore tests/hostile/test_kernel_faults.py
part suite bash tests/on_gpu.sh "$python" "$out/suite" "${first[@]}" "${others[@]}"
part sanitizer compute-sanitizer --tool memcheck --error-exitcode 9 \
    "$python" -m gpuetl run pipelines/flights.yaml --engine cudf --quiet
cd tests || exit
renice -n 5 $$ > /dev/null  # the suite first
part kills "$python" -m hostile.kills --random 300 --engine cudf --jobs 4
part changes "$python" -m hostile.source_changes --count 300 --engine cudf
part mutants "$python" -m hostile.mutants --engine cudf --count 5000 --workers 3 \
    --seconds $((seconds - SECONDS - 20)) --save "$out/mutants"
part mutants_large "$python" -m hostile.mutants --engine cudf --large --count 1000 --workers 2 \
    --seconds $((seconds - SECONDS - 20)) --save "$out/mutants"
part fuzz "$python" -m fuzz --engine cudf --cases 10000 --workers 2 --seconds $((seconds - SECONDS - 20))
[ "$parquet" ] && part files "$python" -m hostile.parquet_files "$parquet" --all --engine cudf --jobs 2
wait
tail -n 2 "$out"/*.log
