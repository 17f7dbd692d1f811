/* Stub: sets of files. */
#ifndef STUB_SYS_SELECT_H
#define STUB_SYS_SELECT_H
#include <sys/time.h>
#include <sys/types.h>
typedef struct {
	unsigned long __bits[1024 / 8 / sizeof(long)];
} fd_set;
#endif
