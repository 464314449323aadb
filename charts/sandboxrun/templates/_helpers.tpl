{{- define "sandboxrun.labels" -}}
app.kubernetes.io/name: sandboxrun
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/part-of: sandboxrun
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- /* A Deployment's or DaemonSet's selector can't change, so no version and no release in it. */ -}}
{{- define "sandboxrun.selector" -}}
app.kubernetes.io/name: sandboxrun
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "sandboxrun.image" -}}
{{- $tag := default .root.Chart.AppVersion .root.Values.image.tag -}}
{{- if .root.Values.image.registry -}}
{{ printf "%s/%s:%s" .root.Values.image.registry .repository $tag }}
{{- else -}}
{{ printf "%s:%s" .repository $tag }}
{{- end -}}
{{- end }}
