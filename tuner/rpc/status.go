package rpc

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
)

// statuses maps every error kind to its status; it is the only place that
// does.
var statuses = map[tuner.ErrorKind]codes.Code{
	tuner.Invalid:         codes.InvalidArgument,
	tuner.NotFound:        codes.NotFound,
	tuner.Conflict:        codes.FailedPrecondition,
	tuner.Stale:           codes.Aborted,
	tuner.Mismatch:        codes.FailedPrecondition,
	tuner.Unavailable:     codes.Unavailable,
	tuner.DiskFull:        codes.Unavailable,
	tuner.Limit:           codes.ResourceExhausted,
	tuner.Locked:          codes.Unavailable,
	tuner.Damaged:         codes.DataLoss,
	tuner.Unauthenticated: codes.Unauthenticated,
	tuner.Denied:          codes.PermissionDenied,
	tuner.Internal:        codes.Internal,
}

// ToStatus returns the error as it goes over the wire; nil stays nil.
func ToStatus(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	}
	var known *tuner.Error
	if !errors.As(err, &known) {
		if _, ok := status.FromError(err); ok {
			return err
		}
	}
	kind := tuner.KindOf(err)
	s := status.New(statuses[kind], err.Error())
	if detailed, e := s.WithDetails(&warptunev1.ErrorDetail{Kind: kind.String()}); e == nil {
		s = detailed
	}
	return s.Err()
}

// FromStatus returns the domain's error for one that came over the wire; nil
// stays nil. What a server of ours did not send is Unavailable when calling
// again may help, else the kind nearest to its code.
func FromStatus(err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	kind := tuner.Internal
	for _, d := range s.Details() {
		if detail, ok := d.(*warptunev1.ErrorDetail); ok {
			kind = tuner.ParseErrorKind(detail.GetKind())
			return tuner.Errorf(kind, "", "%s", s.Message())
		}
	}
	message := plain(s.Message())
	switch s.Code() {
	case codes.Canceled:
		return &tuner.Error{Kind: tuner.Unavailable, Op: message, Err: context.Canceled}
	case codes.DeadlineExceeded:
		return &tuner.Error{Kind: tuner.Unavailable, Op: message, Err: context.DeadlineExceeded}
	case codes.Unimplemented:
		return tuner.Errorf(tuner.Mismatch, "", "the server does not know the call: %s", message)
	case codes.Unknown, codes.OutOfRange, codes.AlreadyExists, codes.OK, codes.Internal:
		return tuner.Errorf(tuner.Internal, "", "%s", message)
	}
	for _, k := range tuner.ErrorKinds() {
		if statuses[k] == s.Code() {
			kind = k
			break
		}
	}
	return tuner.Errorf(kind, "", "%s", message)
}

// plain is a message of the gRPC library about a connection, without the
// library's words around the cause.
func plain(message string) string {
	for _, wrapping := range []string{"connection error: desc = ", "transport: ", "Error while dialing: "} {
		if _, inner, ok := strings.Cut(message, wrapping); ok {
			message = strings.Trim(inner, `"`)
		}
	}
	return message
}

// Unreachable reports whether a call failed because no server answered it, as
// opposed to a server of ours that refused it.
func Unreachable(err error) bool {
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable && len(s.Details()) == 0
}

// Cancelled reports whether a call ended because its caller cancelled it.
func Cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled
}
