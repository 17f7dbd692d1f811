/* Stub: the kernel's names for integer types. */
#ifndef STUB_LINUX_TYPES_H
#define STUB_LINUX_TYPES_H
#include <linux/stddef.h>
typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __le16;
typedef __u16 __be16;
typedef __u32 __le32;
typedef __u32 __be32;
typedef __u64 __le64;
typedef __u64 __be64;
typedef __u64 __attribute__((aligned(8))) __aligned_u64;
typedef __be64 __attribute__((aligned(8))) __aligned_be64;
typedef __le64 __attribute__((aligned(8))) __aligned_le64;
#endif
