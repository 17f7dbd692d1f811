/* Stub: assert, which inline functions state their conditions with. */
#ifndef STUB_ASSERT_H
#define STUB_ASSERT_H
#define assert(condition) ((void)0)
#define static_assert _Static_assert
#endif
