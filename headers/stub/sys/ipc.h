/* Stub: how processes name what they share. */
#ifndef STUB_SYS_IPC_H
#define STUB_SYS_IPC_H
#include <sys/types.h>
#endif
