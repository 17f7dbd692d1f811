/* Stub: nothing of it is part of a declaration. */
