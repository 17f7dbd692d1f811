/* Stub: lists of arguments, which each processor has in its own way. */
#ifndef STUB_STDARG_H
#define STUB_STDARG_H
#if defined __x86_64__ || defined __s390x__
typedef struct {
#ifdef __x86_64__
	unsigned int __gp, __fp;
#else
	long __gp, __fp;
#endif
	void *__overflow;
	void *__saved;
} va_list[1];
#elif defined __aarch64__
typedef struct {
	void *__stack;
	void *__gp, *__vr;
	int __gp_offset, __vr_offset;
} va_list;
#else
typedef struct {
	void *__next;
} va_list;
#endif
#ifdef __STUB_GLIBC
typedef va_list __gnuc_va_list;
#endif
#endif
