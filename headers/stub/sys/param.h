/* Stub: nothing of it is part of a declaration but these. */
#include <limits.h>
#include <sys/types.h>
