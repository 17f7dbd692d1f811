/* Stub: what inline functions call. */
#ifndef STUB_STRING_H
#define STUB_STRING_H
#include <stddef.h>
void *memset(void *, int, size_t);
void *memcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
#endif
