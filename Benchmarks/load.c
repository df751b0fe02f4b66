// load.c - a single-threaded epoll HTTP/1.1 load client that speaks to an origin, to a
// forward proxy (absolute-form) and through CONNECT + TLS. One JSON line on stdout.
// Build: cc -O2 -o load load.c -lssl -lcrypto      Loopback benchmarking only.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { M_DIRECT, M_PROXY, M_CONNECT };
enum { CONNECTING, TUNNEL, HANDSHAKE, IDLE, SEND, HEAD, BODY, DEAD };
enum { B_LEN, B_CHUNK, B_CLOSE };
typedef struct {
    int fd, st, want, body, fresh, close_after, chunk_st, status, tries;
    SSL *ssl;
    uint64_t t0, t_conn;
    long idx, left, got;
    char out[1024], hd[16384];
    int outn, outoff, hdn;
    long bodyoff;
} conn;

static struct sockaddr_in server;
static int mode, tls, nconn = 1, newconn, hold, closing_hdr;
static const char *host = "127.0.0.1:80", *path = "/";
static long nreq, distinct = 1, offset, upload, rnd, size = -1;
static double dur = 10, warm = 0, rate = 0;
static SSL_CTX *ctx;
static int ep;
static uint64_t t_start, t_meas, t_end;
static long started, done, answers, bad_status, bad_size, conn_err, reconnects, live;
static uint64_t bytes_in, bytes_out;
static uint32_t *lat, *hs;
static long nlat, nhs, caplat = 1 << 16, caphs = 1 << 16;
static char *upbuf, rbuf[1 << 18];

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}
static void push(uint32_t **a, long *n, long *cap, uint64_t ns) {
    if (*n == *cap) *a = realloc(*a, (*cap *= 2) * sizeof **a);
    uint64_t us = ns / 1000;
    (*a)[(*n)++] = us > UINT32_MAX ? UINT32_MAX : us;
}
static int want(conn *c, int ev) {
    if (c->want == ev) return 0;
    struct epoll_event e = {.events = ev, .data.ptr = c};
    int op = c->want ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    c->want = ev;
    return epoll_ctl(ep, op, c->fd, &e);
}
static void drop(conn *c) {
    if (c->ssl) {
        SSL_set_quiet_shutdown(c->ssl, 1);
        SSL_free(c->ssl);
        c->ssl = NULL;
    }
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    c->want = 0;
    c->st = DEAD;
}
// I/O through TLS or plain; returns >0, 0 on close/error, -1 when it would block
static long io_read(conn *c, void *b, size_t n) {
    if (c->ssl) {
        int r = SSL_read(c->ssl, b, (int)n);
        if (r > 0) return r;
        int e = SSL_get_error(c->ssl, r);
        if (e == SSL_ERROR_WANT_READ) { want(c, EPOLLIN); return -1; }
        if (e == SSL_ERROR_WANT_WRITE) { want(c, EPOLLOUT); return -1; }
        return 0;
    }
    ssize_t r = recv(c->fd, b, n, 0);
    if (r > 0) return r;
    if (r < 0 && errno == EAGAIN) { want(c, EPOLLIN); return -1; }
    return 0;
}
static long io_write(conn *c, const void *b, size_t n) {
    if (c->ssl) {
        int r = SSL_write(c->ssl, b, (int)n);
        if (r > 0) return r;
        int e = SSL_get_error(c->ssl, r);
        if (e == SSL_ERROR_WANT_READ) { want(c, EPOLLIN); return -1; }
        if (e == SSL_ERROR_WANT_WRITE) { want(c, EPOLLOUT); return -1; }
        return 0;
    }
    ssize_t r = send(c->fd, b, n, MSG_NOSIGNAL);
    if (r > 0) return r;
    if (r < 0 && errno == EAGAIN) { want(c, EPOLLOUT); return -1; }
    return 0;
}
static int expired(void) { return now() >= t_end; }
static int more(void) { return (!nreq || started < nreq) && !expired(); }
static void authority(conn *c, char *b, size_t n) { snprintf(b, n, host, c->idx); }

