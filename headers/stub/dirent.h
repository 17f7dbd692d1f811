/* Stub: a folder that is being read. */
#ifndef STUB_DIRENT_H
#define STUB_DIRENT_H
typedef struct __stub_dir DIR;
struct dirent;
#endif
