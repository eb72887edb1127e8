#!/usr/bin/env bash
# What needs GPUs, in one go, on a machine with two of them; usage: on_two_gpus.sh PYTHON OUT [FOLDER of Parquet files].
# Each part has a log in OUT with its exit status and seconds at the end.
python=$1 out=$2 parquet=${3:-}
root=$PWD; export PYTHONPATH=$root/src:$root/tests
mkdir -p "$out/suite"
part() {  # NAME LIMIT_S COMMAND...
    local name=$1 limit=$2 start=$SECONDS; shift 2
    ( timeout "$limit" "$@" > "$out/$name.log" 2>&1; echo "exit status $?, $((SECONDS - start)) s" >> "$out/$name.log" ) &
}
CUDA_VISIBLE_DEVICES=1 part faults 200 "$python" -m pytest tests/hostile/test_kernel_faults.py -q -m gpu -p no:cacheprovider
wait  # kernels that never end keep the GPU from others
mapfile -t files < <(grep -rlE "engine|gpu" tests --include='test_*.py' | grep -v -e test_allocations -e test_kernel_faults | sort)
part suite 420 bash tests/on_gpu.sh "$python" "$out/suite" "${files[@]}"
export CUDA_VISIBLE_DEVICES=0
part allocations 420 "$python" -m pytest tests/gpu_engine/test_allocations.py -q -m gpu -p no:cacheprovider -n 4
cd tests || exit
part kills 300 "$python" -m hostile.kills --random 1000 --engine cudf --jobs 4
part changes 200 "$python" -m hostile.source_changes --count 500 --engine cudf
export CUDA_VISIBLE_DEVICES=1
part mutants 330 "$python" -m hostile.mutants --engine cudf --count 5000 --workers 6 --save "$out/mutants"
[ "$parquet" ] && part files 200 "$python" -m hostile.parquet_files "$parquet" --engine cudf --jobs 3
cd "$root" || exit
part sanitizer 300 compute-sanitizer --tool memcheck --error-exitcode 9 \
    "$python" -m gpuetl run pipelines/flights.yaml --engine cudf --quiet
wait
tail -n 2 "$out"/*.log
