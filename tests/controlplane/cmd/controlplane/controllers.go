// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	controllerWorkers = 2
	// How soon the garbage collector learns of a new kind of object.
	garbageSyncPeriod  = 10 * time.Second
	garbageSyncTimeout = 30 * time.Second
	noResync           = 0
)

// controllerSet is what the controllers share.
type controllerSet struct {
	config    *rest.Config
	client    kubernetes.Interface
	metadata  metadata.Interface
	informers informers.SharedInformerFactory
}

// startControllers runs the controllers of kube-controller-manager that the package comment names,
// until ctx ends.
func startControllers(ctx context.Context, config *rest.Config, caFile string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	set := &controllerSet{
		config:    config,
		client:    client,
		metadata:  metadataClient,
		informers: informers.NewSharedInformerFactory(client, noResync),
	}

	set.startRoleAggregation(ctx)
	set.startNamespaces(ctx)
	if err := set.startServiceAccounts(ctx, caFile); err != nil {
		return fmt.Errorf("service account controllers: %w", err)
	}
	if err := set.startGarbageCollector(ctx); err != nil {
		return fmt.Errorf("garbage collector: %w", err)
	}
	return nil
}

func (s *controllerSet) startRoleAggregation(ctx context.Context) {
	controller := clusterroleaggregation.NewClusterRoleAggregation(
		s.informers.Rbac().V1().ClusterRoles(), s.client.RbacV1())
	go controller.Run(ctx, controllerWorkers)
}

func (s *controllerSet) startNamespaces(ctx context.Context) {
	controller := namespace.NewNamespaceController(ctx, s.client, s.metadata,
		s.client.Discovery().ServerPreferredNamespacedResources,
		s.informers.Core().V1().Namespaces(), noResync, corev1.FinalizerKubernetes)
	go controller.Run(ctx, controllerWorkers)
}

func (s *controllerSet) startServiceAccounts(ctx context.Context, caFile string) error {
	namespaces := s.informers.Core().V1().Namespaces()
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx),
		s.informers.Core().V1().ServiceAccounts(), namespaces, s.client,
		serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	publisher, err := rootcacertpublisher.NewPublisher(s.informers.Core().V1().ConfigMaps(),
		namespaces, s.client, ca)
	if err != nil {
		return err
	}
	go accounts.Run(ctx, controllerWorkers)
	go publisher.Run(ctx, controllerWorkers)
	return nil
}

// startGarbageCollector comes last, since it starts the informers of all of them.
func (s *controllerSet) startGarbageCollector(ctx context.Context) error {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(
		memory.NewMemCacheClient(s.client.Discovery()))
	factory := informerfactory.NewInformerFactory(s.informers,
		metadatainformer.NewSharedInformerFactory(s.metadata, noResync))
	started := make(chan struct{})
	collector, err := garbagecollector.NewGarbageCollector(ctx, s.client, s.metadata, mapper,
		garbagecollector.DefaultIgnoredResources(), factory, started)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	close(started)
	go collector.Run(ctx, controllerWorkers, garbageSyncTimeout)
	// A discovery client of its own: the mapper's is reset whenever a new kind appears.
	go collector.Sync(ctx, s.client.Discovery(), garbageSyncPeriod)
	return nil
}
