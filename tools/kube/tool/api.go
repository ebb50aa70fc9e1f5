// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	jsonType  = "application/json"
	mergeType = "application/strategic-merge-patch+json"
	agent     = "kubetool/1" // curl's own name would get indented JSON, twice as large
)

type object = map[string]any

// The fields of a pod that anybody here looks at.
type podView struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		DeletionTimestamp                     *string
		Labels, Annotations                   map[string]string
	}
	Spec struct {
		NodeName   string
		Containers []struct {
			Resources struct{ Requests map[string]string }
		}
	}
	Status struct{ Phase string }
}

func (p *podView) path() string { return podsOf(p.Metadata.Namespace) + "/" + p.Metadata.Name }
func (p *podView) leaves() bool { return p.Metadata.DeletionTimestamp != nil }
func (p *podView) gpus() (sum int) {
	for _, container := range p.Spec.Containers {
		n, _ := strconv.Atoi(container.Resources.Requests["nvidia.com/gpu"])
		sum += n
	}
	return sum
}

type podList struct {
	Metadata struct{ ResourceVersion string }
	Items    []podView
}

type podEvent struct {
	Type   string
	Object podView
}

func podsOf(namespace string) string { return "/api/v1/namespaces/" + namespace + "/pods" }

type apiServer struct {
	address string
	http    *http.Client
}

func connect(folder string) *apiServer {
	read := func(name string) []byte {
		bytes, err := os.ReadFile(filepath.Join(folder, name))
		fail(err)
		return bytes
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read("pki/ca.crt"))
	config := &tls.Config{RootCAs: roots}
	if *token == "" {
		mine, err := tls.X509KeyPair(read("pki/"+*user+".crt"), read("pki/"+*user+".key"))
		fail(err)
		config.Certificates = []tls.Certificate{mine}
	}
	return &apiServer{strings.TrimSpace(string(read("server"))), &http.Client{Transport: &http.Transport{
		TLSClientConfig: config, MaxIdleConnsPerHost: 256,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1
	}}}
}

func (api *apiServer) request(method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, api.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", agent)
	request.Header.Set("Accept", jsonType)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if *token != "" {
		request.Header.Set("Authorization", "Bearer "+*token)
	}
	return api.http.Do(request)
}

// call answers with the status, 0 where there was none, and the body.
func (api *apiServer) call(method, path, contentType string, body any) (int, []byte) {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	response, err := api.request(method, path, contentType, text)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	return response.StatusCode, answer
}

// pods lists what the server has in its cache; `selector` is more of the query, "&labelSelector=...".
func (api *apiServer) pods(selector string) podList {
	list, err := api.tryPods(selector)
	fail(err)
	return list
}

func (api *apiServer) tryPods(selector string) (list podList, err error) {
	status, answer := api.call("GET", "/api/v1/pods?resourceVersion=0"+selector, "", nil)
	if status != http.StatusOK {
		return list, fmt.Errorf("list of pods: %d %s", status, answer)
	}
	return list, json.Unmarshal(answer, &list)
}

// watch calls `see` with all pods, then with every change, until it says no more. Where the server
// ends the watch, forgets its past (410) or is away, it lists again, and what is not there any more
// is reported as deleted.
func (api *apiServer) watch(see func(podEvent) bool) {
	known := map[string]podView{}
	tell := func(event podEvent) bool {
		if event.Type == "DELETED" {
			delete(known, event.Object.Metadata.UID)
		} else {
			known[event.Object.Metadata.UID] = event.Object
		}
		return see(event)
	}
	until := time.Now().Add(time.Duration(*seconds) * time.Second)
	for ; time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		list, err := api.tryPods("")
		if err != nil {
			continue
		}
		there := map[string]bool{}
		for _, pod := range list.Items {
			there[pod.Metadata.UID] = true
			if !tell(podEvent{"ADDED", pod}) {
				return
			}
		}
		for uid, pod := range known {
			if !there[uid] && !tell(podEvent{"DELETED", pod}) {
				return
			}
		}
		response, err := api.request("GET", fmt.Sprintf(
			"/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%d",
			list.Metadata.ResourceVersion, int(time.Until(until).Seconds())+1), "", nil)
		if err != nil {
			continue
		}
		lines := bufio.NewReaderSize(response.Body, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			var event podEvent
			if err != nil || json.Unmarshal(line, &event) != nil || event.Type == "ERROR" {
				break
			}
			if event.Type != "BOOKMARK" && !tell(event) {
				response.Body.Close()
				return
			}
		}
		response.Body.Close()
	}
}

// end deletes a pod, if it is still that one.
func (api *apiServer) end(pod *podView, graceSeconds int) (int, []byte) {
	return api.call("DELETE", pod.path(), jsonType, object{"apiVersion": "v1", "kind": "DeleteOptions",
		"gracePeriodSeconds": graceSeconds, "preconditions": object{"uid": pod.Metadata.UID}})
}

// inParallel calls f(0) to f(n - 1) on *conns connections and prints rate and latencies.
func inParallel(what string, n int, f func(i int) (int, []byte)) {
	if n == 0 {
		fmt.Println(what + ": nothing to do")
		return
	}
	var next, errors atomic.Int64
	milliseconds := make([]float64, n)
	var workers sync.WaitGroup
	start := time.Now()
	for range *conns {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				began := time.Now()
				status, answer := f(i)
				milliseconds[i] = float64(time.Since(began).Microseconds()) / 1000
				if status/100 != 2 && errors.Add(1) == 1 {
					fmt.Printf("first error: %d %s\n", status, answer)
				}
			}
		})
	}
	workers.Wait()
	elapsed := time.Since(start).Seconds()
	sort.Float64s(milliseconds)
	fmt.Printf("%s: %d in %.2f s = %.0f/s, p50 %.1f ms, p99 %.1f ms, errors %d\n", what, n, elapsed,
		float64(n)/elapsed, milliseconds[n/2], milliseconds[n*99/100], errors.Load())
	if errors.Load() > 0 {
		os.Exit(1)
	}
}
