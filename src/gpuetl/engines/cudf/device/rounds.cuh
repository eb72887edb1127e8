// Rows that a warp takes at a time, several a lane: all of them are loaded before any of them is used.
#pragma once

#include "rows.cuh"
#include "reduce.cuh"

constexpr int AT_ONCE = 8;               // rows of a lane
constexpr int ROUND = AT_ONCE * LANES;

// A row of a lane, and one that there is in the place of those behind the end: loads need no branch.
DEVICE int64_t row_of(int64_t start, int place) { return start + place * LANES + LANE; }
DEVICE int64_t readable(int64_t row, int64_t end) { return row < end ? row : end - 1; }
