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
static inline void wiretape_ctx_forbid_renegotiation(SSL_CTX *context) { SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION); }
static inline void wiretape_ctx_allow_legacy_servers(SSL_CTX *context) { SSL_CTX_set_options(context, SSL_OP_LEGACY_SERVER_CONNECT); }
/// The server's order counts, and its ChaCha20 goes to the front for a client that has it there.
static inline void wiretape_ctx_prefer_own_order(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}
static inline long wiretape_ctx_set_groups(SSL_CTX *context, const char *list) { return SSL_CTX_set1_groups_list(context, list); }
static inline int wiretape_ssl_group(SSL *ssl) { return (int)SSL_get_negotiated_group(ssl); }
static inline int wiretape_ciphers_count(const STACK_OF(SSL_CIPHER) *list) { return sk_SSL_CIPHER_num(list); }
static inline const SSL_CIPHER *wiretape_ciphers_at(const STACK_OF(SSL_CIPHER) *list, int index) { return sk_SSL_CIPHER_value(list, index); }
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

// --- certificates ---

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// OpenSSL 3 writes a key of the older kind into a certificate in 3 us, one of its providers' in 150: most of the time of a new leaf.
static inline EVP_PKEY *wiretape_make_p256(void) {
#if defined(OPENSSL_NO_DEPRECATED_3_0) || OPENSSL_VERSION_MAJOR > 3
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
#else
    EC_KEY *inner = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    EVP_PKEY *key = EVP_PKEY_new();
    if (inner != NULL && key != NULL && EC_KEY_generate_key(inner) && EVP_PKEY_assign_EC_KEY(key, inner)) {
        return key;
    }
    EC_KEY_free(inner);
    EVP_PKEY_free(key);
    return NULL;
#endif
}

/// Whether reading PEM ended because nothing more begins.
static inline int wiretape_is_end_of_pem(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

/// What a memory BIO holds; it stays the BIO's.
static inline long wiretape_bio_bytes(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

/// RFC 2253 with UTF-8 left as it is; control bytes are escaped.
static inline int wiretape_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB);
}

/// Seconds since 1970; 0 is returned where the text of the time is no time.
static inline int wiretape_seconds(const ASN1_TIME *time, long long *seconds) {
    int days = 0, rest = 0, known = 0;
    ASN1_TIME *start = ASN1_TIME_set(NULL, 0);
    if (start != NULL && time != NULL) {
        known = ASN1_TIME_diff(&days, &rest, start, time);
    }
    ASN1_TIME_free(start);
    *seconds = (long long)days * 86400 + rest;
    return known;
}

static inline int wiretape_not_before(const X509 *certificate, long long *seconds) {
    return wiretape_seconds(X509_get0_notBefore(certificate), seconds);
}

static inline int wiretape_not_after(const X509 *certificate, long long *seconds) {
    return wiretape_seconds(X509_get0_notAfter(certificate), seconds);
}

static inline GENERAL_NAMES *wiretape_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int wiretape_name_count(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}

/// The bytes of a DNS name or an address; NULL for other kinds. They stay the list's.
static inline const unsigned char *wiretape_name_at(const GENERAL_NAMES *names, int index, int *is_address, int *length) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    const ASN1_STRING *text = NULL;
    if (name->type == GEN_DNS) {
        text = name->d.dNSName;
    } else if (name->type == GEN_IPADD) {
        text = name->d.iPAddress;
    }
    if (text == NULL) {
        return NULL;
    }
    *is_address = name->type == GEN_IPADD;
    *length = ASN1_STRING_length(text);
    return ASN1_STRING_get0_data(text);
}

/// A positive serial number from its magnitude.
static inline int wiretape_set_serial(X509 *certificate, const unsigned char *bytes, int count) {
    return ASN1_STRING_set(X509_get_serialNumber(certificate), bytes, count);
}

/// UTCTime until 2049, GeneralizedTime after it (RFC 5280, 4.1.2.5).
static inline int wiretape_set_validity(X509 *certificate, long long not_before, long long not_after) {
    return ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)not_before) != NULL
        && ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)not_after) != NULL;
}

/// Sets the subject of a certificate that has none.
static inline int wiretape_set_common_name(X509 *certificate, const char *text, int count) {
    X509_NAME *name = X509_NAME_new();
    int done = name != NULL && X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)text, count, -1, 0)
        && X509_set_subject_name(certificate, name);
    X509_NAME_free(name);
    return done;
}

static inline int wiretape_copy_subject_to_issuer(X509 *certificate, const X509 *authority) {
    return X509_set_issuer_name(certificate, X509_get_subject_name(authority));
}

