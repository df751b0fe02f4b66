#ifndef WIRETAPE_CBROTLI_H
#define WIRETAPE_CBROTLI_H

#include <brotli/decode.h>

#endif
