// Zones: what their clocks show of an instant, and the instants of what they show.
#pragma once
#include "calendar.cuh"

// What to do with times that a clock shows twice or never.
enum Choice { RAISE, EARLIEST, LATEST, SHIFTED };

// The instants, in seconds, of what a clock shows: by the offset before a change, by the one after, and the change.
// The first is the earlier where the clock is turned back and shows a time twice; it is the later where the clock is
// turned forward and does not show the time at all.
struct Instants {
    int64_t before, after, change;
};

struct FixedOffset {
    int64_t seconds;

    DEVICE int64_t offset_at(int64_t) const { return seconds; }
    DEVICE Instants instants_of(int64_t local) const { return {local - seconds, local - seconds, local}; }
};

// A table of engines/zones.py: `offsets[i]` holds before `changes[i]`, the last one after all; in seconds.
struct Zone {
    const int64_t* changes;
    const int32_t* offsets;
    int32_t size;
    bool repeats;  // the last 400 years, for ever

    // When a change comes: as an instant, or on the slower or the faster of the clocks before and after it.
    enum Clocks { UTC, SLOWER, FASTER };
    template <Clocks BY> DEVICE int64_t change(int32_t at) const {
        if (BY == UTC) return changes[at];
        const int32_t before = offsets[at], after = offsets[at + 1];
        return changes[at] + ((before < after) == (BY == SLOWER) ? before : after);
    }

    // The whole cycles, in seconds, that a time is beyond the last change.
    template <Clocks BY> DEVICE int64_t cycles(int64_t time) const {
        if (!repeats || time <= change<BY>(size - 1)) return 0;
        const int64_t cycle = CYCLE_DAYS * 86400;
        return (time - change<BY>(size - 1) + cycle - 1) / cycle * cycle;
    }

    // How many changes a time is past.
    template <Clocks BY> DEVICE int32_t past(int64_t time) const {
        int32_t low = 0, high = size;
        while (low < high) {
            const int32_t middle = (low + high) / 2;
            if (change<BY>(middle) <= time) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    DEVICE int64_t offset_at(int64_t instant) const { return offsets[past<UTC>(instant - cycles<UTC>(instant))]; }

    DEVICE Instants instants_of(int64_t local) const {
        const int64_t skipped = cycles<SLOWER>(local);
        const int32_t older = past<FASTER>(local - cycles<FASTER>(local)), newer = past<SLOWER>(local - skipped);
        const int64_t last = size ? changes[newer ? newer - 1 : 0] + skipped : local;
        return {local - offsets[older], local - offsets[newer], last};
    }
};

template <class ZONE> DEVICE int64_t offset_at(int64_t timestamp, ZONE zone) {
    return zone.offset_at(floor_quotient(timestamp, SECOND));
}
template <class ZONE> DEVICE Clock clock_of(int64_t timestamp, ZONE zone) {
    return moved(clock_of(timestamp), offset_at(timestamp, zone));
}

// The instant at which the zone's clock shows this; of times that it never shows, the last or first beside them, or what
// is as much later as the clock is turned forward.
template <class ZONE>
DEVICE int64_t instant_of(Fault at, Clock clock, ZONE zone, Choice ambiguous = RAISE, Choice nonexistent = RAISE) {
    const Instants found = zone.instants_of(clock.days * 86400 + clock.micros / SECOND);
    const bool twice = found.before < found.after, never = found.before > found.after && nonexistent != SHIFTED;
    if (twice && ambiguous == RAISE) {
        at(SHOWN_TWICE);
        return 0;
    }
    if (never && nonexistent == RAISE) {
        at(NEVER_SHOWN);
        return 0;
    }
    const int64_t seconds = never ? found.change : twice && ambiguous == LATEST ? found.after : found.before;
    const int64_t micros = never ? -(nonexistent == EARLIEST) : clock.micros % SECOND;
    return timestamp_of(at, {floor_quotient(seconds, 86400), floor_remainder(seconds, 86400) * SECOND + micros});
}
