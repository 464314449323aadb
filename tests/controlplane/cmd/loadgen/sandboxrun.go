// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	groupPath = "/apis/sandboxrun.dev/v1alpha1"
	hintsPath = "/apis/bench.sandboxrun.dev/v1/assignmenthints"

	podMemory = "64Mi"
	podCPU    = "100m"
)

type object = map[string]any

// sandboxRun is what is read of one.
type sandboxRun struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Status struct {
		Phase         string `json:"phase"`
		NodeName      string `json:"nodeName"`
		AgentInstance string `json:"agentInstance"`
		SandboxID     string `json:"sandboxID"`
		ScheduledTime string `json:"scheduledTime"`
	} `json:"status"`
}

func (r *sandboxRun) key() string { return r.Metadata.Namespace + "/" + r.Metadata.Name }

// runPath is where the run "namespace/name" is.
func runPath(key string) string {
	namespace, name, _ := strings.Cut(key, "/")
	return groupPath + "/namespaces/" + namespace + "/sandboxruns/" + name
}

func microTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

func condition(kind, status, reason, message, since string) object {
	return object{"type": kind, "status": status, "reason": reason, "message": message,
		"lastTransitionTime": since}
}

// claim is the controller's patch: controller/patch.c.
func claim(version, node, instance, sandboxID string) object {
	now := microTime(time.Now())
	return object{
		"metadata": object{"resourceVersion": version},
		"status": object{
			"phase": "Scheduled", "sandboxID": sandboxID, "nodeName": node,
			"agentInstance": instance, "scheduledTime": now, "observedGeneration": 1,
			"conditions": []object{
				condition("Scheduled", "True", "Assigned", "Assigned to node "+node+".", now),
				condition("Finished", "False", "Scheduled", "The run has not finished.",
					"1970-01-01T00:00:00.000000Z"),
			},
		},
	}
}

// result is what an agent writes of a program that printed a line: node-agent/agent/status_patch.c.
func result(assigned *sandboxRun, version string, started, ended time.Time) object {
	status := &assigned.Status
	return object{
		"metadata": object{"resourceVersion": version},
		"status": object{
			"phase": "Succeeded", "reason": "Completed", "message": "exit code 0",
			"sandboxID": status.SandboxID, "nodeName": status.NodeName,
			"agentInstance": status.AgentInstance, "scheduledTime": status.ScheduledTime,
			"startTime": microTime(started), "completionTime": microTime(ended), "exitCode": 0,
			"stdout": "hello\n", "stdoutBytes": 6, "stdoutTruncated": false,
			"stderr": "", "stderrBytes": 0, "stderrTruncated": false,
			"usage": object{"cpuMilliseconds": 12, "peakMemoryBytes": 9437184,
				"wallMilliseconds": ended.Sub(started).Milliseconds()},
			"effective": object{"timeoutSeconds": 60, "memory": podMemory, "cpu": podCPU,
				"runtimeVersion": "3.12.1"},
			"conditions": []object{
				condition("Scheduled", "True", "Assigned",
					"Assigned to node "+status.NodeName+".", status.ScheduledTime),
				condition("Finished", "True", "Completed", "exit code 0", microTime(ended)),
			},
			"observedGeneration": 1,
		},
	}
}

// writtenOff is a run that was never assigned and is over.
func writtenOff(version string) object {
	now := microTime(time.Now())
	return object{
		"metadata": object{"resourceVersion": version},
		"status": object{
			"phase": "Failed", "reason": "Cancelled", "message": "made to be there",
			"completionTime": now, "exitCode": -1,
			"conditions": []object{
				condition("Finished", "True", "Cancelled", "made to be there", now),
			},
		},
	}
}

// runDocument is a small program that waits as long as it must.
func runDocument(name string) object {
	return object{
		"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
		"metadata": object{"name": name},
		"spec": object{
			"code": "print('hello')\n", "timeoutSeconds": 60, "queueTimeoutSeconds": 3600,
			"ttlSecondsAfterFinished": 7200,
			"resources":               object{"limits": object{"memory": podMemory, "cpu": podCPU}},
		},
	}
}

func nodeStatus(instance string, runs int, since string) object {
	return object{
		"instance":  instance,
		"capacity":  object{"runs": 2000, "memory": "256Gi", "cpu": "400"},
		"allocated": object{"runs": runs, "memory": fmt.Sprint(runs << 26), "cpu": fmt.Sprintf("%dm", runs*100)},
		"warm":      0, "runtimes": []object{{"name": "python3.12", "version": "3.12.1"}},
		"cgroupVersion": "v2", "kernel": "6.8.0", "profiles": []string{"Snippet"},
		"conditions": []object{condition("Ready", "True", "JailerReady", "The node takes runs.",
			since)},
	}
}
