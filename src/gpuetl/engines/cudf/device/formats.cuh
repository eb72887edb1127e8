// Formats: what a clock shows, written and read by a chain of calls, one for each specifier, named by its letter.
#pragma once
#include "calendar.cuh"

template <int WIDTH, class OUT> DEVICE void put_padded(OUT& out, int64_t number) {
    uint32_t rest = uint32_t(number), power = 1;
    for (int i = 1; i < WIDTH; ++i) power *= 10;
    for (; power; power /= 10) out.put(char('0' + rest / power % 10));
}

DEVICE bool is_decimal_digit(char byte) { return byte >= '0' && byte <= '9'; }

// Writes; OUT is a reference to where, or a `Comparison`.
template <class OUT>
struct Writer {
    OUT out;
    const Clock clock;
    const Civil date;
    Reason reason;  // why this cannot be written, or 0

    DEVICE Writer(OUT out, Clock clock) : out(out), clock(clock), date(civil(clock.days)), reason(Reason(0)) {
        four_digits(date.year);
    }
    DEVICE void four_digits(int64_t year) { if (year < 0 || year > 9999) reason = YEAR_DIGITS; }
    template <int WIDTH> DEVICE Writer& number(int64_t value) { put_padded<WIDTH>(out, value); return *this; }
    DEVICE Writer& put(String text) { out.put(text); return *this; }
    DEVICE Writer& plain(int64_t value) {  // without zeros in front, of three digits at most
        return value >= 100 ? number<3>(value) : value >= 10 ? number<2>(value) : number<1>(value);
    }

    DEVICE Writer& Y() { return number<4>(date.year); }
    DEVICE Writer& y() { return number<2>(floor_remainder(date.year, 100)); }
    DEVICE Writer& m() { return number<2>(date.month); }
    DEVICE Writer& d() { return number<2>(date.day); }
    DEVICE Writer& j() { return number<3>(dayofyear(clock)); }
    DEVICE Writer& H() { return number<2>(hour(clock)); }
    DEVICE Writer& I() { return number<2>((hour(clock) + 11) % 12 + 1); }
    DEVICE Writer& p() { return put(hour(clock) < 12 ? String{"AM", 2} : String{"PM", 2}); }
    DEVICE Writer& M() { return number<2>(minute(clock)); }
    DEVICE Writer& S() { return number<2>(second(clock)); }
    DEVICE Writer& f() { return number<6>(microsecond(clock)); }
    DEVICE Writer& g() { return number<3>(millisecond(clock)); }
    DEVICE Writer& n() { return number<6>(microsecond(clock)).put({"000", 3}); }
    DEVICE Writer& U() { return number<2>((dayofyear(clock) + 6 - dayofweek(clock)) / 7); }
    DEVICE Writer& W() { return number<2>((dayofyear(clock) + 7 - isodow(clock)) / 7); }
    DEVICE Writer& short_y() { return plain(floor_remainder(date.year, 100)); }
    DEVICE Writer& short_m() { return plain(date.month); }
    DEVICE Writer& short_d() { return plain(date.day); }
    DEVICE Writer& short_j() { return plain(dayofyear(clock)); }
    DEVICE Writer& short_H() { return plain(hour(clock)); }
    DEVICE Writer& short_I() { return plain((hour(clock) + 11) % 12 + 1); }
    DEVICE Writer& short_M() { return plain(minute(clock)); }
    DEVICE Writer& short_S() { return plain(second(clock)); }
    DEVICE Writer& G() { four_digits(iso_year(clock)); return number<4>(iso_year(clock)); }
    DEVICE Writer& V() { return number<2>(week(clock)); }
    DEVICE Writer& u() { return number<1>(isodow(clock)); }
    DEVICE Writer& w() { return number<1>(dayofweek(clock)); }
    DEVICE Writer& B() { return put(month_name(clock)); }
    DEVICE Writer& b() { return put(month_name(clock).cut(0, 3)); }
    DEVICE Writer& A() { return put(day_name(clock)); }
    DEVICE Writer& a() { return put(day_name(clock).cut(0, 3)); }
    DEVICE Writer& z(int64_t seconds) {
        if (seconds % 60 && !reason) reason = OFFSET_SECONDS;
        const int64_t minutes = (seconds < 0 ? -seconds : seconds) / 60;
        put(seconds < 0 ? String{"-", 1} : String{"+", 1});
        return number<2>(minutes / 60).template number<2>(minutes % 60);
    }

