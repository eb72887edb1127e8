// Paths of files, taken apart: each part is a view.
#pragma once
#include "strings.cuh"

// The characters that separate parts.
struct PathSeparators {
    bool slash, backslash;

    DEVICE bool operator()(char byte) const { return (slash && byte == '/') || (backslash && byte == '\\'); }
};

// Where the name behind the last separator begins.
DEVICE int64_t name_start(String path, PathSeparators separates) {
    int64_t at = path.size;
    while (at > 0 && !separates(path[at - 1])) --at;
    return at;
}

DEVICE String parse_filename(String path, PathSeparators separates, bool trims) {
    const int64_t start = name_start(path, separates);
    int64_t end = path.size;
    if (trims) {
        while (end > start && path[end - 1] != '.') --end;
        end = end > start ? end - 1 : path.size;
    }
    return path.cut(start, end);
}
DEVICE String parse_dirpath(String path, PathSeparators separates) {
    const int64_t start = name_start(path, separates);
    return path.cut(0, path.size == 1 ? start : start > 0 ? start - 1 : 0);  // a separator alone is one
}
DEVICE String parse_dirname(String path, PathSeparators separates) {
    for (int64_t at = 0; at < path.size; ++at)
        if (separates(path[at])) return path.cut(0, at > 0 ? at : 1);
    return path.cut(0, 0);
}

// The folders and the name; a separator at the start is one of them.
struct PathParts {
    String path;
    PathSeparators separates;
    int64_t at = 0;

    DEVICE PathParts(String path, PathSeparators separates) : path(path), separates(separates) {}
    DEVICE bool next(Maybe<String>& part) {
        if (at == 0 && path.size && separates(path[0])) {
            part = some(path.cut(0, 1));
            at = 1;
            return true;
        }
        while (at < path.size && separates(path[at])) ++at;
        if (at >= path.size) return false;
        const int64_t start = at;
        while (at < path.size && !separates(path[at])) ++at;
        part = some(path.cut(start, at));
        return true;
    }
};
