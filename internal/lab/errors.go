package lab

import "errors"

// ErrUnsupported says that this stack or site can never do what was asked.
var ErrUnsupported = errors.New("unsupported")
