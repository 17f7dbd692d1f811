/* Stub: a folder that is being read. */
#ifndef STUB_DIRENT_H
#define STUB_DIRENT_H
#ifdef __FreeBSD__
typedef struct _dirdesc DIR;
#else
typedef struct __dirstream DIR;
#endif
struct dirent;
#endif
