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

// The mean of each row and its neighbours in the group, by a tile in shared memory: a block for each group.
extern "C" __global__ void smoothed(const double* x, double* y, int width, const int* offsets, int n_groups, long long n_rows) {
    extern __shared__ double tile[];  // a row for each thread, and `width` on each side
    const int first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
    for (int start = first; start < last; start += blockDim.x) {
        for (int place = threadIdx.x; place < blockDim.x + 2 * width; place += blockDim.x) {
            const int row = start - width + place;
            tile[place] = row >= first && row < last ? x[row] : 0;
        }
        __syncthreads();
        const int row = start + threadIdx.x;
        if (row < last) {
            double sum = 0;
            for (int place = 0; place <= 2 * width; ++place) sum += tile[threadIdx.x + place];
            y[row] = sum / (min(row + width, last - 1) - max(row - width, first) + 1);
        }
        __syncthreads();
    }
}
