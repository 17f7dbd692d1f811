/* Stub: how long the name of a network interface may be. */
#ifndef STUB_NET_IF_H
#define STUB_NET_IF_H
#include <sys/socket.h>
#define IF_NAMESIZE 16
#define IFNAMSIZ IF_NAMESIZE
#endif
