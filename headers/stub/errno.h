/* Stub: errno and the codes that inline functions return. */
#ifndef STUB_ERRNO_H
#define STUB_ERRNO_H
int *__errno_location(void);
#define errno (*__errno_location())
#define EPERM 1
#define ENOENT 2
#define EIO 5
#define ENOMEM 12
#define EFAULT 14
#define EBUSY 16
#define ENODEV 19
#define EINVAL 22
#define ENOSPC 28
#define ENOSYS 38
#define EOPNOTSUPP 95
#define ENOTSUP EOPNOTSUPP
#define EAGAIN 11
#endif
