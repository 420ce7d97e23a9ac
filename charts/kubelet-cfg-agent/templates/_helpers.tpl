{{- define "kubelet-cfg-agent.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ quote .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Of pods: (list $ COMPONENT). It never changes, since a DaemonSet cannot change it. */}}
{{- define "kubelet-cfg-agent.selector" -}}
{{- $root := index . 0 -}}
{{ dict "app.kubernetes.io/name" $root.Chart.Name "app.kubernetes.io/instance" $root.Release.Name "app.kubernetes.io/component" (index . 1) | toJson }}
{{- end }}

{{/* Of a binding: who the agents are. */}}
{{- define "kubelet-cfg-agent.subjects" -}}
{{- if eq .Values.agents "nodes" -}}
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: system:nodes
{{- else -}}
- kind: ServiceAccount
  name: kubelet-cfg-agent
  namespace: {{ quote .Release.Namespace }}
{{- end }}
{{- end }}

{{/* (list $ PATH IMAGE) */}}
{{- define "kubelet-cfg-agent.image" -}}
{{- $path := index . 1 -}}
{{- $image := index . 2 -}}
{{- $repository := required (printf "set %s.repository: the image is one of yours" $path) $image.repository -}}
{{- if $image.digest -}}
{{ printf "%s@%s" $repository $image.digest | quote }}
{{- else -}}
{{- $tag := $image.tag -}}
{{- if and (not $tag) (eq $path "installer.image") -}}{{- $tag = (index . 0).Chart.AppVersion -}}{{- end -}}
{{ printf "%s:%s" $repository (required (printf "set %s.digest or %s.tag" $path $path) $tag) | quote }}
{{- end -}}
{{- end }}

{{/* The settings file of the agents. */}}
{{- define "kubelet-cfg-agent.settings" -}}
{{- $settings := deepCopy .Values.installer.settings -}}
{{- if ne .Values.configs.namespace "kube-system" -}}
{{- $settings = merge $settings (dict "configNamespace" .Values.configs.namespace) -}}
{{- end -}}
{{- toYaml (merge (dict "apiVersion" "kubelet-cfg-agent.io/v1alpha1" "kind" "AgentConfiguration") $settings) }}
{{- end }}

{{/* The record of a rollout. */}}
{{- define "kubelet-cfg-agent.record" -}}
{{ .record | default (printf "%s-rollout" .config) }}
{{- end }}

{{/* (list $ ROLLOUT): how the kubectl plugin names a config in the name of its binding. */}}
{{- define "kubelet-cfg-agent.place" -}}
{{- $rollout := index . 1 -}}
{{- $namespace := $rollout.namespace | default (index . 0).Values.configs.namespace -}}
{{- if or (ne $namespace "kube-system") (contains "." $rollout.config) -}}
{{ printf "%s.%s" $namespace $rollout.config }}
{{- else -}}
{{ $rollout.config }}
{{- end -}}
{{- end }}
