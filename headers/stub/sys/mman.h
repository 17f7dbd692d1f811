/* Stub: nothing of it is used. */
