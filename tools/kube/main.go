// SPDX-License-Identifier: Apache-2.0

// One program that is etcd, kube-apiserver, kube-controller-manager, kube-scheduler or kubectl, by
// the name it is called by. They share most of their packages, so one program is a third as large
// as five and links once; symlinks to it make the folder that KUBEBUILDER_ASSETS names.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	default:
		fmt.Fprintf(os.Stderr, "called as %q; it is etcd, kube-apiserver, "+
			"kube-controller-manager, kube-scheduler or kubectl, by the name it is called by\n", name)
		os.Exit(2)
	}
}
