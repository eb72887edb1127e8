// Each row's mean with its neighbours: it reads and writes every value once, where caches keep the neighbours.
#include "rows.cuh"

KERNEL stencil(int64_t rows, const double* x, double* y) {
    FOR_EACH_ROW(row, rows) {
        const double before = x[row > 0 ? row - 1 : row], after = x[row + 1 < rows ? row + 1 : row];
        y[row] = (before + x[row] + after) / 3;
    }
}
