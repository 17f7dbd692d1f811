package rdma

import (
	"context"
	"errors"
	"fmt"
)

// noContext is what to do where there is no context.
const noContext = "the context is nil: context.Background() never ends"

// ended is why a context has ended: both its error and the cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
