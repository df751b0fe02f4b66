#ifndef WIRETAPE_COPENSSL_H
#define WIRETAPE_COPENSSL_H

#include <openssl/evp.h>
#include <openssl/err.h>

#endif
