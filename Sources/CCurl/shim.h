#ifndef WIRETAPE_CCURL_H
#define WIRETAPE_CCURL_H

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

// The library is loaded when a store is first used. If it were linked, every start of the program would load thirty libraries more.
//
// curl_easy_setopt is variadic, which Swift cannot call: functions for each kind of value stand in for it.

#ifdef __APPLE__
#define WIRETAPE_CURL_FILE "libcurl.4.dylib"
#else
#define WIRETAPE_CURL_FILE "libcurl.so.4"
#endif

typedef size_t (*wiretape_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*wiretape_curl_seek)(void *context, curl_off_t offset, int origin);

// Null if the library is not on this system.
static inline void *wiretape_curl_symbol(const char *name) {
    static void *library;
    if (!library) library = dlopen(WIRETAPE_CURL_FILE, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

// Call nothing below before this has returned true.
static inline bool wiretape_curl_is_there(void) { return wiretape_curl_symbol("curl_easy_perform") != NULL; }

#define WIRETAPE_CURL(name) ((__typeof__(&name))wiretape_curl_symbol(#name))

static inline CURLcode wiretape_curl_global_init(long flags) { return WIRETAPE_CURL(curl_global_init)(flags); }
static inline CURL *wiretape_curl_init(void) { return WIRETAPE_CURL(curl_easy_init)(); }
static inline void wiretape_curl_cleanup(CURL *handle) { WIRETAPE_CURL(curl_easy_cleanup)(handle); }
static inline void wiretape_curl_reset(CURL *handle) { WIRETAPE_CURL(curl_easy_reset)(handle); }
static inline CURLcode wiretape_curl_perform(CURL *handle) { return WIRETAPE_CURL(curl_easy_perform)(handle); }
static inline const char *wiretape_curl_strerror(CURLcode code) { return WIRETAPE_CURL(curl_easy_strerror)(code); }
static inline struct curl_slist *wiretape_curl_append(struct curl_slist *list, const char *text) {
    return WIRETAPE_CURL(curl_slist_append)(list, text);
}
static inline void wiretape_curl_free(struct curl_slist *list) { WIRETAPE_CURL(curl_slist_free_all)(list); }
static inline time_t wiretape_curl_date(const char *text) { return WIRETAPE_CURL(curl_getdate)(text, NULL); }

static inline CURLcode wiretape_curl_set_long(CURL *handle, CURLoption option, long value) {
    return WIRETAPE_CURL(curl_easy_setopt)(handle, option, value);
}
static inline CURLcode wiretape_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return WIRETAPE_CURL(curl_easy_setopt)(handle, option, value);
}
static inline CURLcode wiretape_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return WIRETAPE_CURL(curl_easy_setopt)(handle, option, value);
}
static inline CURLcode wiretape_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return WIRETAPE_CURL(curl_easy_setopt)(handle, option, value);
}
static inline CURLcode wiretape_curl_set_transfer(CURL *handle, CURLoption option, wiretape_curl_transfer function) {
    return WIRETAPE_CURL(curl_easy_setopt)(handle, option, function);
}
static inline CURLcode wiretape_curl_set_seek(CURL *handle, wiretape_curl_seek function) {
    return WIRETAPE_CURL(curl_easy_setopt)(handle, CURLOPT_SEEKFUNCTION, function);
}

#endif
