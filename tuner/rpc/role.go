package rpc

import (
	"fmt"

	"google.golang.org/grpc/health/grpc_health_v1"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
)

// Role is what a caller may do. The zero value is invalid.
type Role uint8

// Roles.
const (
	RoleInvalid Role = iota
	Reader           // looks at sweeps and what they found
	Submitter        // and submits sweeps, and steers and deletes his own
	WorkerRole       // evaluates trials
	Admin            // does everything, to anybody's sweeps
	StandbyRole      // follows the coordinator and takes its place: it sees all that is stored
	numRoles
)

var roleNames = [numRoles]string{"invalid", "reader", "submitter", "worker", "admin", "standby"}

// String returns the role as token files and certificates spell it.
func (r Role) String() string {
	if r < numRoles {
		return roleNames[r]
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// ParseRole reads what String wrote.
func ParseRole(s string) (Role, error) {
	for r := Reader; r < numRoles; r++ {
		if roleNames[r] == s {
			return r, nil
		}
	}
	return RoleInvalid, fmt.Errorf("%q is no role: want reader, submitter, worker, admin or standby", s)
}

// anyone marks methods that need no role.
const anyone = RoleInvalid

// roles says for each method which roles may call it, besides Admin; the
// first anyone opens it to all. A method that is not listed is denied.
var roles = map[string][]Role{
	warptunev1.SweepService_Get_FullMethodName:        {Reader, Submitter},
	warptunev1.SweepService_List_FullMethodName:       {Reader, Submitter},
	warptunev1.SweepService_Watch_FullMethodName:      {Reader, Submitter},
	warptunev1.SweepService_Best_FullMethodName:       {Reader, Submitter},
	warptunev1.SweepService_Top_FullMethodName:        {Reader, Submitter},
	warptunev1.SweepService_Results_FullMethodName:    {Reader, Submitter},
	warptunev1.SweepService_Workers_FullMethodName:    {Reader, Submitter},
	warptunev1.SweepService_Descriptor_FullMethodName: {Reader, Submitter},
	warptunev1.SweepService_PutBundle_FullMethodName:  {Submitter},
	warptunev1.SweepService_Submit_FullMethodName:     {Submitter},
	warptunev1.SweepService_Pause_FullMethodName:      {Submitter},
	warptunev1.SweepService_Resume_FullMethodName:     {Submitter},
	warptunev1.SweepService_Retry_FullMethodName:      {Submitter},
	warptunev1.SweepService_Cancel_FullMethodName:     {Submitter},
	warptunev1.SweepService_Delete_FullMethodName:     {Submitter},
	warptunev1.SweepService_Audit_FullMethodName:      {Submitter},

	warptunev1.WorkerService_Synchronize_FullMethodName: {WorkerRole},
	warptunev1.WorkerService_GetBundle_FullMethodName:   {WorkerRole},
	warptunev1.WorkerService_Lookup_FullMethodName:      {WorkerRole},

	warptunev1.StandbyService_Follow_FullMethodName:   {StandbyRole},
	warptunev1.StandbyService_Standing_FullMethodName: {Reader, Submitter, StandbyRole},

	grpc_health_v1.Health_Check_FullMethodName: {anyone},
	grpc_health_v1.Health_Watch_FullMethodName: {anyone},
	grpc_health_v1.Health_List_FullMethodName:  {anyone},

	// What KEDA asks, which deploy/scale serves.
	"/externalscaler.ExternalScaler/IsActive":       {Reader, Submitter},
	"/externalscaler.ExternalScaler/StreamIsActive": {Reader, Submitter},
	"/externalscaler.ExternalScaler/GetMetricSpec":  {Reader, Submitter},
	"/externalscaler.ExternalScaler/GetMetrics":     {Reader, Submitter},

	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      {Reader, Submitter},
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": {Reader, Submitter},
}

// changing are the methods that change something, and which acts those are.
var changing = map[string]string{
	warptunev1.SweepService_PutBundle_FullMethodName: tuner.ActPutBundle,
	warptunev1.SweepService_Submit_FullMethodName:    tuner.ActSubmit,
	warptunev1.SweepService_Pause_FullMethodName:     tuner.ActPause,
	warptunev1.SweepService_Resume_FullMethodName:    tuner.ActResume,
	warptunev1.SweepService_Retry_FullMethodName:     tuner.ActRetry,
	warptunev1.SweepService_Cancel_FullMethodName:    tuner.ActCancel,
	warptunev1.SweepService_Delete_FullMethodName:    tuner.ActDelete,
}

// allowed reports whether a role may call a method.
func allowed(method string, role Role) bool {
	may, listed := roles[method]
	if !listed {
		return false
	}
	for _, r := range may {
		if r == anyone || r == role {
			return true
		}
	}
	return role == Admin
}
