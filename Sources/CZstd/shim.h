#ifndef WIRETAPE_CZSTD_H
#define WIRETAPE_CZSTD_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
