// The norm of each group's values, written to all of its rows: one thread a group.
extern "C" __global__ void norm_of_groups(const double* x, double* norm, const int* offsets, int n_groups, long long n_rows) {
    const int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= n_groups) return;
    double sum = 0;
    for (int row = offsets[group]; row < offsets[group + 1]; ++row) sum += x[row] * x[row];
    for (int row = offsets[group]; row < offsets[group + 1]; ++row) norm[row] = sqrt(sum);
}
