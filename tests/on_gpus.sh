#!/usr/bin/env bash
# What needs a GPU, in one go; usage: on_gpus.sh PYTHON OUT SECONDS [FOLDER of Parquet files].
# Each part has a log in OUT, which ends with its exit status and seconds; what is not over in time is stopped.
# The exit status is 1 if a part failed or was stopped.
# Kernels that fault come first and alone, since they disturb others.  Clusters come last, one at a time: several that start
# at once take each other's memory.  On 16 cores all parts take about 20 minutes.
python=$1 out=$2 seconds=$3 parquet=${4:-}
root=$PWD; export PYTHONPATH=$root/src:$root/tests PYTHONUNBUFFERED=1
mkdir -p "$out/suite"
part() {  # NAME COMMAND...
    local name=$1 start=$SECONDS; shift
    ( timeout -k 5 $((seconds - SECONDS)) "$@" > "$out/$name.log" 2>&1
      echo "exit status $?, $((SECONDS - start)) s" >> "$out/$name.log" ) &
}
cluster_s=$((seconds / 4))
others_s=$((seconds - cluster_s))
left() { echo $((others_s - SECONDS)); }

"$python" -m gpuetl kernel build > "$out/build.log" 2>&1
part faults "$python" -m pytest tests/hostile/test_kernel_faults.py --full -n 2 -m gpu -p no:cacheprovider
wait

first=(tests/gpu_engine/test_allocations.py tests/io/test_source_states.py tests/hostile/test_parquet_files.py
       tests/steps/test_large_strings.py tests/hostile/test_source_changes.py tests/kernels/test_user_kernels.py)
mapfile -t others < <(grep -rlE "engine|gpu" tests --include='test_*.py' | grep -v -e test_kernel_faults | sort)
part suite timeout "$(left)" bash tests/on_gpu.sh "$python" "$out/suite" "${first[@]}" "${others[@]}"
part limits timeout "$(left)" "$python" tests/benchmarks/memory_limits.py "$out/limits" --rows 5000000 \
    --engine cudf --results "$out/limits.json"
part sanitizer timeout "$(left)" compute-sanitizer --tool memcheck --error-exitcode 9 \
    "$python" -m gpuetl run pipelines/flights.yaml --engine cudf --quiet
cd tests || exit
part fuzz "$python" -m fuzz --engine cudf --cases 10000 --workers 5 --seconds $(($(left) - 15))
part kills timeout "$(left)" "$python" -m hostile.kills --random 300 --engine cudf --jobs 3
part changes timeout "$(left)" "$python" -m hostile.source_changes --count 300 --engine cudf
part mutants "$python" -m hostile.mutants --engine cudf --count 5000 --workers 3 --seconds $(($(left) - 20)) --save "$out/mutants"
[ "$parquet" ] && part files timeout "$(left)" "$python" -m hostile.parquet_files "$parquet" --all --engine cudf --jobs 2
wait

cd "$root" || exit
part clusters "$python" -m pytest tests --full -q -m gpu -k dask-cuda -p no:cacheprovider --ignore tests/hostile/test_kernel_faults.py
wait
tail -n 2 "$out"/*.log
failed=$(grep -L "^exit status 0," $(ls "$out"/*.log | grep -v /build.log))
[ -z "$failed" ] || { echo "failed: $failed"; exit 1; }