/// Adds an extension whose value is in DER form already.
static inline int wiretape_add_extension(X509 *certificate, int nid, int critical, const unsigned char *der, int count) {
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    X509_EXTENSION *extension = NULL;
    if (value != NULL && ASN1_OCTET_STRING_set(value, der, count)) {
        extension = X509_EXTENSION_create_by_NID(NULL, nid, critical, value);
    }
    int done = extension != NULL && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    return done;
}

/// The bytes of the subject key identifier, or NULL. They stay the certificate's.
static inline const unsigned char *wiretape_key_identifier(X509 *certificate, int *count) {
    const ASN1_OCTET_STRING *value = X509_get0_subject_key_id(certificate);
    if (value == NULL) {
        return NULL;
    }
    *count = ASN1_STRING_length(value);
    return ASN1_STRING_get0_data(value);
}

/// Appends a certificate in the way Java marks those it is to trust: attribute trustedKeyUsage with anyExtendedKeyUsage.
static inline int wiretape_add_trusted(STACK_OF(PKCS12_SAFEBAG) *bags, X509 *certificate, const char *name, int count) {
    PKCS12_SAFEBAG *bag = PKCS12_SAFEBAG_create_cert(certificate);
    if (bag != NULL && PKCS12_add_friendlyname_utf8(bag, name, count)
        && PKCS12_add1_attr_by_txt(bag, "2.16.840.1.113894.746875.1.1", V_ASN1_OBJECT,
                                   (const unsigned char *)OBJ_nid2obj(NID_anyExtendedKeyUsage), -1)
        && sk_PKCS12_SAFEBAG_push(bags, bag) > 0) {
        return 1;
    }
    PKCS12_SAFEBAG_free(bag);
    return 0;
}

static inline STACK_OF(PKCS12_SAFEBAG) *wiretape_new_bags(void) {
    return sk_PKCS12_SAFEBAG_new_null();
}

static inline void wiretape_free_bags(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

/// Whether Java trusts a certificate in a file: it has the attribute trustedKeyUsage.
static inline int wiretape_is_trusted(const PKCS12_SAFEBAG *bag) {
    const STACK_OF(X509_ATTRIBUTE) *attributes = PKCS12_SAFEBAG_get0_attrs(bag);
    for (int index = 0; index < sk_X509_ATTRIBUTE_num(attributes); index++) {
        char name[64];
        OBJ_obj2txt(name, sizeof name, X509_ATTRIBUTE_get0_object(sk_X509_ATTRIBUTE_value(attributes, index)), 1);
        if (strcmp(name, "2.16.840.1.113894.746875.1.1") == 0) {
            return 1;
        }
    }
    return 0;
}

/// The certificates in a file that Java trusts. Without the right password, those that are not encrypted. NULL if it is no such file.
static inline STACK_OF(X509) *wiretape_trusted_certificates(const unsigned char *bytes, long count, const char *password, int length) {
    PKCS12 *file = d2i_PKCS12(NULL, &bytes, count);
    STACK_OF(PKCS7) *safes = file == NULL ? NULL : PKCS12_unpack_authsafes(file);
    PKCS12_free(file);
    STACK_OF(X509) *certificates = safes == NULL ? NULL : sk_X509_new_null();
    for (int safe = 0; certificates != NULL && safe < sk_PKCS7_num(safes); safe++) {
        PKCS7 *content = sk_PKCS7_value(safes, safe);
        int kind = OBJ_obj2nid(content->type);
        STACK_OF(PKCS12_SAFEBAG) *bags = kind == NID_pkcs7_data        ? PKCS12_unpack_p7data(content)
                                         : kind == NID_pkcs7_encrypted ? PKCS12_unpack_p7encdata(content, password, length)
                                                                       : NULL;
        for (int index = 0; index < sk_PKCS12_SAFEBAG_num(bags); index++) {
            const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, index);
            X509 *certificate = PKCS12_SAFEBAG_get_nid(bag) == NID_certBag && wiretape_is_trusted(bag) ? PKCS12_SAFEBAG_get1_cert(bag) : NULL;
            if (certificate != NULL && sk_X509_push(certificates, certificate) <= 0) {
                X509_free(certificate);
            }
        }
        sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    }
    sk_PKCS7_pop_free(safes, PKCS7_free);
    return certificates;
}

/// Puts the bags, not encrypted, into a file with a MAC; NULL on failure.
static inline PKCS12 *wiretape_seal_bags(STACK_OF(PKCS12_SAFEBAG) *bags, const char *password, int count, int iterations) {
    STACK_OF(PKCS7) *safes = NULL;
    PKCS12 *file = NULL;
    if (PKCS12_add_safe(&safes, bags, -1, 0, NULL)) {
        file = PKCS12_add_safes(safes, 0);
    }
    sk_PKCS7_pop_free(safes, PKCS7_free);
    if (file != NULL && !PKCS12_set_mac(file, password, count, NULL, 0, iterations, EVP_sha1())) {
        PKCS12_free(file);
        file = NULL;
    }
    return file;
}

#endif
