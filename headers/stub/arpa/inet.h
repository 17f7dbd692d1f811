/* Stub: what it adds to internet addresses is no part of a declaration. */
#include <netinet/in.h>
