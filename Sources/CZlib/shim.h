#ifndef WIRETAPE_CZLIB_H
#define WIRETAPE_CZLIB_H

#include <zlib.h>

/* deflateInit2 and inflateInit2 are macros, which Swift does not import. */
static inline int wiretape_deflateInit2(z_streamp stream, int level, int windowBits, int memLevel, int strategy) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, memLevel, strategy);
}

static inline int wiretape_inflateInit2(z_streamp stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}

#endif
