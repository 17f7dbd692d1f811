// Package platform stops the compiler on systems and processors that package
// ibv has no types for, with one error that says so. The compiler comes here
// before it comes to ibv, which would fail with an error for each missing type.
package platform
