{{- define "agent.name" -}}
{{- if contains "agent" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-mudra-agent" (.Release.Name | trunc 28 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "agent.selector" -}}
app.kubernetes.io/name: mudra-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent.labels" -}}
{{ include "agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "agent.hosts" -}}
{{- $name := include "agent.name" . -}}
["{{ $name }}", "{{ $name }}.{{ .Release.Namespace }}", "{{ $name }}.{{ .Release.Namespace }}.svc", "{{ $name }}.{{ .Release.Namespace }}.svc.cluster.local"]
{{- end }}
