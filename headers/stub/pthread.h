/* Stub: what is done with the types of <sys/types.h>. */
#ifndef STUB_PTHREAD_H
#define STUB_PTHREAD_H
#include <sched.h>
#include <sys/types.h>
#include <time.h>
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);
#endif
