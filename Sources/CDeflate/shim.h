#ifndef WIRETAPE_CDEFLATE_H
#define WIRETAPE_CDEFLATE_H

#include <libdeflate.h>

#endif
