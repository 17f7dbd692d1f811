/* Stub: the numbers of device commands. FreeBSD makes them in its own way. */
#ifndef STUB_SYS_IOCTL_H
#define STUB_SYS_IOCTL_H
#ifndef __FreeBSD__
#include <linux/ioctl.h>
#endif
#endif
