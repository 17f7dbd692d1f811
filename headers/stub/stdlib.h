/* Stub: nothing of it is part of a declaration but these types. */
#include <sys/types.h>
