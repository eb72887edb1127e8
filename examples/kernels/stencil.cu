// The mean of each row and its neighbours in the group, `width` on each side: a block for each group.

extern "C" __global__ void naive(const double* x, double* mean, int width, const int* offsets, int n_groups,
                                 long long n_rows) {
    const int first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
    for (int row = first + threadIdx.x; row < last; row += blockDim.x) {
        const int from = max(row - width, first), to = min(row + width, last - 1);
        double sum = 0;
        for (int near = from; near <= to; ++near) sum += x[near];
        mean[row] = sum / (to - from + 1);
    }
}

// Fills a tile with the rows of a block's threads, and `width` more on each side, then returns a thread's mean.
template <class T>
__device__ double mean_of_tile(const T* x, double* tile, int start, int width, int first, int last) {
    __syncthreads();  // all have read the tile before
    for (int place = threadIdx.x; place < int(blockDim.x) + 2 * width; place += blockDim.x) {
        const int row = start - width + place;
        tile[place] = row >= first && row < last ? x[row] : 0;
    }
    __syncthreads();
    const int row = start + threadIdx.x;
    double sum = 0;
    for (int place = 0; place <= 2 * width; ++place) sum += tile[threadIdx.x + place];
    return sum / (min(row + width, last - 1) - max(row - width, first) + 1);
}

extern "C" __global__ void tiled(const double* x, double* mean, int width, const int* offsets, int n_groups,
                                 long long n_rows) {
    extern __shared__ double tile[];
    const int first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
    for (int start = first; start < last; start += blockDim.x) {
        const int row = start + threadIdx.x;
        const double found = mean_of_tile(x, tile, start, width, first, last);
        if (row < last) mean[row] = found;
    }
}

extern "C" __global__ void fused(const int* delay, double* jump, int width, const int* offsets, int n_groups,
                                 long long n_rows) {
    extern __shared__ double tile[];
    const int first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
    for (int start = first; start < last; start += blockDim.x) {
        const int row = start + threadIdx.x;
        const double found = mean_of_tile(delay, tile, start, width, first, last);
        if (row < last) jump[row] = delay[row] - found;
    }
}
