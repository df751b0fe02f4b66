// Moves the clock of a program: calls that return the time of day return it moved by a number of seconds, and calls that wait until a time
// of day wait until the real one. Everything else stays: the monotonic clocks, time limits, and the times of files.
//
// Linux only. The loader reads it before the program's other libraries, so it needs nothing but the C library.
#include "include/CRecordedClock.h"

#if defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

// In seconds: the program's time of day minus the real one.
static time_t offset;

__attribute__((constructor)) static void read_offset(void) {
    const char *text = getenv(WIRETAPE_CLOCK_VARIABLE);
    if (text) offset = (time_t)strtoll(text, NULL, 10);
}

static int is_time_of_day(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI || clock == CLOCK_REALTIME_ALARM;
}

// A later function of that name, of the C library. The version matters for functions that had another meaning once.
static void *next(const char *name, const char *version) {
    void *function = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    return function ? function : dlsym(RTLD_NEXT, name);
}

// Finds the C library's function once. Several threads may find it at the same time, and find the same.
#define NEXT(name, version) \
    static __typeof__(&name) found; \
    __typeof__(&name) real = __atomic_load_n(&found, __ATOMIC_RELAXED); \
    if (!real) { \
        real = (__typeof__(&name))next(#name, version); \
        if (!real) { errno = ENOSYS; return MISSING; } \
        __atomic_store_n(&found, real, __ATOMIC_RELAXED); \
    }

// A point in time for the system. Wait functions of pthreads do not say by which clock a condition waits: a time after 2001 is a time of day,
// since a monotonic clock counts from the start of the machine. Longer waits are waits without an end, and stay so.
static const time_t first_time_of_day = 1000000000;

static const struct timespec *real_time(const struct timespec *given, struct timespec *moved) {
    if (!given || given->tv_sec < first_time_of_day) return given;
    *moved = *given;
    // Not beyond the largest time.
    if (__builtin_sub_overflow(given->tv_sec, offset, &moved->tv_sec)) return given;
    return moved;
}

// MARK: The time

// The result of a function that the C library lacks. These functions also set errno.
#define MISSING -1

EXPORTED int clock_gettime(clockid_t clock, struct timespec *time) {
    NEXT(clock_gettime, NULL)
    int result = real(clock, time);
    if (result == 0 && is_time_of_day(clock)) time->tv_sec += offset;
    return result;
}

EXPORTED time_t time(time_t *result) {
    struct timespec now;
    // The coarse clock is the one that time(2) reads.
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return (time_t)-1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

EXPORTED int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    NEXT(gettimeofday, NULL)
    int result = real(time, zone);
    if (result == 0) time->tv_sec += offset;
    return result;
}

EXPORTED int timespec_get(struct timespec *time, int base) {
    if (base != TIME_UTC) return 0;
    return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

EXPORTED int ntp_gettime(struct ntptimeval *time) {
    NEXT(ntp_gettime, NULL)
    int result = real(time);
    if (result >= 0) time->time.tv_sec += offset;
    return result;
}

// MARK: Waits until a time of day

// These return the error.
#undef MISSING
#define MISSING ENOSYS

EXPORTED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    NEXT(clock_nanosleep, "GLIBC_2.17")
    struct timespec moved;
    return real(clock, flags, flags & TIMER_ABSTIME && is_time_of_day(clock) ? real_time(time, &moved) : time, left);
}

EXPORTED int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict time) {
    NEXT(pthread_cond_timedwait, "GLIBC_2.3.2")
    struct timespec moved;
    return real(condition, mutex, real_time(time, &moved));
}

EXPORTED int pthread_cond_clockwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
    NEXT(pthread_cond_clockwait, NULL)
    struct timespec moved;
    return real(condition, mutex, clock, is_time_of_day(clock) ? real_time(time, &moved) : time);
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict time) {
    NEXT(pthread_mutex_timedlock, NULL)
    struct timespec moved;
    return real(mutex, real_time(time, &moved));
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
    NEXT(pthread_mutex_clocklock, NULL)
    struct timespec moved;
    return real(mutex, clock, is_time_of_day(clock) ? real_time(time, &moved) : time);
}

EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict time) {
    NEXT(pthread_rwlock_timedrdlock, NULL)
    struct timespec moved;
    return real(lock, real_time(time, &moved));
}

EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict time) {
    NEXT(pthread_rwlock_timedwrlock, NULL)
    struct timespec moved;
    return real(lock, real_time(time, &moved));
}

EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time) {
    NEXT(pthread_rwlock_clockrdlock, NULL)
    struct timespec moved;
    return real(lock, clock, is_time_of_day(clock) ? real_time(time, &moved) : time);
}

EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time) {
    NEXT(pthread_rwlock_clockwrlock, NULL)
    struct timespec moved;
    return real(lock, clock, is_time_of_day(clock) ? real_time(time, &moved) : time);
}

EXPORTED int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *time) {
    NEXT(pthread_timedjoin_np, NULL)
    struct timespec moved;
    return real(thread, value, real_time(time, &moved));
}

EXPORTED int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *time) {
    NEXT(pthread_clockjoin_np, NULL)
    struct timespec moved;
    return real(thread, value, clock, is_time_of_day(clock) ? real_time(time, &moved) : time);
}

#undef MISSING
#define MISSING -1

EXPORTED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict time) {
    NEXT(sem_timedwait, NULL)
    struct timespec moved;
    return real(semaphore, real_time(time, &moved));
}

EXPORTED int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
    NEXT(sem_clockwait, NULL)
    struct timespec moved;
    return real(semaphore, clock, is_time_of_day(clock) ? real_time(time, &moved) : time);
}

EXPORTED ssize_t mq_timedreceive(
    mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority, const struct timespec *restrict time) {
    NEXT(mq_timedreceive, NULL)
    struct timespec moved;
    return real(queue, message, size, priority, real_time(time, &moved));
}

EXPORTED int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority, const struct timespec *time) {
    NEXT(mq_timedsend, NULL)
    struct timespec moved;
    return real(queue, message, size, priority, real_time(time, &moved));
}

// Timers do not say by which clock they run either.
static const struct itimerspec *real_timer(const struct itimerspec *given, struct itimerspec *moved) {
    if (!given) return given;
    *moved = *given;
    struct timespec time;
    moved->it_value = *real_time(&given->it_value, &time);
    return moved;
}

EXPORTED int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict new, struct itimerspec *restrict old) {
    NEXT(timer_settime, "GLIBC_2.3.3")
    struct itimerspec moved;
    return real(timer, flags, flags & TIMER_ABSTIME ? real_timer(new, &moved) : new, old);
}

EXPORTED int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    NEXT(timerfd_settime, NULL)
    struct itimerspec moved;
    return real(timer, flags, flags & TFD_TIMER_ABSTIME ? real_timer(new, &moved) : new, old);
}

// Swift's driver links every library with Swift's own, which nothing here needs. These are options for the linker, as modules of Swift contain
// them; they come before that library, which is then left out.
__attribute__((section(".swift1_autolink_entries"), used)) static const char linker_options[] = "-Wl,--as-needed";

#endif
