/* Stub: how numbers are printed is no part of a declaration. */
#include <stdint.h>
