#ifndef WIRETAPE_CNGHTTP2_H
#define WIRETAPE_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

// Swift reads no C unions without a name for each member: these stand in for them.

static inline int wiretape_headers_category(const nghttp2_frame *frame) { return frame->headers.cat; }
static inline uint32_t wiretape_reset_code(const nghttp2_frame *frame) { return frame->rst_stream.error_code; }
static inline uint32_t wiretape_goaway_code(const nghttp2_frame *frame) { return frame->goaway.error_code; }
static inline int32_t wiretape_goaway_last(const nghttp2_frame *frame) { return frame->goaway.last_stream_id; }
static inline size_t wiretape_settings_count(const nghttp2_frame *frame) { return frame->settings.niv; }

#endif
