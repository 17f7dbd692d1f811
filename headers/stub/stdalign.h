/* Stub: the words for alignments. */
#ifndef STUB_STDALIGN_H
#define STUB_STDALIGN_H
#define alignas _Alignas
#define alignof _Alignof
#endif
