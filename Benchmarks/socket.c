/* Load for WebSockets, on raw frames: an origin that echoes or floods, and clients that count what comes back.
 *
 *   socket serve PORT
 *   socket echo PORT ORIGIN PROTOCOL CONNECTIONS SIZE SECONDS   prints messages and seconds
 *   socket flood PORT ORIGIN PROTOCOL SIZE COUNT                prints bytes and seconds
 *
 * PORT is that of the proxy, ORIGIN that of the origin. PROTOCOL is what Upgrade asks for: the proxy watches "websocket" and nothing else.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, MOST = 4096 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void put(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) fail("send");
        bytes += sent;
        count -= sent;
    }
}

static int dial(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Reads a head, byte by byte: what follows it belongs to somebody else. */
static int head(int fd, char *text, int size) {
    int count = 0;
    while (count < size - 1 && recv(fd, text + count, 1, 0) == 1) {
        text[++count] = 0;
        if (count >= 4 && memcmp(text + count - 4, "\r\n\r\n", 4) == 0) return 1;
    }
    return 0;
}

/* The head of a frame, final and not masked unless asked. */
static int frame(char *out, int opcode, uint64_t size, int masked) {
    int count = 0, bit = masked ? 0x80 : 0;
    out[count++] = 0x80 | opcode;
    if (size < 126) {
        out[count++] = bit | size;
    } else if (size < 65536) {
        out[count++] = bit | 126;
        out[count++] = size >> 8;
        out[count++] = size;
    } else {
        out[count++] = bit | 127;
        for (int shift = 56; shift >= 0; shift -= 8) out[count++] = size >> shift;
    }
    if (masked) {
        memset(out + count, 0, 4); /* a key of zeros: the payload stays, and is unmasked all the same */
        count += 4;
    }
    return count;
}

/* A JSON text of so many bytes, at least 12. */
static void fill(char *text, size_t size) {
    memset(text, 'x', size);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + size - 2, "\"}", 2);
}

static void flood(int fd, size_t size, long count) {
    if (size < 65536) {
        /* Whole frames, many at once. */
        char *block = malloc(BLOCK + 65600);
        size_t length = 0;
        long held = 0;
        while (length < BLOCK) {
            length += frame(block + length, 1, size, 0);
            fill(block + length, size);
            length += size;
            held++;
        }
        for (; count >= held; count -= held) put(fd, block, length);
        put(fd, block, length / held * count);
        free(block);
    } else {
        char *text = malloc(size), start[16];
        fill(text, size);
        for (; count > 0; count--) {
            put(fd, start, frame(start, size > 1000000 ? 2 : 1, size, 0));
            put(fd, text, size);
        }
        free(text);
    }
    put(fd, "\x88\x02\x03\xe8", 4);
}

static void serve(int port) {
    static char block[BLOCK], text[8192];
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, MOST) < 0) fail("listen");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                ssize_t count = recv(fd, block, BLOCK, 0);
                if (count <= 0) close(fd);
                else if (send(fd, block, count, MSG_NOSIGNAL) != count) close(fd);
                continue;
            }
            fd = accept(listener, NULL, NULL);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (!head(fd, text, sizeof text)) {
                close(fd);
                continue;
            }
            char answer[512], protocol[32] = "websocket";
            char *named = strstr(text, "Upgrade: ");
            if (named) sscanf(named, "Upgrade: %31[a-z]", protocol);
            snprintf(answer, sizeof answer, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: %s\r\nConnection: Upgrade\r\n%s\r\n", protocol,
                     strstr(text, "permessage-deflate") ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : "");
            put(fd, answer, strlen(answer));
            size_t size;
            long count;
            char *path = strstr(text, "/flood/");
            if (path && sscanf(path, "/flood/%zu/%ld", &size, &count) == 2) {
                if (fork() == 0) {
                    flood(fd, size, count);
                    recv(fd, block, BLOCK, 0);
                    exit(0);
                }
                close(fd);
                continue;
            }
            event.data.fd = fd;
            epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
        }
    }
}

static int ask(int port, int origin, const char *protocol, const char *path) {
    char text[8192];
    int fd = dial(port);
    snprintf(text, sizeof text,
             "GET http://127.0.0.1:%d%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: %s\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
             origin, path, origin, protocol);
    put(fd, text, strlen(text));
    if (!head(fd, text, sizeof text) || strncmp(text, "HTTP/1.1 101", 12) != 0) {
        fprintf(stderr, "no tunnel: %s\n", text);
        exit(1);
    }
    return fd;
}

static void echo(int port, int origin, const char *protocol, int connections, size_t size, double seconds) {
    static char block[BLOCK];
    static size_t due[1 << 16];
    char *message = malloc(size + 16);
    int length = frame(message, 1, size, 1), poll = epoll_create1(0);
    fill(message + length, size);
    length += size;
    struct epoll_event event = {.events = EPOLLIN}, events[256];
    for (int i = 0; i < connections; i++) {
        int fd = ask(port, origin, protocol, "/echo");
        event.data.fd = fd;
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
        due[fd] = length;
        put(fd, message, length);
    }
    long count = 0;
    double begun = now(), end = begun + seconds;
    while (now() < end) {
        int ready = epoll_wait(poll, events, 256, 1000);
        if (ready == 0) fail("nothing comes back");
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            ssize_t got = recv(fd, block, BLOCK, 0);
            if (got <= 0) fail("recv");
            due[fd] -= got;
            if (due[fd] > 0) continue;
            count += 2; /* there and back */
            due[fd] = length;
            put(fd, message, length);
        }
    }
    printf("%ld %f\n", count, now() - begun);
}

static void sink(int port, int origin, const char *protocol, const char *size, const char *count) {
    static char block[BLOCK];
    char path[128];
    snprintf(path, sizeof path, "/flood/%s/%s", size, count);
    double begun = now();
    int fd = ask(port, origin, protocol, path);
    uint64_t total = 0;
    uint64_t wanted = 4 + (atol(size) + (atol(size) < 126 ? 2 : atol(size) < 65536 ? 4 : 10)) * (uint64_t)atol(count);
    while (total < wanted) {
        ssize_t got = recv(fd, block, BLOCK, 0);
        if (got <= 0) fail("recv");
        total += got;
    }
    put(fd, "\x88\x82\0\0\0\0\x03\xe8", 8);
    printf("%llu %f\n", (unsigned long long)total, now() - begun);
}

int main(int count, char **words) {
    signal(SIGCHLD, SIG_IGN);
    if (count == 3 && strcmp(words[1], "serve") == 0) serve(atoi(words[2]));
    else if (count == 8 && strcmp(words[1], "echo") == 0)
        echo(atoi(words[2]), atoi(words[3]), words[4], atoi(words[5]), atol(words[6]), atof(words[7]));
    else if (count == 7 && strcmp(words[1], "flood") == 0) sink(atoi(words[2]), atoi(words[3]), words[4], words[5], words[6]);
    else return fprintf(stderr, "socket serve|echo|flood: see its source\n"), 2;
    return 0;
}
