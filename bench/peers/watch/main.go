// SPDX-License-Identifier: Apache-2.0
// The least that a program with client-go needs to follow a node's assignment: it watches one Node
// and one ConfigMap and does nothing with them. With -fleet it is many such programs in one process,
// each with a client of its own.
package main

import (
	"flag"
	"log"
	"path/filepath"
	"strings"

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
	fleet := flag.String("fleet", "", "directory with a kubeconfig NODE.conf for each Node, in place of -kubeconfig and -node")
	flag.Parse()
	kubeconfigs := map[string]string{*node: *kubeconfig}
	if *fleet != "" {
		kubeconfigs = map[string]string{}
		paths, err := filepath.Glob(filepath.Join(*fleet, "*.conf"))
		if err != nil {
			log.Fatal(err)
		}
		for _, path := range paths {
			kubeconfigs[strings.TrimSuffix(filepath.Base(path), ".conf")] = path
		}
	}
	var synced []cache.InformerSynced
	for name, path := range kubeconfigs {
		synced = append(synced, follow(path, name, *namespace, *configMap)...)
	}
	if !cache.WaitForCacheSync(nil, synced...) {
		log.Fatal("the lists did not arrive")
	}
	log.Print("synced")
	select {}
}

func follow(kubeconfig, node, namespace, configMap string) []cache.InformerSynced {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient()
	watch := func(resource, namespace, name string, object runtime.Object) cache.InformerSynced {
		source := cache.NewListWatchFromClient(client, resource, namespace, fields.OneTermEqualSelector("metadata.name", name))
		informer := cache.NewSharedInformer(source, object, 0)
		go informer.Run(nil)
		return informer.HasSynced
	}
	return []cache.InformerSynced{
		watch("nodes", "", node, &v1.Node{}),
		watch("configmaps", namespace, configMap, &v1.ConfigMap{}),
	}
}
