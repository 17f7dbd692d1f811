/* Stub: another name. */
#include <fcntl.h>
