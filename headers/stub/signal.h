/* Stub: signals. */
#ifndef STUB_SIGNAL_H
#define STUB_SIGNAL_H
#include <sys/types.h>
typedef int sig_atomic_t;
#endif
