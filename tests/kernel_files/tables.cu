// Kernels that make rows; tables.py has their twins.

// Of each row n rows: x, x + 1 and so on.  It counts those that have no slot, too.
extern "C" __global__ void repeated(const double* x, const int* n, int* place, double* y, const long long* starts, int* counts,
                                    long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    const long long room = starts[row + 1] - starts[row];
    const int count = n[row] > 0 ? n[row] : 0;
    for (int i = 0; i < count && i < room; ++i) {
        place[starts[row] + i] = i;
        y[starts[row] + i] = x[row] + i;
    }
    counts[row] = count;
}

// The histogram of a partition: outputs begin as 0.
extern "C" __global__ void histogram(const int* n, int* bin, int* rows, int bins, const long long* starts, int* counts,
                                     long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row == 0) {
        counts[0] = bins;
        for (int i = 0; i < bins; ++i) bin[i] = i;
    }
    if (row < n_rows) atomicAdd(&rows[(n[row] % bins + bins) % bins], 1);
}

// The bins of each group that have rows, in order: a block for each group, its bins in shared memory.
extern "C" __global__ void bins_of_groups(const int* n, int* bin, int* rows, int bins, const int* offsets, int n_groups,
                                          const long long* starts, int* counts, long long n_rows) {
    extern __shared__ int own[];
    for (int i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int row = offsets[blockIdx.x] + threadIdx.x; row < offsets[blockIdx.x + 1]; row += blockDim.x)
        atomicAdd(&own[(n[row] % bins + bins) % bins], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int made = 0;
        const long long first = starts[blockIdx.x], room = starts[blockIdx.x + 1] - first;
        for (int i = 0; i < bins; ++i) {
            if (!own[i]) continue;
            if (made < room) {
                bin[first + made] = i;
                rows[first + made] = own[i];
            }
            ++made;
        }
        counts[blockIdx.x] = made;
    }
}

extern "C" __global__ void silent(const double* x, double* y, const long long* starts, int* counts, long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n_rows && x[row] > 0) counts[row] = 0;  // and for others not at all
}
