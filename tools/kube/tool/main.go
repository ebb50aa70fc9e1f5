// SPDX-License-Identifier: Apache-2.0

// kubetool: fake nodes, pods and kubelets for a control plane of ./dev kube, a trivial binder as the
// floor of what any scheduler costs the API server, and a tracer that tells when things happened.
// Standard library only; JSON over HTTP/1.1.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

var (
	user    = flag.String("user", "admin", "whose certificate in the folder's pki")
	token   = flag.String("token", "", "bearer token to use in place of a certificate")
	conns   = flag.Int("conns", 16, "requests under way at once")
	count   = flag.Int("count", 100, "how many")
	seconds = flag.Int("seconds", 600, "at most for this time")

	namespace = flag.String("namespace", "default", "of pods")
	prefix    = flag.String("prefix", "pod", "names of pods begin so; also their label app")
	gpus      = flag.Int("gpus", 1, "GPUs of each pod")
	scheduler = flag.String("scheduler", "default-scheduler", "schedulerName of pods")
	labels    = flag.String("labels", "", "more labels of pods or nodes, k=v,k=v")

	first   = flag.Int("first", 0, "number of the first node")
	perRack = flag.Int("rack", 32, "nodes of a rack; 8 racks are a zone")

	withEvents = flag.Bool("events", false, "bind: one event for each pod as well")

	grace  = flag.Int("grace", 0, "kubelet: seconds that a pod takes to end once it is deleted")
	runFor = flag.Int("run", 0, "kubelet: seconds after which pods succeed; 0 = they run on")
)

const usage = `usage: kubetool FOLDER COMMAND [FLAGS]

  nodes     creates -count nodes of 8 GPUs, 128 CPUs, 2 TiB, each with its own hostname label
  pods      creates -count pods of -gpus GPUs
  bind      binds up to -count pods that have no node, first fit by number: the floor
  kubelet   runs bound pods, ends deleted ones; refuses what a node has no GPUs for
  wait      until -count pods with label app=PREFIX exist and each has a node
  trace     when pods with label app=PREFIX were seen, bound, running, and others marked and gone
  delete    deletes all pods at once
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage); flag.PrintDefaults() }
	if len(os.Args) < 3 || strings.HasPrefix(os.Args[2], "-") {
		flag.Usage()
		os.Exit(2)
	}
	folder, command := os.Args[1], os.Args[2]
	os.Args = os.Args[2:]
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("%q is no flag; they come after the command", flag.Arg(0)))
	}
	api := connect(folder)
	switch command {
	case "nodes":
		inParallel("create nodes", *count, func(i int) (int, []byte) {
			return api.call("POST", "/api/v1/nodes", jsonType, node(*first+i))
		})
	case "pods":
		inParallel("create pods", *count, func(i int) (int, []byte) {
			return api.call("POST", podsOf(*namespace), jsonType, pod(fmt.Sprintf("%s-%05d", *prefix, i)))
		})
	case "bind":
		bind(api)
	case "kubelet":
		runKubelet(api)
	case "wait":
		if !waitUntilBound(api, time.Duration(*seconds)*time.Second) {
			os.Exit(1)
		}
	case "trace":
		trace(api)
	case "delete":
		all := api.pods("").Items
		inParallel("delete pods", len(all), func(i int) (int, []byte) { return api.end(&all[i], 0) })
	default:
		fail(fmt.Errorf("no command %q\n%s", command, usage))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubetool:", err)
		os.Exit(1)
	}
}
