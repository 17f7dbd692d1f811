/* Stub: streams, and the types that <stdio.h> has besides. */
#ifndef STUB_STDIO_H
#define STUB_STDIO_H
#include <stdarg.h>
#include <sys/types.h>
typedef struct __stub_file FILE;
#endif
