// Casts: exact, or the reason why not.
#pragma once

// What came of a conversion: a value, or a reason that is not 0.
template <class T>
struct Outcome {
    T value;
    Reason reason;
};

template <class T> DEVICE Outcome<T> done(T value) { return {value, Reason(0)}; }
template <class T> DEVICE Outcome<T> refused(Reason reason) { return {T{}, reason}; }

// A strict cast tells of a value that it cannot convert, a lenient one gives null.
template <class T> DEVICE T strict(Fault at, Outcome<T> outcome) {
    if (outcome.reason) at(outcome.reason);
    return outcome.value;
}
template <class T> DEVICE Maybe<T> lenient(Outcome<T> outcome) { return {outcome.value, !outcome.reason}; }

// Whether an integer of any width is one of another, signs compared as numbers.
template <class TO, class FROM> DEVICE Outcome<TO> integer_cast(FROM value) {
    const TO result = TO(value);
    if (FROM(result) != value || (result < TO(0)) != (value < FROM(0))) return refused<TO>(NOT_EXACT);
    return done(result);
}
