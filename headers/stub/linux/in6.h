/* Stub: the kernel lays out internet addresses as C libraries do. */
#include <netinet/in.h>
