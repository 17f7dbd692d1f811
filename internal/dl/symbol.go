package dl

import (
	"errors"
	"fmt"
)

// ErrNoSymbol says that the loaded library is older than the symbol asked for.
var ErrNoSymbol = errors.New("no such symbol")

// Symbol returns the address of a symbol of the library. The error wraps [ErrNoSymbol] when there is none, so that the
// caller can fall back to what older libraries have. It is safe for concurrent use; addresses found are remembered.
func (l *Library) Symbol(name string) (uintptr, error) {
	if address, ok := l.symbols.Load(name); ok {
		return address.(uintptr), nil
	}
	address, err := findSymbol(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%w: %s in %s: %w", ErrNoSymbol, name, l.File(), err)
	}
	l.symbols.Store(name, address)
	return address, nil
}
