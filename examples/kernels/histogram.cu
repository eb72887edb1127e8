// Histograms of a partition's rows: one row for each bin, with how many values it has.  The first and the last bin have also
// what lies outside.  Counts begin as 0.

__device__ int bin_of(double x, double least, double width, int bins) {
    const double place = floor((x - least) / width);
    return place < 0 ? 0 : place < bins ? int(place) : bins - 1;
}

// Each thread adds its row to the counts in global memory: rows of one bin wait for each other.
extern "C" __global__ void naive(const double* x, int* bin, int* flights, double least, double width, int bins,
                                 const long long* starts, int* counts, long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row == 0) {
        counts[0] = bins;
        for (int place = 0; place < bins; ++place) bin[place] = place;
    }
    if (row < n_rows) atomicAdd(&flights[bin_of(x[row], least, width, bins)], 1);
}

// Each block counts in shared memory first, then adds its counts to those in global memory.
template <class T>
__device__ void add_block(const T* x, int* bin, int* flights, double least, double width, int bins, int* counts, long long n_rows,
                          int* own) {
    for (int place = threadIdx.x; place < bins; place += blockDim.x) {
        own[place] = 0;
        if (blockIdx.x == 0) bin[place] = place;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[0] = bins;
    __syncthreads();
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n_rows) atomicAdd(&own[bin_of(x[row], least, width, bins)], 1);
    __syncthreads();
    for (int place = threadIdx.x; place < bins; place += blockDim.x)
        if (own[place]) atomicAdd(&flights[place], own[place]);
}

extern "C" __global__ void in_blocks(const double* x, int* bin, int* flights, double least, double width, int bins,
                                     const long long* starts, int* counts, long long n_rows) {
    extern __shared__ int own[];
    add_block(x, bin, flights, least, width, bins, counts, n_rows, own);
}

extern "C" __global__ void fused(const int* x, int* bin, int* flights, double least, double width, int bins,
                                 const long long* starts, int* counts, long long n_rows) {
    extern __shared__ int own[];
    add_block(x, bin, flights, least, width, bins, counts, n_rows, own);
}
