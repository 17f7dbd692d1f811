/* Stub: conversions that inline functions call. */
#ifndef STUB_BYTESWAP_H
#define STUB_BYTESWAP_H
#include <stdint.h>
uint16_t bswap_16(uint16_t);
uint32_t bswap_32(uint32_t);
uint64_t bswap_64(uint64_t);
#endif
