// An S3 server of the files below a folder, for benchmarks: HEAD, GET with ranges, ListObjectsV2, on loopback.
//
// A bucket is a folder in the folder.  It checks no signatures and writes nothing.  It has a thread for each connection, and
// the kernel copies files to sockets, so that clients are what is measured.
//
//     GET /.counts    requests, and bytes of objects and of lists, since the last /.reset, as JSON
//     GET /.reset
//
// Build: g++ -O2 -std=c++20 -pthread object_server.cpp -o object_server.  Run: object_server FOLDER PORT
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

std::atomic<long> heads{0}, gets{0}, lists{0}, bytes{0}, list_bytes{0};
std::string root;

struct Entry {
    std::string key;
    struct stat info;
};
std::map<std::string, std::vector<Entry>> buckets;  // read once: files do not change while it runs

std::string decoded(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '%' && i + 2 < text.size()) {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string e_tag(const struct stat& info) {
    char text[64];
    snprintf(text, sizeof text, "\"%lx-%lx\"", static_cast<long>(info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec),
             static_cast<long>(info.st_size));
    return text;
}

std::string time_text(time_t seconds, const char* form) {
    char text[64];
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text, form, &parts);
    return text;
}

bool send_all(int socket, const std::string& text) {
    for (size_t sent = 0; sent < text.size();) {
        ssize_t count = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return false;
        sent += count;
    }
    return true;
}

bool answer(int socket, const std::string& status, const std::string& body, const std::string& type = "application/xml") {
    return send_all(socket, "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
                                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

bool list(int socket, const std::string& bucket, std::map<std::string, std::string>& query) {
    lists++;
    const auto& all = buckets[bucket];
    const std::string prefix = query["prefix"], after = std::max(query["continuation-token"], query["start-after"]);
    auto at = std::lower_bound(all.begin(), all.end(), std::max(prefix, after),
                               [](const Entry& one, const std::string& key) { return one.key < key; });
    std::string body = "<?xml version=\"1.0\"?><ListBucketResult>", last;
    int count = 0;
    for (; at != all.end() && at->key.starts_with(prefix); ++at) {
        if (at->key == after) continue;
        if (count == 1000) {
            body += "<IsTruncated>true</IsTruncated><NextContinuationToken>" + last + "</NextContinuationToken>";
            break;
        }
        body += "<Contents><Key>" + at->key + "</Key><LastModified>" +
                time_text(at->info.st_mtime, "%Y-%m-%dT%H:%M:%S.000Z") + "</LastModified><ETag>" + e_tag(at->info) +
                "</ETag><Size>" + std::to_string(at->info.st_size) + "</Size></Contents>";
        last = at->key;
        count++;
    }
    body += "<KeyCount>" + std::to_string(count) + "</KeyCount></ListBucketResult>";
    list_bytes += body.size();
    return answer(socket, "200 OK", body);
}

bool object(int socket, const std::string& path, bool is_head, const std::string& range) {
    (is_head ? heads : gets)++;
    int file = open((root + path).c_str(), O_RDONLY);
    struct stat info;
    if (file < 0 || fstat(file, &info) || !S_ISREG(info.st_mode)) {
        if (file >= 0) close(file);
        return answer(socket, "404 Not Found", is_head ? "" : "<Error><Code>NoSuchKey</Code></Error>");
    }
    off_t start = 0, end = info.st_size;
    std::string status = "200 OK", extra;
    if (!range.empty()) {
        size_t dash = range.find('-');
        if (dash == 0) {
            start = std::max<off_t>(0, info.st_size - std::stol(range.substr(1)));
        } else {
            start = std::stol(range.substr(0, dash));
            if (dash + 1 < range.size()) end = std::min<off_t>(end, std::stol(range.substr(dash + 1)) + 1);
        }
        status = "206 Partial Content";
        extra = "Content-Range: bytes " + std::to_string(start) + "-" + std::to_string(end - 1) + "/" +
                std::to_string(info.st_size) + "\r\n";
    }
    bool is_sent = send_all(socket, "HTTP/1.1 " + status + "\r\n" + extra + "Content-Length: " + std::to_string(end - start) +
                                        "\r\nAccept-Ranges: bytes\r\nETag: " + e_tag(info) + "\r\nLast-Modified: " +
                                        time_text(info.st_mtime, "%a, %d %b %Y %H:%M:%S GMT") + "\r\n\r\n");
    while (is_sent && !is_head && start < end) {
        ssize_t count = sendfile(socket, file, &start, end - start);
        if (count <= 0) is_sent = false;
        else bytes += count;
    }
    close(file);
    return is_sent;
}

bool serve(int socket, const std::string& request) {
    size_t space = request.find(' '), next = request.find(' ', space + 1);
    std::string method = request.substr(0, space), target = request.substr(space + 1, next - space - 1), range;
    size_t line = 0;
    while ((line = request.find("\r\n", line)) != std::string::npos) {
        line += 2;
        if (strncasecmp(request.c_str() + line, "range: bytes=", 13) == 0) {
            range = request.substr(line + 13, request.find("\r\n", line) - line - 13);
        }
    }
    size_t mark = target.find('?');
    std::string path = decoded(target.substr(0, mark));
    if (path == "/.counts" || path == "/.reset") {
        char text[200];
        snprintf(text, sizeof text, "{\"head\": %ld, \"get\": %ld, \"list\": %ld, \"bytes\": %ld, \"list_bytes\": %ld}",
                 heads.load(), gets.load(), lists.load(), bytes.load(), list_bytes.load());
        if (path == "/.reset") heads = gets = lists = bytes = list_bytes = 0;
        return answer(socket, "200 OK", text, "application/json");
    }
    std::map<std::string, std::string> query;
    for (size_t at = mark; at != std::string::npos && at < target.size();) {
        size_t end = std::min(target.find('&', at + 1), target.size()), equals = target.find('=', at);
        if (equals < end) query[target.substr(at + 1, equals - at - 1)] = decoded(target.substr(equals + 1, end - equals - 1));
        at = end;
    }
    if (query.contains("list-type")) {
        std::string bucket = path.substr(1);
        if (!bucket.empty() && bucket.back() == '/') bucket.pop_back();
        return list(socket, bucket, query);
    }
    if (path.find("..") != std::string::npos) return answer(socket, "400 Bad Request", "");
    return object(socket, path, method == "HEAD", range);
}

void converse(int socket) {
    std::string text;
    char buffer[16384];
    for (;;) {
        size_t end = text.find("\r\n\r\n");
        if (end == std::string::npos) {
            ssize_t count = recv(socket, buffer, sizeof buffer, 0);
            if (count <= 0) break;
            text.append(buffer, count);
            continue;
        }
        if (!serve(socket, text.substr(0, end + 2))) break;
        text.erase(0, end + 4);
    }
    close(socket);
}

int main(int, char** arguments) {
    signal(SIGPIPE, SIG_IGN);
    root = arguments[1];
    for (const auto& bucket : fs::directory_iterator(root)) {
        auto& all = buckets[bucket.path().filename()];
        for (const auto& file : fs::recursive_directory_iterator(bucket.path())) {
            Entry entry{fs::relative(file.path(), bucket.path()), {}};
            if (file.is_regular_file() && !stat(file.path().c_str(), &entry.info)) all.push_back(entry);
        }
        std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(std::atoi(arguments[2]));
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) || listen(listener, 512)) {
        perror("cannot listen");
        return 1;
    }
    for (;;) {
        int socket = accept(listener, nullptr, nullptr);
        if (socket < 0) continue;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(converse, socket).detach();
    }
}
