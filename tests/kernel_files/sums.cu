// Small kernels for tests of the contract; sums.py has their twins.

extern "C" __global__ void scaled_sum(const double* x, const long long* n, double* total, bool* positive,
                                      double scale, long long n_rows) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    total[row] = scale * x[row] + n[row];
    positive[row] = total[row] > 0;
}

extern "C" __global__ void running_sum(const double* x, double* total, const int* offsets, int n_groups, long long n_rows) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= n_groups) return;
    double sum = 0;
    for (int row = offsets[group]; row < offsets[group + 1]; ++row) total[row] = sum += x[row];
}

__device__ bool valid(const unsigned* words, long long row) { return !words || words[row >> 5] >> (row & 31) & 1; }

extern "C" __global__ void filled(const double* x, const unsigned* x_valid, double* y, unsigned* y_valid,
                                  double value, long long n_rows) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    y[row] = valid(x_valid, row) ? x[row] : value;
    if (y[row] >= 0) atomicOr(&y_valid[row >> 5], 1u << (row & 31));
}
