/* Stub: numbers that inline functions call by. */
