// Package platform stops the compiler where package ibv cannot be compiled, with
// one error that says so. The compiler comes here before it comes to ibv, which
// would fail with an error for each struct that has another layout.
package platform
