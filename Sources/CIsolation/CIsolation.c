#define _GNU_SOURCE
#include "CIsolation.h"

#include <errno.h>

#ifdef __linux__

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// From linux/in.h and linux/in6.h, which cannot be included next to netinet/in.h on all systems.
enum { original_destination_4 = 20, original_destination_6 = 74 };

// MARK: Descriptors

int wiretape_send_descriptors(int socket, const void *bytes, size_t size, const int *descriptors, size_t count) {
    if (size == 0 || count > wiretape_most_descriptors) {
        errno = EINVAL;
        return -1;
    }
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * wiretape_most_descriptors)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    }
    ssize_t sent;
    do { sent = sendmsg(socket, &message, MSG_NOSIGNAL); } while (sent < 0 && errno == EINTR);
    if (sent < 0) return -1;
    if ((size_t)sent != size) {
        errno = EMSGSIZE;
        return -1;
    }
    return 0;
}

long wiretape_receive_descriptors(int socket, void *bytes, size_t size, int *descriptors, size_t *count) {
    size_t room = *count;
    *count = 0;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * wiretape_most_descriptors)];
    } control;
    struct iovec part = {bytes, size};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t received;
    do { received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC); } while (received < 0 && errno == EINTR);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < number; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (*count < room) descriptors[(*count)++] = descriptor;
            else close(descriptor);
        }
    }
    return received;
}

// MARK: Datagrams

long wiretape_receive_datagram(
    int socket, void *bytes, size_t size, struct sockaddr_storage *from, struct sockaddr_storage *to) {
    union {
        struct cmsghdr header;
        char bytes[256];
    } control;
    memset(from, 0, sizeof *from);
    memset(to, 0, sizeof *to);
    struct iovec part = {bytes, size};
    struct msghdr message = {0};
    message.msg_name = from;
    message.msg_namelen = sizeof *from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t received;
    do { received = recvmsg(socket, &message, MSG_DONTWAIT); } while (received < 0 && errno == EINTR);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == original_destination_4)
            memcpy(to, CMSG_DATA(header), sizeof(struct sockaddr_in));
        if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == original_destination_6)
            memcpy(to, CMSG_DATA(header), sizeof(struct sockaddr_in6));
    }
    return received;
}

int wiretape_send_datagram(
    int socket, const void *bytes, size_t size, const struct sockaddr_storage *from, const struct sockaddr_storage *to) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {0};
    message.msg_name = (void *)to;
    message.msg_namelen = to->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (from->ss_family == AF_INET) {
        struct in_pktinfo info = {0};
        info.ipi_spec_dst = ((const struct sockaddr_in *)from)->sin_addr;
        header->cmsg_level = IPPROTO_IP;
        header->cmsg_type = IP_PKTINFO;
        header->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(header), &info, sizeof info);
        message.msg_controllen = CMSG_SPACE(sizeof info);
    } else if (from->ss_family == AF_INET6) {
        struct in6_pktinfo info = {0};
        info.ipi6_addr = ((const struct sockaddr_in6 *)from)->sin6_addr;
        header->cmsg_level = IPPROTO_IPV6;
        header->cmsg_type = IPV6_PKTINFO;
        header->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(header), &info, sizeof info);
        message.msg_controllen = CMSG_SPACE(sizeof info);
    } else {
        message.msg_control = NULL;
        message.msg_controllen = 0;
    }
    ssize_t sent;
    do { sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT); } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

// MARK: Capabilities

int wiretape_drop_capability(unsigned capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return -1;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0) return -1;
    data[capability / 32].inheritable &= ~(1u << (capability % 32));
    return syscall(SYS_capset, &header, data) == 0 ? 0 : -1;
}

int wiretape_keep_capability(unsigned capability) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0) return -1;
    data[capability / 32].inheritable |= 1u << (capability % 32);
    if (syscall(SYS_capset, &header, data) != 0) return -1;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0 ? 0 : -1;
}

// MARK: /proc

int wiretape_mount_proc(const char *folder) { return mount("proc", folder, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL); }

int wiretape_unmount(const char *folder) { return umount2(folder, MNT_DETACH); }

// MARK: The dialer

static void serve_sockets(int control, uint32_t mark) __attribute__((noreturn));

