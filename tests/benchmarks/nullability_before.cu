// Kernels as they were generated when a text said whether a column has nulls: without and with them.
namespace before {
DEVICE bool bit_is_set(const uint32_t* bits, int64_t at) { return !bits || (bits[at >> 5] >> (at & 31) & 1); }
template <class T, class STORED = T>
struct Fixed {
    const STORED* data;
    const uint32_t* bits;
    DEVICE bool valid(int64_t row) const { return bit_is_set(bits, row); }
    DEVICE Maybe<T> operator[](int64_t row) const { return valid(row) ? some(T(data[row])) : none<T>(); }
};
}  // namespace before

KERNEL number(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, double* r0) {
    const before::Fixed<double, double> c0{data0, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        if (row < rows) {
            const auto m1 = c0[row];
            double x2{};
            {
                const Fault at{faults + 0, row};
                x2 = multiply(at, m1.value, 0x1.0000000000000p+1);
            }
            double x3{};
            {
                const Fault at{faults + 1, row};
                x3 = add(at, x2, 0x1.0000000000000p+0);
            }
            r0[row] = double(x3);
        }
    }
}

KERNEL number_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const uint32_t* bits0, double* r0, uint32_t* s0) {
    const before::Fixed<double, double> c0{data0, bits0};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            const auto m1 = c0[row];
            double x2{};
            bool v2 = m1.valid;
            if (m1.valid) {
                const Fault at{faults + 0, row};
                x2 = multiply(at, m1.value, 0x1.0000000000000p+1);
            }
            double x3{};
            bool v3 = v2;
            if (v2) {
                const Fault at{faults + 1, row};
                x3 = add(at, x2, 0x1.0000000000000p+0);
            }
            g0 = v3;
            r0[row] = g0 ? double(x3) : double{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL floats(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const double* data1, const double* data2, double* r0) {
    const before::Fixed<double, double> c0{data0, nullptr};
    const before::Fixed<double, double> c1{data1, nullptr};
    const before::Fixed<double, double> c2{data2, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        if (row < rows) {
            const auto m1 = c0[row];
            const auto m2 = c1[row];
            double x3{};
            {
                const Fault at{faults + 0, row};
                x3 = subtract(at, 0x1.0000000000000p+0, m2.value);
            }
            double x4{};
            {
                const Fault at{faults + 1, row};
                x4 = multiply(at, m1.value, x3);
            }
            const auto m5 = c2[row];
            double x6{};
            {
                const Fault at{faults + 2, row};
                x6 = add(at, 0x1.0000000000000p+0, m5.value);
            }
            double x7{};
            {
                const Fault at{faults + 3, row};
                x7 = multiply(at, x4, x6);
            }
            r0[row] = double(x7);
        }
    }
}

KERNEL floats_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const uint32_t* bits0, const double* data1, const uint32_t* bits1, const double* data2, const uint32_t* bits2, double* r0, uint32_t* s0) {
    const before::Fixed<double, double> c0{data0, bits0};
    const before::Fixed<double, double> c1{data1, bits1};
    const before::Fixed<double, double> c2{data2, bits2};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            const auto m1 = c0[row];
            const auto m2 = c1[row];
            double x3{};
            bool v3 = m2.valid;
            if (m2.valid) {
                const Fault at{faults + 0, row};
                x3 = subtract(at, 0x1.0000000000000p+0, m2.value);
            }
            double x4{};
            bool v4 = m1.valid && v3;
            if (m1.valid && v3) {
                const Fault at{faults + 1, row};
                x4 = multiply(at, m1.value, x3);
            }
            const auto m5 = c2[row];
            double x6{};
            bool v6 = m5.valid;
            if (m5.valid) {
                const Fault at{faults + 2, row};
                x6 = add(at, 0x1.0000000000000p+0, m5.value);
            }
            double x7{};
            bool v7 = v4 && v6;
            if (v4 && v6) {
                const Fault at{faults + 3, row};
                x7 = multiply(at, x4, x6);
            }
            g0 = v7;
            r0[row] = g0 ? double(x7) : double{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL integers(int64_t rows, uint64_t* faults, uint64_t* nulls, const int64_t* data0, const int64_t* data1, const int64_t* data2, int64_t* r0) {
    const before::Fixed<int64_t, int64_t> c0{data0, nullptr};
    const before::Fixed<int64_t, int64_t> c1{data1, nullptr};
    const before::Fixed<int64_t, int64_t> c2{data2, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        if (row < rows) {
            const auto m1 = c0[row];
            const auto m2 = c1[row];
            const auto m3 = c2[row];
            int64_t x4{};
            {
                const Fault at{faults + 0, row};
                x4 = multiply(at, m2.value, m3.value);
            }
            int64_t x5{};
            {
                const Fault at{faults + 1, row};
                x5 = add(at, m1.value, x4);
            }
            r0[row] = int64_t(x5);
        }
    }
}

KERNEL integers_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const int64_t* data0, const uint32_t* bits0, const int64_t* data1, const uint32_t* bits1, const int64_t* data2, const uint32_t* bits2, int64_t* r0, uint32_t* s0) {
    const before::Fixed<int64_t, int64_t> c0{data0, bits0};
    const before::Fixed<int64_t, int64_t> c1{data1, bits1};
    const before::Fixed<int64_t, int64_t> c2{data2, bits2};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            const auto m1 = c0[row];
            const auto m2 = c1[row];
            const auto m3 = c2[row];
            int64_t x4{};
            bool v4 = m2.valid && m3.valid;
            if (m2.valid && m3.valid) {
                const Fault at{faults + 0, row};
                x4 = multiply(at, m2.value, m3.value);
            }
            int64_t x5{};
            bool v5 = m1.valid && v4;
            if (m1.valid && v4) {
                const Fault at{faults + 1, row};
                x5 = add(at, m1.value, x4);
            }
            g0 = v5;
            r0[row] = g0 ? int64_t(x5) : int64_t{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL filter(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const int64_t* data1, const int32_t* data2, uint8_t* r0, uint32_t* s0) {
    const before::Fixed<double, double> c0{data0, nullptr};
    const before::Fixed<int64_t, int64_t> c1{data1, nullptr};
    const before::Fixed<int32_t, int32_t> c2{data2, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            const auto m1 = c0[row];
            bool x2{};
            {
                x2 = m1.value > 0x1.0000000000000p-1;
            }
            const auto m3 = c1[row];
            bool x4{};
            {
                x4 = m3.value < int64_t(700LL);
            }
            const auto m5 = c2[row];
            bool x6{};
            {
                x6 = m5.value == int32_t(3LL);
            }
            bool x7{};
            bool v7 = false;
            assign(x7, v7, all_true({Maybe<bool>{x2, true}, Maybe<bool>{x4, true}, Maybe<bool>{x6, true}}));
            g0 = v7;
            r0[row] = g0 ? uint8_t(x7) : uint8_t{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL filter_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const uint32_t* bits0, const int64_t* data1, const uint32_t* bits1, const int32_t* data2, const uint32_t* bits2, uint8_t* r0, uint32_t* s0) {
    const before::Fixed<double, double> c0{data0, bits0};
    const before::Fixed<int64_t, int64_t> c1{data1, bits1};
    const before::Fixed<int32_t, int32_t> c2{data2, bits2};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            const auto m1 = c0[row];
            bool x2{};
            bool v2 = m1.valid;
            if (m1.valid) {
                x2 = m1.value > 0x1.0000000000000p-1;
            }
            const auto m3 = c1[row];
            bool x4{};
            bool v4 = m3.valid;
            if (m3.valid) {
                x4 = m3.value < int64_t(700LL);
            }
            const auto m5 = c2[row];
            bool x6{};
            bool v6 = m5.valid;
            if (m5.valid) {
                x6 = m5.value == int32_t(3LL);
            }
            bool x7{};
            bool v7 = false;
            assign(x7, v7, all_true({Maybe<bool>{x2, v2}, Maybe<bool>{x4, v4}, Maybe<bool>{x6, v6}}));
            g0 = v7;
            r0[row] = g0 ? uint8_t(x7) : uint8_t{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL choice(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const double* data1, double* r0, uint32_t* s0) {
    const before::Fixed<double, double> c0{data0, nullptr};
    const before::Fixed<double, double> c1{data1, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            double x1{};
            bool v1 = false;
            const auto m2 = c0[row];
            const auto m3 = c1[row];
            bool x4{};
            {
                x4 = m2.value > m3.value;
            }
            if (true && x4) {
                x1 = m2.value; v1 = true;
            }
            else {
                x1 = m3.value; v1 = true;
            }
            g0 = v1;
            r0[row] = g0 ? double(x1) : double{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL choice_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const uint32_t* bits0, const double* data1, const uint32_t* bits1, double* r0, uint32_t* s0) {
    const before::Fixed<double, double> c0{data0, bits0};
    const before::Fixed<double, double> c1{data1, bits1};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            double x1{};
            bool v1 = false;
            const auto m2 = c0[row];
            const auto m3 = c1[row];
            bool x4{};
            bool v4 = m2.valid && m3.valid;
            if (m2.valid && m3.valid) {
                x4 = m2.value > m3.value;
            }
            if (v4 && x4) {
                x1 = m2.value; v1 = m2.valid;
            }
            else {
                x1 = m3.value; v1 = m3.valid;
            }
            g0 = v1;
            r0[row] = g0 ? double(x1) : double{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL year(int64_t rows, const int32_t* data0, int64_t* r0) {
    const before::Fixed<int32_t, int32_t> c0{data0, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        if (row < rows) {
            const auto m1 = c0[row];
            int64_t x2{};
            {
                x2 = year(clock_of(m1.value));
            }
            r0[row] = int64_t(x2);
        }
    }
}

KERNEL year_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const int32_t* data0, const uint32_t* bits0, int64_t* r0, uint32_t* s0) {
    const before::Fixed<int32_t, int32_t> c0{data0, bits0};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        if (row < rows) {
            const auto m1 = c0[row];
            int64_t x2{};
            bool v2 = m1.valid;
            if (m1.valid) {
                x2 = year(clock_of(m1.value));
            }
            g0 = v2;
            r0[row] = g0 ? int64_t(x2) : int64_t{};
        }
        missing[0] += store_word(s0, row, row < rows, g0);
    }
    add_nulls(nulls + 0, missing[0]);
}

KERNEL six(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const double* data1, const double* data2, const int64_t* data3, const int64_t* data4, const int64_t* data5, int64_t* r0, int64_t* r1, int64_t* r2, double* r3, double* r4, double* r5) {
    const before::Fixed<double, double> c0{data0, nullptr};
    const before::Fixed<double, double> c1{data1, nullptr};
    const before::Fixed<double, double> c2{data2, nullptr};
    const before::Fixed<int64_t, int64_t> c3{data3, nullptr};
    const before::Fixed<int64_t, int64_t> c4{data4, nullptr};
    const before::Fixed<int64_t, int64_t> c5{data5, nullptr};
    uint32_t missing[1] = {};
    FOR_EACH_ROW(row, rows) {
        if (row < rows) {
            const auto m1 = c3[row];
            int64_t x2{};
            {
                const Fault at{faults + 0, row};
                x2 = add(at, m1.value, int64_t(1LL));
            }
            r0[row] = int64_t(x2);
            const auto m3 = c4[row];
            int64_t x4{};
            {
                const Fault at{faults + 1, row};
                x4 = add(at, m3.value, int64_t(1LL));
            }
            r1[row] = int64_t(x4);
            const auto m5 = c5[row];
            int64_t x6{};
            {
                const Fault at{faults + 2, row};
                x6 = add(at, m5.value, int64_t(1LL));
            }
            r2[row] = int64_t(x6);
            const auto m7 = c0[row];
            double x8{};
            {
                const Fault at{faults + 3, row};
                x8 = add(at, m7.value, 0x1.0000000000000p+0);
            }
            r3[row] = double(x8);
            const auto m9 = c1[row];
            double x10{};
            {
                const Fault at{faults + 4, row};
                x10 = add(at, m9.value, 0x1.0000000000000p+0);
            }
            r4[row] = double(x10);
            const auto m11 = c2[row];
            double x12{};
            {
                const Fault at{faults + 5, row};
                x12 = add(at, m11.value, 0x1.0000000000000p+0);
            }
            r5[row] = double(x12);
        }
    }
}

KERNEL six_nulls(int64_t rows, uint64_t* faults, uint64_t* nulls, const double* data0, const uint32_t* bits0, const double* data1, const uint32_t* bits1, const double* data2, const uint32_t* bits2, const int64_t* data3, const uint32_t* bits3, const int64_t* data4, const uint32_t* bits4, const int64_t* data5, const uint32_t* bits5, int64_t* r0, uint32_t* s0, int64_t* r1, uint32_t* s1, int64_t* r2, uint32_t* s2, double* r3, uint32_t* s3, double* r4, uint32_t* s4, double* r5, uint32_t* s5) {
    const before::Fixed<double, double> c0{data0, bits0};
    const before::Fixed<double, double> c1{data1, bits1};
    const before::Fixed<double, double> c2{data2, bits2};
    const before::Fixed<int64_t, int64_t> c3{data3, bits3};
    const before::Fixed<int64_t, int64_t> c4{data4, bits4};
    const before::Fixed<int64_t, int64_t> c5{data5, bits5};
    uint32_t missing[6] = {};
    FOR_EACH_ROW(row, rows) {
        bool g0 = false;
        bool g1 = false;
        bool g2 = false;
        bool g3 = false;
        bool g4 = false;
        bool g5 = false;
        if (row < rows) {
            const auto m1 = c3[row];
            int64_t x2{};
            bool v2 = m1.valid;
            if (m1.valid) {
                const Fault at{faults + 0, row};
                x2 = add(at, m1.value, int64_t(1LL));
            }
            g0 = v2;
            r0[row] = g0 ? int64_t(x2) : int64_t{};
            const auto m3 = c4[row];
            int64_t x4{};
            bool v4 = m3.valid;
            if (m3.valid) {
                const Fault at{faults + 1, row};
                x4 = add(at, m3.value, int64_t(1LL));
            }
            g1 = v4;
            r1[row] = g1 ? int64_t(x4) : int64_t{};
            const auto m5 = c5[row];
            int64_t x6{};
            bool v6 = m5.valid;
            if (m5.valid) {
                const Fault at{faults + 2, row};
                x6 = add(at, m5.value, int64_t(1LL));
            }
            g2 = v6;
            r2[row] = g2 ? int64_t(x6) : int64_t{};
            const auto m7 = c0[row];
            double x8{};
            bool v8 = m7.valid;
            if (m7.valid) {
                const Fault at{faults + 3, row};
                x8 = add(at, m7.value, 0x1.0000000000000p+0);
            }
            g3 = v8;
            r3[row] = g3 ? double(x8) : double{};
            const auto m9 = c1[row];
            double x10{};
            bool v10 = m9.valid;
            if (m9.valid) {
                const Fault at{faults + 4, row};
                x10 = add(at, m9.value, 0x1.0000000000000p+0);
            }
            g4 = v10;
            r4[row] = g4 ? double(x10) : double{};
            const auto m11 = c2[row];
            double x12{};
            bool v12 = m11.valid;
            if (m11.valid) {
                const Fault at{faults + 5, row};
                x12 = add(at, m11.value, 0x1.0000000000000p+0);
            }
            g5 = v12;
            r5[row] = g5 ? double(x12) : double{};
        }
        missing[0] += store_word(s0, row, row < rows, g0); missing[1] += store_word(s1, row, row < rows, g1); missing[2] += store_word(s2, row, row < rows, g2); missing[3] += store_word(s3, row, row < rows, g3); missing[4] += store_word(s4, row, row < rows, g4); missing[5] += store_word(s5, row, row < rows, g5);
    }
    add_nulls(nulls + 0, missing[0]); add_nulls(nulls + 1, missing[1]); add_nulls(nulls + 2, missing[2]); add_nulls(nulls + 3, missing[3]); add_nulls(nulls + 4, missing[4]); add_nulls(nulls + 5, missing[5]);
}
