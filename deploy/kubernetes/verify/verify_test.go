// Package verify decodes the Kubernetes manifests strictly against the API's
// own types: an unknown, misspelt or misplaced field fails.
package verify

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// kinds makes an empty object of each kind the manifests have.
var kinds = map[string]func() any{
	"v1 Namespace":                                  func() any { return new(corev1.Namespace) },
	"v1 ServiceAccount":                             func() any { return new(corev1.ServiceAccount) },
	"rbac.authorization.k8s.io/v1 Role":             func() any { return new(rbacv1.Role) },
	"rbac.authorization.k8s.io/v1 RoleBinding":      func() any { return new(rbacv1.RoleBinding) },
	"v1 Service":                                    func() any { return new(corev1.Service) },
	"apps/v1 StatefulSet":                           func() any { return new(appsv1.StatefulSet) },
	"apps/v1 Deployment":                            func() any { return new(appsv1.Deployment) },
	"batch/v1 Job":                                  func() any { return new(batchv1.Job) },
	"policy/v1 PodDisruptionBudget":                 func() any { return new(policyv1.PodDisruptionBudget) },
	"networking.k8s.io/v1 NetworkPolicy":            func() any { return new(networkingv1.NetworkPolicy) },
	"keda.sh/v1alpha1 ScaledObject":                 func() any { return new(scaledObject) },
	"keda.sh/v1alpha1 TriggerAuthentication":        func() any { return new(triggerAuthentication) },
	"kustomize.config.k8s.io/v1beta1 Kustomization": func() any { return new(kustomization) },
}

// scaledObject is what the manifests use of KEDA's ScaledObject (its Go module
// is too large a dependency for a test).
type scaledObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            struct {
		ScaleTargetRef  struct{ Name string } `json:"scaleTargetRef"`
		PollingInterval *int32                `json:"pollingInterval"`
		CooldownPeriod  *int32                `json:"cooldownPeriod"`
		MinReplicaCount *int32                `json:"minReplicaCount"`
		MaxReplicaCount *int32                `json:"maxReplicaCount"`
		Triggers        []struct {
			Type              string                `json:"type"`
			Metadata          map[string]string     `json:"metadata"`
			AuthenticationRef struct{ Name string } `json:"authenticationRef"`
		} `json:"triggers"`
	} `json:"spec"`
}

// triggerAuthentication is what the manifests use of KEDA's.
type triggerAuthentication struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            struct {
		SecretTargetRef []struct {
			Parameter string `json:"parameter"`
			Name      string `json:"name"`
			Key       string `json:"key"`
		} `json:"secretTargetRef"`
	} `json:"spec"`
}

// kustomization is what the manifests use of kustomize.
type kustomization struct {
	metav1.TypeMeta `json:",inline"`
	Namespace       string   `json:"namespace"`
	Resources       []string `json:"resources"`
	Patches         []struct {
		Path string `json:"path"`
	} `json:"patches"`
	Images []struct {
		Name   string `json:"name"`
		NewTag string `json:"newTag"`
	} `json:"images"`
}

// object is a decoded document and where it stands.
type object struct {
	file, kind string
	value      any
}

func decode(t *testing.T) []object {
	t.Helper()
	files, err := filepath.Glob("../*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range bytes.Split(text, []byte("\n---\n")) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal(doc, &meta); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			kind := meta.APIVersion + " " + meta.Kind
			if kinds[kind] == nil {
				t.Errorf("%s: unknown kind %q", file, kind)
				continue
			}
			value := kinds[kind]()
			if err := yaml.UnmarshalStrict(doc, value); err != nil {
				t.Errorf("%s: %s: %v", file, kind, err)
			}
			all = append(all, object{file, kind, value})
		}
	}
	return all
}

// patch reports whether an object is only what differs from another.
func (o *object) patch() bool { return strings.HasSuffix(o.file, ".patch.yaml") }

// template returns the pod template of an object that has one.
func (o *object) template() *corev1.PodTemplateSpec {
	switch v := o.value.(type) {
	case *appsv1.StatefulSet:
		return &v.Spec.Template
	case *appsv1.Deployment:
		return &v.Spec.Template
	case *batchv1.Job:
		return &v.Spec.Template
	}
	return nil
}

func TestManifestsDecodeStrictly(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range decode(t) {
		seen[o.kind] = true
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no manifest is a %s", kind)
		}
	}
	if err := yaml.UnmarshalStrict([]byte("kind: Job\nspec: {paralellism: 3}"), new(batchv1.Job)); err == nil {
		t.Error("a misspelt field decodes")
	}
}

