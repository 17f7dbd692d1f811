/* Stub: the types of threads, which <sys/types.h> has too, and what is done with
   them. */
#ifndef STUB_PTHREAD_TYPES
#define STUB_PTHREAD_TYPES
#ifdef __STUB_PTHREAD_POINTERS
typedef struct pthread_mutex *pthread_mutex_t;
typedef struct pthread_cond *pthread_cond_t;
typedef struct pthread_rwlock *pthread_rwlock_t;
typedef struct pthread_spinlock *pthread_spinlock_t;
typedef struct pthread_mutex_attr *pthread_mutexattr_t;
typedef struct pthread_cond_attr *pthread_condattr_t;
typedef struct pthread_attr *pthread_attr_t;
typedef struct pthread *pthread_t;
typedef int pthread_key_t;
#else
typedef union {
	char __size[__STUB_PTHREAD_MUTEX_SIZE];
	long __align;
} pthread_mutex_t;
typedef union {
	char __size[__STUB_PTHREAD_COND_SIZE];
	long __align;
} __attribute__((aligned(__STUB_PTHREAD_COND_ALIGN))) pthread_cond_t;
typedef union {
	char __size[8 + 6 * sizeof(long)];
	long __align;
} pthread_rwlock_t;
typedef int pthread_spinlock_t;
typedef union {
	char __size[__STUB_PTHREAD_KIND_SIZE];
	int __align;
} pthread_mutexattr_t, pthread_condattr_t;
typedef union {
	char __size[__STUB_PTHREAD_ATTR_SIZE];
	long __align;
} pthread_attr_t;
typedef unsigned long pthread_t;
typedef unsigned int pthread_key_t;
#endif
#endif
#if !defined STUB_PTHREAD_H && !defined __STUB_PTHREAD_TYPES_ONLY
#define STUB_PTHREAD_H
#include <sched.h>
#include <sys/types.h>
#include <time.h>
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);
#endif
