// The great-circle distance from an event to its user's home in kilometres, one row a thread.
// Haversine formula: R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68 (1984) 159.
extern "C" __global__ void haversine(const float* __restrict__ lat, const float* __restrict__ lon,
                                     const float* __restrict__ home_lat, const float* __restrict__ home_lon,
                                     double* __restrict__ km, long long n_rows) {
  const double radians = 3.14159265358979323846 / 180.0;
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += stride) {
    const double from = home_lat[i] * radians, to = lat[i] * radians;
    const double north = sin((to - from) / 2.0);
    const double east = sin((lon[i] * radians - home_lon[i] * radians) / 2.0);
    const double half = north * north + cos(from) * cos(to) * east * east;
    km[i] = 2.0 * 6371.0088 * asin(sqrt(half > 1.0 ? 1.0 : half));
  }
}
