/* Stub: the codes are the C library's. */
#include <errno.h>
