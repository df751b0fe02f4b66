// SPDX-License-Identifier: Apache-2.0
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

/// Adds whole blocks of 64 bytes to a state of SHA-256 (FIPS 180-4, 6.2.2), with the processor's instructions for that if it has them.
void sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count);

/// The same without those instructions.
void sha256_blocks_portable(uint32_t state[8], const uint8_t *blocks, size_t count);

#endif
