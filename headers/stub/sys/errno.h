/* Stub: another name. */
#include <errno.h>
