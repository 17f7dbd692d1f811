/* Stub: the length of an Ethernet address. */
#ifndef STUB_LINUX_IF_ETHER_H
#define STUB_LINUX_IF_ETHER_H
#define ETH_ALEN 6
#endif
