/* Stub: the counter behind a file. */
#ifndef STUB_SYS_EVENTFD_H
#define STUB_SYS_EVENTFD_H
#include <stdint.h>
typedef uint64_t eventfd_t;
#endif
