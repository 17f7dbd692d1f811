/* Stub: vector intrinsics are for inline functions that Go does not call. */
