/* Stub: nothing of it is part of a declaration. */
#include <sys/types.h>
