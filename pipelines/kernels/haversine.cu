// The great-circle distance between two points on the earth in kilometres, one row a thread.
// Haversine formula: R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68 (1984) 159.
// Inputs are degrees; a grid-stride loop takes any number of rows on any grid.
extern "C" __global__ void haversine(const double* __restrict__ lat1, const double* __restrict__ lon1,
                                     const double* __restrict__ lat2, const double* __restrict__ lon2,
                                     double* __restrict__ km, double radius_km, long long n_rows) {
  const double radians = 3.14159265358979323846 / 180.0;
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += stride) {
    const double north = sin((lat2[i] - lat1[i]) * radians / 2.0);
    const double east = sin((lon2[i] - lon1[i]) * radians / 2.0);
    const double half = north * north + cos(lat1[i] * radians) * cos(lat2[i] * radians) * east * east;
    // not fmin: of 1 and NaN it takes 1, and the distance to nowhere is not half the earth
    km[i] = 2.0 * radius_km * asin(sqrt(half > 1.0 ? 1.0 : half));
  }
}
