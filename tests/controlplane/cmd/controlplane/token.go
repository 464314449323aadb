// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

type tokenRequest struct {
	namespace string
	account   string
	node      string
	duration  time.Duration
}

// requestToken asks for a token as the kubelet does for a Pod's projected volume: with a node, it
// names Pod and Node, and is worth nothing once the Pod is deleted.
func requestToken(ctx context.Context, client kubernetes.Interface, request tokenRequest) (
	string, error) {
	spec := authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To(int64(request.duration / time.Second)),
	}
	if request.node != "" {
		if err := ensureNode(ctx, client, request.node); err != nil {
			return "", fmt.Errorf("Node %s: %w", request.node, err)
		}
		pod, err := ensurePod(ctx, client, request)
		if err != nil {
			return "", fmt.Errorf("Pod on Node %s: %w", request.node, err)
		}
		spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	}
	answer, err := client.CoreV1().ServiceAccounts(request.namespace).CreateToken(ctx,
		request.account, &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return answer.Status.Token, nil
}

// ensureNode makes a Node that is ready for work. Admission gives every new Node the taint
// not-ready, which the node controller of a whole cluster would take away.
func ensureNode(ctx context.Context, client kubernetes.Interface, name string) error {
	nodes := client.CoreV1().Nodes()
	if _, err := nodes.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
	}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return err
	}
	node.Spec.Taints = nil
	if node, err = nodes.Update(ctx, node, metav1.UpdateOptions{}); err != nil {
		return err
	}
	now := metav1.Now()
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Test",
		Message:           "a Node without a kubelet",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// ensurePod makes the Pod in whose name the token speaks. Nothing runs it, and nothing would confirm
// that it has ended: without a grace period it goes as soon as it is deleted.
func ensurePod(ctx context.Context, client kubernetes.Interface, request tokenRequest) (
	*corev1.Pod, error) {
	pods := client.CoreV1().Pods(request.namespace)
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: request.account + "-" + request.node},
		Spec: corev1.PodSpec{
			NodeName:                      request.node,
			ServiceAccountName:            request.account,
			AutomountServiceAccountToken:  ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To(int64(0)),
			Containers:                    []corev1.Container{{Name: "none", Image: "none"}},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return pods.Get(ctx, request.account+"-"+request.node, metav1.GetOptions{})
	}
	return pod, err
}