static void dial(conn *c) {
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->t_conn = now();
    c->fresh = 1;
    c->want = 0;
    if (connect(c->fd, (struct sockaddr *)&server, sizeof server) && errno != EINPROGRESS) {
        conn_err++;
        drop(c);
        return;
    }
    c->st = CONNECTING;
    want(c, EPOLLOUT);
}
static void next_index(conn *c) {
    long i = started++;
    if (rate > 0) {  // answers that come meanwhile wait in their sockets
        uint64_t due = t_start + (uint64_t)(i * 1e9 / rate), t = now();
        if (due > t) nanosleep(&(struct timespec){(due - t) / 1000000000, (due - t) % 1000000000}, NULL);
    }
    if (rnd) {
        rnd = rnd * 6364136223846793005L + 1442695040888963407L;
        i = (long)((uint64_t)rnd >> 33);
    }
    c->idx = offset + i % distinct;
    c->tries = 0;
}
static void prepare(conn *c) {  // builds the request head for c->idx
    char a[256], p[256];
    authority(c, a, sizeof a);
    snprintf(p, sizeof p, path, c->idx);
    int n = snprintf(c->out, sizeof c->out, "%s %s%s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: */*\r\n"
                     "Accept-Encoding: gzip\r\n",
                     upload ? "POST" : "GET", mode == M_PROXY ? "http://" : "", mode == M_PROXY ? a : "", p, a);
    if (newconn && closing_hdr) n += snprintf(c->out + n, sizeof c->out - n, "Connection: close\r\n");
    if (upload)
        n += snprintf(c->out + n, sizeof c->out - n,
                      "Content-Type: multipart/form-data; boundary=XbenchX\r\nContent-Length: %ld\r\n", upload);
    c->outn = n + snprintf(c->out + n, sizeof c->out - n, "\r\n");
    c->outoff = 0;
    c->bodyoff = 0;
    c->hdn = 0;
    c->status = 0;
    c->close_after = newconn;
    c->st = SEND;
}
static void step(conn *c);
static void retire(conn *c) { drop(c); live--; }
static void begin(conn *c) {  // takes a new request on a live or dead connection
    if (!more()) {
        if (!hold || c->st == DEAD) retire(c);
        else want(c, EPOLLIN), c->st = IDLE, live--;
        return;
    }
    next_index(c);
    c->t0 = now();
    if (c->st == DEAD) dial(c);
    else { c->fresh = 0; prepare(c); step(c); }
}
static void broken(conn *c) {  // connection died; an unanswered request on a reused one is retried
    int stale = !c->fresh && c->hdn == 0 && c->status == 0;
    drop(c);
    if (stale) reconnects++;
    else conn_err++;
    if (conn_err > 2000 || expired()) { live--; return; }
    if (++c->tries > 3) { begin(c); return; }
    dial(c);
    if (c->st == DEAD) live--;
}
static void finish(conn *c) {
    uint64_t t = now();
    answers++;
    if (c->status != 200) bad_status++;
    if (size >= 0 && c->got != size) bad_size++;
    if (t >= t_meas && t <= t_end) {
        done++;
        push(&lat, &nlat, &caplat, t - (newconn ? c->t_conn : c->t0));
        bytes_out += upload;
    }
    if (c->close_after) { drop(c); }
    else { c->st = IDLE; }
    begin(c);
}
static int header(conn *c, const char *name, char *val, size_t n) {
    size_t k = strlen(name);
    for (char *p = strstr(c->hd, "\r\n"); p; p = strstr(p + 2, "\r\n"))
        if (!strncasecmp(p + 2, name, k) && p[2 + k] == ':') {
            p += 3 + k;
            while (*p == ' ') p++;
            size_t l = strcspn(p, "\r\n");
            if (l >= n) l = n - 1;
            memcpy(val, p, l);
            val[l] = 0;
            return 1;
        }
    return 0;
}
// consumes body bytes; returns 1 when the body is complete
static int eat(conn *c, const char *p, long n) {
    if (now() >= t_meas) bytes_in += n;
    if (c->body != B_CHUNK) c->got += n;
    if (c->body == B_CLOSE) return 0;
    if (c->body == B_LEN) return (c->left -= n) <= 0;
    while (n > 0) {  // chunk_st: 0 size digits, 1 rest of size line, 2 data, 3 CR LF after data, 4 trailers
        if (c->chunk_st == 2) {
            long k = n < c->left ? n : c->left;
            p += k; n -= k; c->left -= k; c->got += k;
            if (!c->left) c->chunk_st = 3;
            continue;
        }
        char ch = *p++;
        n--;
        if (c->chunk_st == 0) {
            if (ch >= '0' && ch <= '9') c->left = c->left * 16 + ch - '0';
            else if ((ch | 32) >= 'a' && (ch | 32) <= 'f') c->left = c->left * 16 + (ch | 32) - 'a' + 10;
            else c->chunk_st = 1;
            if (ch == '\n') c->chunk_st = c->left ? 2 : 4;
        } else if (c->chunk_st == 1) {
            if (ch == '\n') c->chunk_st = c->left ? 2 : 4;
        } else if (c->chunk_st == 3) {
            if (ch == '\n') { c->chunk_st = 0; c->left = 0; }
        } else {  // trailers end with an empty line; left counts this line's characters
            if (ch == '\n') { if (!c->left) return 1; c->left = 0; }
            else if (ch != '\r') c->left++;
        }
    }
    return 0;
}
static void step(conn *c) {
    for (;;) switch (c->st) {
        case CONNECTING: {
            int e = 0; socklen_t l = sizeof e;
            getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &l);
            if (e) { errno = e; broken(c); return; }
            if (mode == M_CONNECT) {
                char a[256];
                authority(c, a, sizeof a);
                c->outn = snprintf(c->out, sizeof c->out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", a, a);
                if (send(c->fd, c->out, c->outn, MSG_NOSIGNAL) != c->outn) { broken(c); return; }
                c->hdn = 0;
                c->st = TUNNEL;
                want(c, EPOLLIN);
                return;
            }
            if (tls) goto handshake;
            prepare(c);
            break;
        }
        case TUNNEL: {
            ssize_t r = recv(c->fd, c->hd + c->hdn, sizeof c->hd - 1 - c->hdn, 0);
            if (r < 0 && errno == EAGAIN) return;
            if (r <= 0) { broken(c); return; }
            c->hd[c->hdn += r] = 0;
            if (!strstr(c->hd, "\r\n\r\n")) { if (c->hdn > 8000) { broken(c); return; } break; }
            if (strncmp(c->hd + 8, " 200", 4)) { broken(c); return; }
            c->hdn = 0;
        handshake:
            c->ssl = SSL_new(ctx);
            SSL_set_fd(c->ssl, c->fd);
            char a[256];
            authority(c, a, sizeof a);
            *strchrnul(a, ':') = 0;
            SSL_set_tlsext_host_name(c->ssl, a);
            c->st = HANDSHAKE;
            break;
        }
        case HANDSHAKE: {
            int r = SSL_connect(c->ssl);
            if (r == 1) {
                if (now() >= t_meas) push(&hs, &nhs, &caphs, now() - c->t_conn);
                prepare(c);
                break;
            }
            int e = SSL_get_error(c->ssl, r);
            if (e == SSL_ERROR_WANT_READ) { want(c, EPOLLIN); return; }
            if (e == SSL_ERROR_WANT_WRITE) { want(c, EPOLLOUT); return; }
            broken(c);
            return;
        }
        case SEND: {
            long r;
            if (c->outoff < c->outn) {
                if ((r = io_write(c, c->out + c->outoff, c->outn - c->outoff)) < 0) return;
                if (!r) { broken(c); return; }
                c->outoff += r;
            } else if (c->bodyoff < upload) {
                long k = upload - c->bodyoff;
                if (k > 1 << 17) k = 1 << 17;
                if ((r = io_write(c, upbuf + c->bodyoff, k)) < 0) return;
                if (!r) { broken(c); return; }
                c->bodyoff += r;
            } else {
                c->st = HEAD;
                want(c, EPOLLIN);
                return;
            }
            break;
        }
        case HEAD: {
            long r = io_read(c, c->hd + c->hdn, sizeof c->hd - 1 - c->hdn);
            if (r < 0) return;
            if (!r) { broken(c); return; }
            c->hd[c->hdn += r] = 0;
            char *e = strstr(c->hd, "\r\n\r\n"), v[64];
            if (!e) { if (c->hdn > 16000) { broken(c); return; } break; }
            long extra = c->hdn - (e + 4 - c->hd);
            c->status = atoi(c->hd + 9);
            char first = e[4];
            e[2] = 0;
            c->left = c->got = 0;
            c->chunk_st = 0;
            if (header(c, "transfer-encoding", v, sizeof v)) c->body = B_CHUNK;
            else if (header(c, "content-length", v, sizeof v)) { c->body = B_LEN; c->left = atol(v); }
            else c->body = B_CLOSE, c->close_after = 1;
            if ((header(c, "connection", v, sizeof v) && !strcasecmp(v, "close")) || !strncmp(c->hd, "HTTP/1.0", 8))
                c->close_after = 1;
            e[4] = first;
            c->st = BODY;
            if ((extra || (c->body == B_LEN && !c->left)) && eat(c, e + 4, extra)) { finish(c); return; }
            break;
        }
        case BODY: {
            long r = io_read(c, rbuf, sizeof rbuf);
            if (r < 0) return;
            if (!r) { if (c->body == B_CLOSE) { finish(c); return; } broken(c); return; }
            if (eat(c, rbuf, r)) { finish(c); return; }
            break;
        }
        default: {  // IDLE while holding: the peer closed, or stray bytes
            char b[512];
            if (c->fd < 0) return;
            ssize_t r = recv(c->fd, b, sizeof b, 0);
            if (r == 0) drop(c);
            return;
        }
    }
}
static int cmp(const void *a, const void *b) {
    uint32_t x = *(uint32_t *)a, y = *(uint32_t *)b;
    return x < y ? -1 : x > y;
}
static void pct(const char *name, uint32_t *a, long n) {
    qsort(a, n, sizeof *a, cmp);
    double s = 0;
    for (long i = 0; i < n; i++) s += a[i];
#define Q(q) (n ? a[(long)((n - 1) * (q))] : 0)
    printf(", \"%s_us\": {\"n\": %ld, \"mean\": %.1f, \"p50\": %u, \"p90\": %u, \"p99\": %u, \"p999\": %u, \"max\": %u}", name, n,
           n ? s / n : 0, Q(.5), Q(.9), Q(.99), Q(.999), Q(1));
}
int main(int argc, char **argv) {
    int o;
    char *colon;
    server.sin_family = AF_INET;
    while ((o = getopt(argc, argv, "s:t:P:m:Sc:n:d:w:Nk:o:b:ir:R:Cz:")) != -1) switch (o) {
        case 's': colon = strchr(optarg, ':'); *colon = 0; inet_aton(optarg, &server.sin_addr);
                  server.sin_port = htons(atoi(colon + 1)); break;
        case 't': host = optarg; break;                       // authority, may hold %ld
        case 'P': path = optarg; break;                       // path, may hold %ld
        case 'm': mode = *optarg == 'c' ? M_CONNECT : *optarg == 'p' ? M_PROXY : M_DIRECT; break;
        case 'S': tls = 1; break;
        case 'c': nconn = atoi(optarg); break;
        case 'n': nreq = atol(optarg); break;                 // stop after so many requests
        case 'd': dur = atof(optarg); break;                  // ... or so many seconds
        case 'w': warm = atof(optarg); break;                 // seconds before measuring starts
        case 'N': newconn = 1; break;
        case 'C': closing_hdr = 1; break;                     // with -N: send Connection: close
        case 'k': distinct = atol(optarg); break;             // indices run offset .. offset+distinct-1
        case 'o': offset = atol(optarg); break;
        case 'b': upload = atol(optarg); break;               // multipart POST body of so many bytes
        case 'i': hold = 1; break;                            // afterwards hold idle until stdin closes
        case 'r': rnd = atol(optarg); break;                  // random order, with this seed
        case 'R': rate = atof(optarg); break;                 // at most so many requests per second
        case 'z': size = atol(optarg); break;                 // octets an answer's body must have
        default: return 2;
        }
    signal(SIGPIPE, SIG_IGN);
    ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\x08http/1.1", 9);
    SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
    lat = malloc(caplat * sizeof *lat);
    hs = malloc(caphs * sizeof *hs);
    if (upload) {
        static const char pre[] = "--XbenchX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n"
                                  "Content-Type: application/octet-stream\r\n\r\n", post[] = "\r\n--XbenchX--\r\n";
        upbuf = malloc(upload);
        uint64_t x = 88172645463325252ull;
        for (long i = 0; i < upload; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; upbuf[i] = x >> 24; }
        memcpy(upbuf, pre, sizeof pre - 1);
        memcpy(upbuf + upload - (sizeof post - 1), post, sizeof post - 1);
    }
    ep = epoll_create1(0);
    conn *cs = calloc(nconn, sizeof *cs);
    t_start = now();
    t_meas = t_start + (uint64_t)(warm * 1e9);
    t_end = t_meas + (uint64_t)(dur * 1e9);
    live = nconn;
    for (int i = 0; i < nconn; i++) {
        cs[i].fd = -1;
        cs[i].st = DEAD;
        begin(&cs[i]);
    }
    struct epoll_event ev[256];
    uint64_t grace = t_end + 500000000ull, last = 0;
    while (live > 0) {
        int n = epoll_wait(ep, ev, 256, 100);
        for (int i = 0; i < n; i++) step(ev[i].data.ptr);
        if ((last = now()) > grace) break;
    }
    last = now();
    double secs = ((last < t_end ? last : t_end) - t_meas) / 1e9;
    printf("{\"reqs\": %ld, \"answers\": %ld, \"secs\": %.4f, \"rps\": %.1f, \"in_MBps\": %.1f, \"out_MBps\": %.1f, \"bad_status\": %ld, "
           "\"bad_size\": %ld, \"conn_err\": %ld, \"reconnects\": %ld, \"unfinished\": %ld",
           done, answers, secs, done / secs, bytes_in / secs / 1e6, bytes_out / secs / 1e6, bad_status, bad_size, conn_err,
           reconnects, live);
    pct("lat", lat, nlat);
    if (nhs) pct("hs", hs, nhs);
    printf("}\n");
    fflush(stdout);
    if (hold) { char b; while (read(0, &b, 1) > 0) {} }
    return 0;
}