static void serve_sockets(int control, uint32_t mark) {
    for (;;) {
        char request;
        ssize_t received = recv(control, &request, 1, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) _exit(0);
        int family = request == wiretape_dialer_ipv6 ? AF_INET6 : AF_INET;
        int made = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (made >= 0 && setsockopt(made, SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0) {
            int problem = errno;
            close(made);
            made = -1;
            errno = problem;
        }
        unsigned char answer = made >= 0 ? 0 : (unsigned char)errno;
        int status = wiretape_send_descriptors(control, &answer, 1, &made, made >= 0 ? 1 : 0);
        if (made >= 0) close(made);
        if (status != 0) _exit(0);
    }
}

static void close_all_but(int kept) {
    // The kernel closes a range since 5.9 (close_range); one by one before that.
    int is_closed = 1;
    if (kept > 0 && syscall(436, 0, kept - 1, 0) != 0) is_closed = 0;
    if (syscall(436, kept + 1, ~0u, 0) != 0) is_closed = 0;
    if (is_closed) return;
    long limit = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 0; descriptor < (limit > 0 && limit < 65536 ? limit : 65536); descriptor++)
        if (descriptor != kept) close(descriptor);
}

int wiretape_start_dialer(int control, uint32_t mark) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t middle = fork();
    if (middle < 0) {
        int problem = errno;
        close(ends[0]);
        close(ends[1]);
        errno = problem;
        return -1;
    }
    if (middle == 0) {
        // The dialer has no parent that waits for it, so that the program finds no unknown child.
        pid_t dialer = fork();
        if (dialer == 0) {
            // Away from the terminal, whose signals are for the program.
            setsid();
            if (chdir("/") != 0) _exit(1);
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_SETMASK, &all, NULL);
            close_all_but(control);
            prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
            serve_sockets(control, mark);
        }
        int answer = dialer < 0 ? -errno : dialer;
        ssize_t written = write(ends[1], &answer, sizeof answer);
        _exit(written == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    int answer = -EIO;
    ssize_t received;
    do { received = read(ends[0], &answer, sizeof answer); } while (received < 0 && errno == EINTR);
    close(ends[0]);
    int status;
    while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {}
    if (received != sizeof answer) answer = -EIO;
    if (answer < 0) {
        errno = -answer;
        return -1;
    }
    return answer;
}

// MARK: Rules

typedef void *(*make_context)(uint32_t);
typedef void (*free_context)(void *);
typedef int (*context_call)(void *);
typedef int (*run_rules)(void *, const char *);
typedef const char *(*read_text)(void *);

int wiretape_load_rules(const char *rules, char *problem, size_t size) {
    void *library = dlopen("libnftables.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(problem, size, "%s", reason ? reason : "libnftables.so.1 cannot be loaded");
        return 1;
    }
    // The functions of nftables/libnftables.h.
    make_context make = (make_context)dlsym(library, "nft_ctx_new");
    free_context discard = (free_context)dlsym(library, "nft_ctx_free");
    context_call keep_errors = (context_call)dlsym(library, "nft_ctx_buffer_error");
    read_text errors = (read_text)dlsym(library, "nft_ctx_get_error_buffer");
    run_rules run = (run_rules)dlsym(library, "nft_run_cmd_from_buffer");
    if (!make || !discard || !keep_errors || !errors || !run) {
        snprintf(problem, size, "libnftables.so.1 lacks a function of its interface");
        return 1;
    }
    void *context = make(0);
    if (!context) {
        snprintf(problem, size, "libnftables has no memory");
        return 2;
    }
    keep_errors(context);
    int status = run(context, rules);
    if (status != 0) {
        const char *text = errors(context);
        snprintf(problem, size, "%s", text ? text : "");
    }
    discard(context);
    // The library stays loaded: this process soon becomes another program.
    return status == 0 ? 0 : 2;
}

#else

int wiretape_send_descriptors(int socket, const void *bytes, size_t size, const int *descriptors, size_t count) {
    errno = ENOSYS;
    return -1;
}

long wiretape_receive_descriptors(int socket, void *bytes, size_t size, int *descriptors, size_t *count) {
    *count = 0;
    errno = ENOSYS;
    return -1;
}

long wiretape_receive_datagram(
    int socket, void *bytes, size_t size, struct sockaddr_storage *from, struct sockaddr_storage *to) {
    errno = ENOSYS;
    return -1;
}

int wiretape_send_datagram(
    int socket, const void *bytes, size_t size, const struct sockaddr_storage *from, const struct sockaddr_storage *to) {
    errno = ENOSYS;
    return -1;
}

int wiretape_drop_capability(unsigned capability) {
    errno = ENOSYS;
    return -1;
}

int wiretape_keep_capability(unsigned capability) {
    errno = ENOSYS;
    return -1;
}

int wiretape_mount_proc(const char *folder) {
    errno = ENOSYS;
    return -1;
}

int wiretape_unmount(const char *folder) {
    errno = ENOSYS;
    return -1;
}

int wiretape_start_dialer(int socket, uint32_t mark) {
    errno = ENOSYS;
    return -1;
}

int wiretape_load_rules(const char *rules, char *problem, size_t size) {
    if (size > 0) problem[0] = 0;
    return 1;
}

#endif
