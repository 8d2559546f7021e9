{{/*
One Deployment under the vendor's name, with the images that the values name; its pods do nothing.
In: dict "root" . "name" … "images" (list …) "pull" (list of {name}) "pod" "container" (security contexts)
    "args" (list of texts)
*/}}
{{- define "double.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "double.labels" . | nindent 4 }}
spec:
  replicas: 1
  selector:
    matchLabels: {app.kubernetes.io/name: {{ .name }}}
  template:
    metadata:
      labels: {{- include "double.labels" . | nindent 8 }}
    spec: {{- include "double.pod" . | nindent 6 }}
{{- end -}}

{{- define "double.pod" -}}
automountServiceAccountToken: false
imagePullSecrets: {{ .pull | default list | toJson }}
securityContext: {{ .pod | default dict | toJson }}
terminationGracePeriodSeconds: 1
containers:
{{- range $i, $image := .images }}
  - name: c{{ $i }}
    image: {{ $image }}
    imagePullPolicy: IfNotPresent
    args: {{ if eq $i 0 }}{{ $.args | default list | toJson }}{{ else }}[]{{ end }}
    securityContext: {{ $.container | default dict | toJson }}
    resources: {requests: {cpu: 1m, memory: 8Mi}}
{{- end }}
{{- end -}}

{{- define "double.labels" -}}
app.kubernetes.io/name: {{ .name }}
runai-kit.io/provenance: double
{{- end -}}

{{- define "double.crd" -}}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {{ .plural }}.{{ .group }}
spec:
  group: {{ .group }}
  names:
    kind: {{ .kind }}
    listKind: {{ .kind }}List
    plural: {{ .plural }}
    singular: {{ lower .kind }}
  scope: {{ .scope }}
  versions:
    - name: {{ .version }}
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
{{- end -}}

{{/* NVIDIA's list of names as Kubernetes' list of references. */}}
{{- define "double.names" -}}
{{- $found := list -}}
{{- range . }}{{ $found = append $found (dict "name" .) }}{{ end -}}
{{- $found | toJson -}}
{{- end -}}
