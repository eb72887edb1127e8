// Kernels that are wrong, each in one way; wrong.py has what they should do.

#define ROW long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x

extern "C" __global__ void twice(const double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows) y[row] = 2 * x[row];
}

extern "C" __global__ void beyond(const double* x, double* y, long long n_rows) {
    ROW;
    if (row <= n_rows) y[row] = 2 * x[row];  // one too far
}

extern "C" __global__ void before(const double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows) y[row] = 2 * x[row];
    if (row == 0) y[-3] = 1;
}

extern "C" __global__ void no_last_block(const double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows / 32 * 32) y[row] = 2 * x[row];
}

extern "C" __global__ void changes_input(double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows) y[row] = x[row] *= 2;
}

extern "C" __global__ void no_nan(const double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows) y[row] = x[row] == x[row] ? 2 * x[row] : 0;
}

extern "C" __global__ void races(const double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows) y[row] = y[0] = 2 * x[row];  // the last thread wins
}

extern "C" __global__ void ignores_nulls(const double* x, const unsigned* x_valid, double* y, unsigned* y_valid, long long n_rows) {
    ROW;
    if (row >= n_rows) return;
    y[row] = 2 * x[row];
    atomicOr(&y_valid[row >> 5], 1u << (row & 31));
}

extern "C" __global__ void a_block_a_group(const double* x, double* total, const int* offsets, int n_groups, long long n_rows) {
    const int group = blockIdx.x;
    for (int row = offsets[group] + threadIdx.x; row < offsets[group + 1]; row += blockDim.x)
        total[row] = offsets[group + 1] - offsets[group];
}

extern "C" __global__ void only_first_group(const double* x, double* total, const int* offsets, int n_groups, long long n_rows) {
    for (int row = threadIdx.x; row < offsets[1]; row += blockDim.x) total[row] = offsets[1];
}

extern "C" __global__ void __launch_bounds__(128) bounded(const double* x, double* y, long long n_rows) {
    ROW;
    if (row < n_rows) y[row] = 2 * x[row];
}
