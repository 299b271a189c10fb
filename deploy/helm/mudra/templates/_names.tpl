{{- define "mudra.name" -}}
{{- if contains "mudra" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-mudra" (.Release.Name | trunc 34 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "mudra.selector" -}}
app.kubernetes.io/name: mudra
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mudra.labels" -}}
{{ include "mudra.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "mudra.image" -}}
{{ required "image.repository is needed" .Values.image.repository }}@{{ required "image.digest is needed" .Values.image.digest }}
{{- end }}

{{- define "mudra.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10043
  runAsGroup: 10043
  fsGroup: 10043
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "mudra.container" -}}
image: {{ include "mudra.image" . }}
imagePullPolicy: IfNotPresent
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* Where the database is, for the role that owns the schema. */ -}}
{{- define "mudra.owners" -}}
{{ include "mudra.secret" (list .Values.secrets.nodes "MUDRA_DATABASE_URL" false) }}
{{ include "mudra.secret" (list .Values.secrets.prepare "MUDRA_DATABASE_OWNER_URL" false) }}
{{- end }}

{{- define "mudra.secret" -}}
- name: {{ index . 1 }}
  valueFrom: {secretKeyRef: {name: {{ index . 0 }}, key: {{ index . 1 }}, optional: {{ index . 2 }}}}
{{- end }}

{{- /* What encrypts the way to the database: its authority, at the path that the addresses name. */ -}}
{{- define "mudra.ca.mount" -}}
{{- if .Values.databaseCa.secret }}
- {name: database-ca, mountPath: /etc/mudra/db, readOnly: true}
{{- end }}
{{- end }}

{{- define "mudra.ca.volume" -}}
{{- with .Values.databaseCa }}
{{- if .secret }}
- name: database-ca
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items: [{key: {{ .key | quote }}, path: ca.pem}]
{{- end }}
{{- end }}
{{- end }}

{{- /* Files that `settings` name: for the nodes, and for a restore, which has all settings. */ -}}
{{- define "mudra.files.mounts" -}}
{{- include "mudra.ca.mount" . }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "mudra.files.volumes" -}}
{{- include "mudra.ca.volume" . }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
