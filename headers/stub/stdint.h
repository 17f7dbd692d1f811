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
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
#define INT8_C(n) n
#define INT16_C(n) n
#define INT32_C(n) n
#define UINT8_C(n) n
#define UINT16_C(n) n
#define UINT32_C(n) n##U
#if __SIZEOF_LONG__ == 8
#define INT64_C(n) n##L
#define UINT64_C(n) n##UL
#else
#define INT64_C(n) n##LL
#define UINT64_C(n) n##ULL
#endif
#define INTMAX_C(n) INT64_C(n)
#define UINTMAX_C(n) UINT64_C(n)
#define INT8_MAX 127
#define INT8_MIN (-INT8_MAX - 1)
#define INT16_MAX 32767
#define INT16_MIN (-INT16_MAX - 1)
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MAX INT64_C(9223372036854775807)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX UINT64_C(18446744073709551615)
#define INTMAX_MAX INT64_MAX
#define INTMAX_MIN INT64_MIN
#define UINTMAX_MAX UINT64_MAX
#if __SIZEOF_POINTER__ == 8
#define UINTPTR_MAX 18446744073709551615UL
#define INTPTR_MAX 9223372036854775807L
#else
#define UINTPTR_MAX 4294967295U
#define INTPTR_MAX 2147483647
#endif
#define INTPTR_MIN (-INTPTR_MAX - 1)
#define SIZE_MAX UINTPTR_MAX
#endif
