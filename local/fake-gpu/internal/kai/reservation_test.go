package kai

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func pod(namespace string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: labels}}
}

func TestIsReservation(t *testing.T) {
	const name = "kai-resource-reservation"
	for _, test := range []struct {
		namespace, app string
		want           bool
	}{
		{name, name, true},
		{"runai-reservation", "runai-reservation", true},
		{"runai-reservation", name, true},
		{"team-a", name, false},
		{name, "other", false},
	} {
		if got := IsReservation(pod(test.namespace, map[string]string{"app": test.app})); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

func TestSharesGroupOf(t *testing.T) {
	const name = "kai-resource-reservation"
	holder := pod(name, map[string]string{"app": name, "runai-gpu-group": "g1"})
	for what, test := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"one device":      {pod("team-a", map[string]string{"runai-gpu-group": "g1"}), true},
		"several devices": {pod("team-a", map[string]string{"runai-gpu-group/g1": "g1", "runai-gpu-group/g2": "g2"}), true},
		"other group":     {pod("team-a", map[string]string{"runai-gpu-group": "g2"}), false},
		"whole GPU":       {pod("team-a", nil), false},
		"itself":          {holder, false},
	} {
		if got := SharesGroupOf(test.pod, holder); got != test.want {
			t.Errorf("%s: got %v", what, got)
		}
	}
	if SharesGroupOf(pod("team-a", nil), pod(name, map[string]string{"app": name})) {
		t.Error("a reservation without a group is shared by nobody")
	}
}
