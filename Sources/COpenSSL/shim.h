#ifndef WIRETAPE_COPENSSL_H
#define WIRETAPE_COPENSSL_H

#include <openssl/evp.h>
#include <openssl/err.h>

// --- certificates ---

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// Variadic in OpenSSL.
static inline EVP_PKEY *wiretape_make_p256(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

/// Whether reading PEM ended because nothing more begins.
static inline int wiretape_is_end_of_pem(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

/// What a memory BIO holds; it stays the BIO's.
static inline long wiretape_bio_bytes(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

/// RFC 2253 with UTF-8 left as it is; control octets are escaped.
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

/// The octets of a DNS name or an address; NULL for other kinds. They stay the list's.
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

#endif