// Every pod meets the restricted pod security standard, with a read-only root.
func TestPodsAreRestricted(t *testing.T) {
	pods := 0
	for _, o := range decode(t) {
		template := o.template()
		if template == nil || o.patch() {
			continue
		}
		pods++
		p := template.Spec
		if p.SecurityContext == nil || p.SecurityContext.RunAsNonRoot == nil || !*p.SecurityContext.RunAsNonRoot ||
			p.SecurityContext.SeccompProfile == nil || p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
			t.Errorf("%s: %s: the pod is not restricted", o.file, o.kind)
		}
		for _, c := range p.Containers {
			s := c.SecurityContext
			if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil ||
				*s.AllowPrivilegeEscalation || s.Capabilities == nil || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("%s: container %s is not restricted", o.file, c.Name)
			}
			if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
				t.Errorf("%s: container %s has no limits", o.file, c.Name)
			}
			grace := int64(30)
			if p.TerminationGracePeriodSeconds != nil {
				grace = *p.TerminationGracePeriodSeconds
			}
			if c.Name == "worker" && grace < 40 {
				t.Errorf("%s: a worker needs its --grace to drain; the pod gives it %d s", o.file, grace)
			}
		}
	}
	if pods != 3 {
		t.Errorf("%d pod templates, want 3", pods)
	}
}

// Every mount has its volume, and every volume its mount.
func TestVolumesMatchMounts(t *testing.T) {
	for _, o := range decode(t) {
		template := o.template()
		if template == nil {
			continue
		}
		names := map[string]int{}
		for _, v := range template.Spec.Volumes {
			names[v.Name]++
		}
		if set, ok := o.value.(*appsv1.StatefulSet); ok {
			for _, claim := range set.Spec.VolumeClaimTemplates {
				names[claim.Name]++
			}
		}
		for _, c := range template.Spec.Containers {
			for _, m := range c.VolumeMounts {
				names[m.Name] += 10
			}
		}
		for name, n := range names {
			if n != 11 {
				t.Errorf("%s: volume %s is not there, or not mounted once", o.file, name)
			}
		}
	}
}

// A work queue has a parallelism and no completions, and its failures are told
// apart by the exit statuses of a worker.
func TestJobIsAWorkQueue(t *testing.T) {
	for _, o := range decode(t) {
		job, ok := o.value.(*batchv1.Job)
		if !ok {
			continue
		}
		if job.Spec.Parallelism == nil || job.Spec.Completions != nil {
			t.Errorf("%s: want parallelism and no completions", o.file)
		}
		actions := map[int32]batchv1.PodFailurePolicyAction{}
		for _, r := range job.Spec.PodFailurePolicy.Rules {
			if r.OnExitCodes != nil {
				for _, code := range r.OnExitCodes.Values {
					actions[code] = r.Action
				}
			}
		}
		if actions[75] != batchv1.PodFailurePolicyActionIgnore || actions[64] != batchv1.PodFailurePolicyActionFailJob {
			t.Errorf("%s: exit statuses 75 and 64 are treated as %v", o.file, actions)
		}
	}
}

// Selectors select: the Service, budgets and policies name labels that some pod
// has, and each controller selects its own pods.
func TestSelectorsSelect(t *testing.T) {
	all := decode(t)
	var pods []map[string]string
	for _, o := range all {
		if template := o.template(); template != nil {
			pods = append(pods, template.Labels)
		}
	}
	for _, o := range all {
		if o.patch() {
			continue
		}
		var want map[string]string
		switch v := o.value.(type) {
		case *corev1.Service:
			want = v.Spec.Selector
		case *policyv1.PodDisruptionBudget:
			want = v.Spec.Selector.MatchLabels
		case *networkingv1.NetworkPolicy:
			want = v.Spec.PodSelector.MatchLabels
		case *appsv1.StatefulSet:
			want = v.Spec.Selector.MatchLabels
		case *appsv1.Deployment:
			want = v.Spec.Selector.MatchLabels
		default:
			continue
		}
		found := false
		for _, labels := range pods {
			found = found || matches(labels, want)
		}
		if !found || len(want) == 0 {
			t.Errorf("%s: %s selects no pod: %v", o.file, o.kind, want)
		}
	}
}

func matches(labels, want map[string]string) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// Every file is in a kustomization, and every resource of one exists.
func TestKustomizationsAreComplete(t *testing.T) {
	used := map[string]bool{}
	for _, o := range decode(t) {
		k, ok := o.value.(*kustomization)
		if !ok {
			continue
		}
		for _, p := range k.Patches {
			k.Resources = append(k.Resources, p.Path)
		}
		for _, r := range k.Resources {
			path := filepath.Join(filepath.Dir(o.file), r)
			used[path] = true
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", o.file, err)
			}
		}
	}
	files, _ := filepath.Glob("../*/*.yaml")
	for _, file := range files {
		if !used[file] && !strings.HasSuffix(file, "kustomization.yaml") {
			t.Errorf("%s is in no kustomization", file)
		}
	}
}
