#ifndef WIRETAPE_COPENSSL_H
#define WIRETAPE_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Swift sees functions, but neither macros that call nor macros that cast: these stand in for them.

// MARK: connections

static inline long wiretape_ctx_set_min_version(SSL_CTX *context, int version) { return SSL_CTX_set_min_proto_version(context, version); }
static inline long wiretape_ctx_set_max_version(SSL_CTX *context, int version) { return SSL_CTX_set_max_proto_version(context, version); }
static inline long wiretape_ctx_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline long wiretape_ctx_set_session_cache_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_session_cache_mode(context, mode); }
static inline long wiretape_ctx_set_servername_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
    return SSL_CTX_set_tlsext_servername_callback(context, callback);
}
static inline long wiretape_ssl_set_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name); }
static inline void wiretape_bio_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void wiretape_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline int wiretape_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *wiretape_certificates_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline STACK_OF(X509) *wiretape_certificates_new(void) { return sk_X509_new_null(); }
static inline int wiretape_certificates_push(STACK_OF(X509) *stack, X509 *certificate) { return sk_X509_push(stack, certificate); }
static inline void wiretape_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline long wiretape_ssl_add_chain_certificate(SSL *ssl, X509 *certificate) { return SSL_add1_chain_cert(ssl, certificate); }

#endif
