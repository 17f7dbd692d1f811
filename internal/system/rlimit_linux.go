package system

// RlimitMemlock is the limit of locked memory, for getrlimit(2).
const RlimitMemlock = 8
