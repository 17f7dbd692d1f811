/* Stub: the numbers of device commands: direction, size, type and number in a
 * word, whose upper part some processors divide in their own way. */
#ifndef STUB_LINUX_IOCTL_H
#define STUB_LINUX_IOCTL_H
#ifdef __powerpc__
#define _IOC_SIZEBITS 13
#define _IOC_NONE 1U
#define _IOC_READ 2U
#define _IOC_WRITE 4U
#else
#define _IOC_SIZEBITS 14
#define _IOC_NONE 0U
#define _IOC_READ 2U
#define _IOC_WRITE 1U
#endif
#define _IOC(direction, type, number, size) \
	(((direction) << (16 + _IOC_SIZEBITS)) | ((size) << 16) | ((type) << 8) | (number))
#define _IO(type, number) _IOC(_IOC_NONE, (type), (number), 0)
#define _IOR(type, number, t) _IOC(_IOC_READ, (type), (number), sizeof(t))
#define _IOW(type, number, t) _IOC(_IOC_WRITE, (type), (number), sizeof(t))
#define _IOWR(type, number, t) _IOC(_IOC_READ | _IOC_WRITE, (type), (number), sizeof(t))
#endif
