/* Stub: what a file is has no part in a declaration but by a pointer. */
#ifndef STUB_SYS_STAT_H
#define STUB_SYS_STAT_H
#include <sys/types.h>
struct stat;
#endif
