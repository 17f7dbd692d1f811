/* Stub: errno and the codes that inline functions return. */
#ifndef STUB_ERRNO_H
#define STUB_ERRNO_H
#define EPERM 1
#define ENOENT 2
#define EIO 5
#define ENOMEM 12
#define EFAULT 14
#define EBUSY 16
#define ENODEV 19
#define EINVAL 22
#define ENOSPC 28
#ifdef __FreeBSD__
int *__error(void);
#define errno (*__error())
#define EAGAIN 35
#define EOPNOTSUPP 45
#define ENOSYS 78
#else
int *__errno_location(void);
#define errno (*__errno_location())
#define EAGAIN 11
#define ENOSYS 38
#define EOPNOTSUPP 95
#endif
#define ENOTSUP EOPNOTSUPP
#endif
