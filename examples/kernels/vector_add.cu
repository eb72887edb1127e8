// Adds two columns, one row a thread.
extern "C" __global__ void vector_add(const int* dep_delay, const int* arr_delay, int* total, long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n_rows) total[row] = dep_delay[row] + arr_delay[row];
}
