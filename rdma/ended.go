package rdma

import (
	"context"
	"errors"
	"fmt"
)

// ended is why a context has ended: both its error and the cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