    DEVICE Writer& skip(int64_t size) { out.at += size; return *this; }  // of a text that is compared
    DEVICE Writer& same_number(int64_t value, int most = 2) {  // there, with or without zeros in front
        const int64_t start = out.at;
        int64_t read = 0;
        for (; out.at - start < most && out.at < out.text.size && is_decimal_digit(out.text[out.at]); ++out.at)
            read = read * 10 + (out.text[out.at] - '0');
        out.same = out.same && out.at > start && read == value;
        return *this;
    }
    DEVICE Writer& same_y() { return same_number(floor_remainder(date.year, 100)); }
    DEVICE Writer& same_m() { return same_number(date.month); }
    DEVICE Writer& same_d() { return same_number(date.day); }
    DEVICE Writer& same_j() { return same_number(dayofyear(clock), 3); }
    DEVICE Writer& same_H() { return same_number(hour(clock)); }
    DEVICE Writer& same_I() { return same_number((hour(clock) + 11) % 12 + 1); }
    DEVICE Writer& same_M() { return same_number(minute(clock)); }
    DEVICE Writer& same_S() { return same_number(second(clock)); }

    DEVICE void strict(Fault at) const { if (reason) at(reason); }
    DEVICE bool lenient() const { return !reason; }
};

template <class OUT> DEVICE Writer<OUT&> write(OUT& out, Clock clock) { return {out, clock}; }

// Timestamps in nanoseconds: each of their years has four digits.
template <class OUT> DEVICE void write_nanoseconds(OUT& out, int64_t nanos) {
    auto writer = write(out, clock_of(floor_quotient(nanos, 1000)));
    writer.Y().put({"-", 1}).m().put({"-", 1}).d().put({" ", 1}).H().put({":", 1}).M().put({":", 1}).S().put({".", 1}).f();
    put_padded<3>(out, floor_remainder(nanos, 1000));
}

// ---- reading: a text is a timestamp where the format writes it again as it was, so fields are read unchecked -----------

struct Comparison {
    const String text;
    const int64_t ahead;  // the offset that was read, in seconds
    bool same;
    int64_t at;

    DEVICE void put(char byte) {
        same = same && at < text.size && text[at] == byte;
        ++at;
    }
    DEVICE void put(String part) { for (int64_t i = 0; i < part.size; ++i) put(part[i]); }
    DEVICE void put_few(String part) { put(part); }
};

struct Reader {
    const String text;
    int64_t at = 0;
    int64_t year = 0, iso_year = 0, day = 0, day_of_year = 0, week = 0;
    int64_t month = 0, weekday = 0;  // from 0
    int64_t hour = 0, minute = 0, second = 0, micros = 0, ahead = 0;
    bool possible = true;

    DEVICE Reader(String text) : text(text) {}

    DEVICE char next() { const int64_t here = at++; return here < text.size ? text[here] : '\0'; }
    DEVICE int64_t number(int width) {
        int64_t value = 0;
        while (width--) value = value * 10 + (next() - '0');
        return value;
    }
    DEVICE int64_t digits(int most) {
        int64_t value = 0;
        for (; most && at < text.size && is_decimal_digit(text[at]); --most) value = value * 10 + (text[at++] - '0');
        return value;
    }
    DEVICE Reader& pass_digits(int most) { digits(most); return *this; }
    template <int MANY> DEVICE int64_t name(const char (&names)[MANY][10], bool shortened) {
        for (int place = 0; place < MANY; ++place) {
            const int64_t size = shortened ? 3 : name_of(names[place]).size;
            int64_t same = 0;
            while (same < size && at + same < text.size && text[at + same] == names[place][same]) ++same;
            if (same == size) {
                at += size;
                return place;
            }
        }
        return 0;
    }

