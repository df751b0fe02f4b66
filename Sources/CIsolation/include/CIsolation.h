#ifndef CISOLATION_H
#define CISOLATION_H

// Linux calls with ancillary data, fork or variadic arguments, which Swift cannot express. On other systems, all of them fail with ENOSYS.

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// The capabilities that could undo an isolation from inside.
enum { wiretape_cap_net_admin = 12, wiretape_cap_sys_admin = 21 };

/// Listening on ports below those that every user may listen on.
enum { wiretape_cap_net_bind_service = 10 };

/// The most descriptors in one message.
enum { wiretape_most_descriptors = 32 };

/// A request for a socket, one byte on the dialer's socket; the answer is one byte with a descriptor, or an errno.
enum { wiretape_dialer_ipv4 = 4, wiretape_dialer_ipv6 = 6 };

/// Sends bytes, at least one, together with descriptors. Returns 0, or -1 with errno.
int wiretape_send_descriptors(int socket, const void *bytes, size_t size, const int *descriptors, size_t count);

/// Receives bytes and descriptors, which close at exec. Returns the number of bytes, 0 at the end, or -1 with errno.
/// On entry, `count` is the room in `descriptors`; on return, their number.
long wiretape_receive_descriptors(int socket, void *bytes, size_t size, int *descriptors, size_t *count);

/// Receives a datagram without waiting, with the address that it was sent to (IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR).
/// `to->ss_family` is AF_UNSPEC if the kernel did not report that address. Returns the size, or -1 with errno.
long wiretape_receive_datagram(
    int socket, void *bytes, size_t size, struct sockaddr_storage *from, struct sockaddr_storage *to);

/// Sends a datagram that appears to come from `from` (IP_PKTINFO, IPV6_PKTINFO). Returns 0, or -1 with errno.
int wiretape_send_datagram(
    int socket, const void *bytes, size_t size, const struct sockaddr_storage *from, const struct sockaddr_storage *to);

/// Takes a capability out of the bounding and the inheritable set, so that no exec grants it. Returns 0, or -1 with errno.
int wiretape_drop_capability(unsigned capability);

/// Lets the programs that this process becomes keep a capability (ambient set, capabilities(7)). Returns 0, or -1 with errno.
int wiretape_keep_capability(unsigned capability);

/// Mounts /proc once more over a folder, without what covers it in containers. Returns 0, or -1 with errno.
int wiretape_mount_proc(const char *folder);

/// Takes that mount away again. Returns 0, or -1 with errno.
int wiretape_unmount(const char *folder);

/// Starts a process that hands out sockets of this network namespace with a mark, until the other end of `socket` closes.
///
/// It is no child of the caller, holds no other descriptor and cannot be traced by other processes of the same user.
/// Returns its process id, or -1 with errno. The caller must have one thread.
int wiretape_start_dialer(int socket, uint32_t mark);

/// Loads rules of nftables into this network namespace, by libnftables.
///
/// Returns 0; 1 if the library is missing; 2 if the rules were refused. `problem` receives the reason.
int wiretape_load_rules(const char *rules, char *problem, size_t size);

#endif
