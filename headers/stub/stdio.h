/* Stub: the stream that functions print to. */
#ifndef STUB_STDIO_H
#define STUB_STDIO_H
#include <stddef.h>
typedef struct __stub_file FILE;
#endif