    DEVICE Reader& skip(int64_t size) { at += size; return *this; }
    DEVICE Reader& Y() { year = number(4); return *this; }
    DEVICE Reader& y() { year = 1969 + floor_remainder(number(2) - 69, 100); return *this; }  // as in POSIX
    DEVICE Reader& m() { month = number(2) - 1; return *this; }
    DEVICE Reader& d() { day = number(2); return *this; }
    DEVICE Reader& j() { day_of_year = number(3); return *this; }
    DEVICE Reader& H() { hour = number(2); return *this; }
    DEVICE Reader& I() { hour += number(2) % 12; return *this; }
    DEVICE Reader& p() { if (next() == 'P') hour += 12; return skip(1); }
    DEVICE Reader& M() { minute = number(2); return *this; }
    DEVICE Reader& S() { second = number(2); return *this; }
    DEVICE Reader& f() { micros = number(6); return *this; }
    DEVICE Reader& G() { iso_year = number(4); return *this; }
    DEVICE Reader& V() { week = number(2); return *this; }
    DEVICE Reader& u() { weekday = number(1) - 1; return *this; }
    DEVICE Reader& w() { weekday = (number(1) + 6) % 7; return *this; }
    DEVICE Reader& U() { week = number(2); return *this; }
    DEVICE Reader& W() { week = number(2); return *this; }
    DEVICE Reader& g() { micros = number(3) * 1000; return *this; }
    DEVICE Reader& n() { micros = number(9) / 1000; return *this; }
    DEVICE Reader& short_y() { year = 1969 + floor_remainder(digits(2) - 69, 100); return *this; }
    DEVICE Reader& short_m() { month = digits(2) - 1; return *this; }
    DEVICE Reader& short_d() { day = digits(2); return *this; }
    DEVICE Reader& short_j() { day_of_year = digits(3); return *this; }
    DEVICE Reader& short_H() { hour = digits(2); return *this; }
    DEVICE Reader& short_I() { hour += digits(2) % 12; return *this; }
    DEVICE Reader& short_M() { minute = digits(2); return *this; }
    DEVICE Reader& short_S() { second = digits(2); return *this; }
    DEVICE Reader& B() { month = name(MONTH_NAMES, false); return *this; }
    DEVICE Reader& b() { month = name(MONTH_NAMES, true); return *this; }
    DEVICE Reader& A() { weekday = name(DAY_NAMES, false); return *this; }
    DEVICE Reader& a() { weekday = name(DAY_NAMES, true); return *this; }
    DEVICE Reader& z() {
        const char sign = next();
        int64_t digits[4];
        for (int i = 0; i < 4; ++i) {
            digits[i] = number(1);
            possible = possible && digits[i] >= 0 && digits[i] <= 9;
        }
        const int64_t hours = digits[0] * 10 + digits[1], minutes = digits[2] * 10 + digits[3];
        possible = possible && (sign == '+' || sign == '-') && hours < 24 && minutes < 60;
        ahead = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
        return *this;
    }

    // The timestamp of the fields, to be written again.
    DEVICE Writer<Comparison> on(int64_t day) const {
        const int64_t seconds = hour * 3600 + minute * 60 + second;
        return {Comparison{text, ahead, possible, 0}, moved({day, micros}, seconds)};
    }
    DEVICE Writer<Comparison> by_month() const { return on(first_day((year - 1970) * 12 + month) + day - 1); }
    DEVICE Writer<Comparison> by_day_of_year() const { return on(first_day((year - 1970) * 12) + day_of_year - 1); }
    // Weeks that begin with a Sunday (1) or Monday (0); days before the first are in week 0.
    DEVICE Writer<Comparison> by_week_from(int sunday) const {
        const int64_t january = first_day((year - 1970) * 12), first = (::weekday({january, 0}) + sunday) % 7;
        return on(january + (weekday + sunday) % 7 + 7 * (week - 1) + (7 - first) % 7);
    }
    DEVICE Writer<Comparison> by_sunday_week() const { return by_week_from(1); }
    DEVICE Writer<Comparison> by_monday_week() const { return by_week_from(0); }
    DEVICE Writer<Comparison> by_iso_week() const {
        const int64_t fourth = first_day((iso_year - 1970) * 12) + 3;  // of January, always in week 1
        return on(fourth - ::weekday({fourth, 0}) + (week - 1) * 7 + weekday);
    }
};

DEVICE Maybe<int64_t> timestamp_of(const Writer<Comparison>& again) {
    const bool same = again.out.same && again.out.at == again.out.text.size;
    return only_if(same, again.clock.days * DAY + again.clock.micros - again.out.ahead * SECOND);
}
DEVICE int64_t timestamp_of(Fault at, const Writer<Comparison>& again) {
    const Maybe<int64_t> timestamp = timestamp_of(again);
    if (!timestamp.valid) at(NO_SUCH_FORM);
    return timestamp.value;
}
