// SPDX-License-Identifier: Apache-2.0
// In C because debug builds of Swift take 0.1 s per MB. Written so that it is fast without an optimizer, too: SwiftPM compiles it with -O0 then.
#include "sha256.h"

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define ROTATE(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                                           \
    t = h + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + (g ^ (e & (f ^ g))) + constants[i] + w[i];                            \
    d += t;                                                                                                                        \
    h = t + (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & b) | (c & (a | b)))

void sha256_blocks_portable(uint32_t state[8], const uint8_t *blocks, size_t count) {
    uint32_t w[64];
    for (; count > 0; count--, blocks += 64) {
        for (int i = 0; i < 16; i++) {
            const uint8_t *p = blocks + 4 * i;
            w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
        }
        for (int i = 16; i < 64; i++) {
            uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (ROTATE(x, 7) ^ ROTATE(x, 18) ^ (x >> 3)) + w[i - 7] + (ROTATE(y, 17) ^ ROTATE(y, 19) ^ (y >> 10));
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7], t;
        for (int i = 0; i < 64; i += 8) {
            ROUND(a, b, c, d, e, f, g, h, i);
            ROUND(h, a, b, c, d, e, f, g, i + 1);
            ROUND(g, h, a, b, c, d, e, f, i + 2);
            ROUND(f, g, h, a, b, c, d, e, i + 3);
            ROUND(e, f, g, h, a, b, c, d, i + 4);
            ROUND(d, e, f, g, h, a, b, c, i + 5);
            ROUND(c, d, e, f, g, h, a, b, i + 6);
            ROUND(b, c, d, e, f, g, h, a, i + 7);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/// SSSE3, SSE4.1 and the SHA extensions. The operating system saves what they use on every x86-64.
static int has_instructions(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29));
}

/// Four rounds, and the words of the message for later ones: `m0` to `m3` are the last 16 words, the oldest first.
#define ROUNDS(i, m0)                                                                                                              \
    k = _mm_add_epi32(m0, _mm_loadu_si128((const __m128i *)(constants + (i))));                                                    \
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);                                                                                   \
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e))
#define ROUNDS_AND_WORDS(i, m0, m1, m2, m3)                                                                                        \
    ROUNDS(i, m0);                                                                                                                 \
    m0 = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(m0, m1), _mm_alignr_epi8(m3, m2, 4)), m3)

__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_by_instructions(uint32_t state[8], const uint8_t *blocks, size_t count) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0), k;
    for (; count > 0; count--, blocks += 64) {
        const __m128i first = abef, second = cdgh;
        __m128i a = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)blocks), order);
        __m128i b = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16)), order);
        __m128i c = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 32)), order);
        __m128i d = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 48)), order);
        for (int i = 0; i < 48; i += 16) {
            ROUNDS_AND_WORDS(i, a, b, c, d);
            ROUNDS_AND_WORDS(i + 4, b, c, d, a);
            ROUNDS_AND_WORDS(i + 8, c, d, a, b);
            ROUNDS_AND_WORDS(i + 12, d, a, b, c);
        }
        ROUNDS(48, a);
        ROUNDS(52, b);
        ROUNDS(56, c);
        ROUNDS(60, d);
        abef = _mm_add_epi32(abef, first);
        cdgh = _mm_add_epi32(cdgh, second);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>

/// HWCAP_SHA2.
static int has_instructions(void) { return (getauxval(AT_HWCAP) & (1 << 6)) != 0; }

#define ROUNDS(i, m0)                                                                                                              \
    k = vaddq_u32(m0, vld1q_u32(constants + (i)));                                                                                 \
    before = abcd;                                                                                                                 \
    abcd = vsha256hq_u32(abcd, efgh, k);                                                                                           \
    efgh = vsha256h2q_u32(efgh, before, k)
#define ROUNDS_AND_WORDS(i, m0, m1, m2, m3)                                                                                        \
    ROUNDS(i, m0);                                                                                                                 \
    m0 = vsha256su1q_u32(vsha256su0q_u32(m0, m1), m2, m3)

__attribute__((target("sha2"))) static void blocks_by_instructions(uint32_t state[8], const uint8_t *blocks, size_t count) {
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4), k, before;
    for (; count > 0; count--, blocks += 64) {
        const uint32x4_t first = abcd, second = efgh;
        uint32x4_t a = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks)));
        uint32x4_t b = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16)));
        uint32x4_t c = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 32)));
        uint32x4_t d = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 48)));
        for (int i = 0; i < 48; i += 16) {
            ROUNDS_AND_WORDS(i, a, b, c, d);
            ROUNDS_AND_WORDS(i + 4, b, c, d, a);
            ROUNDS_AND_WORDS(i + 8, c, d, a, b);
            ROUNDS_AND_WORDS(i + 12, d, a, b, c);
        }
        ROUNDS(48, a);
        ROUNDS(52, b);
        ROUNDS(56, c);
        ROUNDS(60, d);
        abcd = vaddq_u32(abcd, first);
        efgh = vaddq_u32(efgh, second);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}
#else
static int has_instructions(void) { return 0; }
#define blocks_by_instructions sha256_blocks_portable
#endif

void sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count) {
    // -1 before the processor was asked. Whichever thread asks gets the same answer.
    static _Atomic int has = -1;
    int known = has;
    if (known < 0) has = known = has_instructions();
    if (known) {
        blocks_by_instructions(state, blocks, count);
    } else {
        sha256_blocks_portable(state, blocks, count);
    }
}
