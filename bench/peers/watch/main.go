// SPDX-License-Identifier: Apache-2.0
// The least that a program with client-go needs to follow a node's assignment: it watches one Node
// and one ConfigMap and does nothing with them.
package main

import (
	"flag"
	"log"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	node := flag.String("node", "", "name of the Node")
	namespace := flag.String("namespace", "", "namespace of the ConfigMap")
	configMap := flag.String("configmap", "", "name of the ConfigMap")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient()
	var synced []cache.InformerSynced
	watch := func(resource, namespace, name string, object runtime.Object) {
		source := cache.NewListWatchFromClient(client, resource, namespace, fields.OneTermEqualSelector("metadata.name", name))
		informer := cache.NewSharedInformer(source, object, 0)
		synced = append(synced, informer.HasSynced)
		go informer.Run(nil)
	}
	watch("nodes", "", *node, &v1.Node{})
	watch("configmaps", *namespace, *configMap, &v1.ConfigMap{})
	if !cache.WaitForCacheSync(nil, synced...) {
		log.Fatal("the lists did not arrive")
	}
	log.Print("synced")
	select {}
}
