#ifndef WIRETAPE_CCURL_H
#define WIRETAPE_CCURL_H

#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call: these stand in for them.

typedef size_t (*wiretape_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*wiretape_curl_seek)(void *context, curl_off_t offset, int origin);

static inline CURLcode wiretape_curl_set_long(CURL *handle, CURLoption option, long value) { return curl_easy_setopt(handle, option, value); }
static inline CURLcode wiretape_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode wiretape_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode wiretape_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode wiretape_curl_set_transfer(CURL *handle, CURLoption option, wiretape_curl_transfer function) {
    return curl_easy_setopt(handle, option, function);
}
static inline CURLcode wiretape_curl_set_seek(CURL *handle, wiretape_curl_seek function) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
}

#endif
