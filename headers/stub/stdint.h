/* Stub: the integer types of exact width. */
#ifndef STUB_STDINT_H
#define STUB_STDINT_H
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef __INT64_TYPE__ int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __PTRDIFF_TYPE__ intptr_t;
typedef __SIZE_TYPE__ uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define INT32_MAX 2147483647
#if __SIZEOF_POINTER__ == 8
#define UINTPTR_MAX 18446744073709551615UL
#else
#define UINTPTR_MAX 4294967295U
#endif
#define SIZE_MAX UINTPTR_MAX
#endif
