/* Stub: what surrounds C declarations in headers that C++ may read too. */
#ifndef STUB_SYS_CDEFS_H
#define STUB_SYS_CDEFS_H
#define __BEGIN_DECLS
#define __END_DECLS
#endif
