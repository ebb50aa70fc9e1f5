// SPDX-License-Identifier: Apache-2.0
#include "kube/install/objects.h"

#include <array>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "base/percent.h"
#include "codec/text/json.h"
#include "kube/install/definitions.h"

namespace berth::kube::install {
namespace {

using codec::Value;

struct Kind {
    std::string_view name;
    std::string_view plural;
};
constexpr std::array kKnownKinds{
    Kind{"CustomResourceDefinition", "customresourcedefinitions"},
    Kind{"Namespace", "namespaces"},
    Kind{"ServiceAccount", "serviceaccounts"},
    Kind{"ResourceQuota", "resourcequotas"},
    Kind{"ClusterRole", "clusterroles"},
    Kind{"ClusterRoleBinding", "clusterrolebindings"},
    Kind{"Role", "roles"},
    Kind{"RoleBinding", "rolebindings"},
    Kind{"Deployment", "deployments"},
    Kind{"ValidatingAdmissionPolicy", "validatingadmissionpolicies"},
    Kind{"ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"},
    Kind{"MutatingAdmissionPolicy", "mutatingadmissionpolicies"},
    Kind{"MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"}};

// Some clusters (GKE) take pods of system-cluster-critical only where a quota allows them.
constexpr std::string_view kAccount = R"(
apiVersion: v1
kind: Namespace
metadata:
  name: berth-system
  labels:
    pod-security.kubernetes.io/enforce: restricted
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: berth-scheduler
  namespace: berth-system
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: berth-scheduler
  namespace: berth-system
spec:
  hard:
    pods: "8"
  scopeSelector:
    matchExpressions:
    - scopeName: PriorityClass
      operator: In
      values: [system-cluster-critical]
)";

// What the scheduler may do, and no more: a test takes away each rule and fails.
constexpr std::string_view kRights = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: berth-scheduler
rules:
- apiGroups: [""]
  resources: [nodes, pods, namespaces]
  verbs: [list, watch]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [list, watch]
- apiGroups: [jobset.x-k8s.io]
  resources: [jobsets]
  verbs: [list, watch]
- apiGroups: [ray.io]
  resources: [rayclusters, rayjobs]
  verbs: [list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
- apiGroups: [berth.dev]
  resources: [projects, pools, policies]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [pods/binding]
  verbs: [create]
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, patch, delete]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [patch]
- apiGroups: [jobset.x-k8s.io]
  resources: [jobsets]
  verbs: [patch]
- apiGroups: [ray.io]
  resources: [rayclusters, rayjobs]
  verbs: [patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
- apiGroups: [berth.dev]
  resources: [projects/status, pools/status]
  verbs: [patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: berth-scheduler
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: berth-scheduler
subjects:
- kind: ServiceAccount
  name: berth-scheduler
  namespace: berth-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: berth-scheduler
  namespace: berth-system
rules:
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [berth-scheduler]
  verbs: [get, update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: berth-scheduler
  namespace: berth-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: berth-scheduler
subjects:
- kind: ServiceAccount
  name: berth-scheduler
  namespace: berth-system
)";

// What people may read. The kinds are of the whole cluster: who has a role in one namespace alone
// is given this one by a ClusterRoleBinding.
constexpr std::string_view kReaders = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: berth-view
  labels:
    rbac.authorization.k8s.io/aggregate-to-view: "true"
rules:
- apiGroups: [berth.dev]
  resources: [projects, pools, policies]
  verbs: [get, list, watch]
)";

// Two replicas, of which one leads. The cluster's own scheduler places them: ours would need
// itself.
constexpr std::string_view kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: berth-scheduler
  namespace: berth-system
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: berth-scheduler
  template:
    metadata:
      labels:
        app.kubernetes.io/name: berth-scheduler
        app.kubernetes.io/part-of: berth
    spec:
      serviceAccountName: berth-scheduler
      priorityClassName: system-cluster-critical
      terminationGracePeriodSeconds: 10
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm:
              topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels:
                  app.kubernetes.io/name: berth-scheduler
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      containers:
      - name: scheduler
        image: IMAGE
        args: [kube, scheduler, --listen, ":8080"]
        ports:
        - name: metrics
          containerPort: 8080
        livenessProbe:
          httpGet:
            path: /healthz
            port: metrics
          timeoutSeconds: 5
          failureThreshold: 6
        readinessProbe:
          httpGet:
            path: /readyz
            port: metrics
          timeoutSeconds: 5
        resources:
          requests:
            cpu: 100m
            memory: 128Mi
          limits:
            memory: 1Gi
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities:
            drop: [ALL]
)";

// A pod that names no scheduler has its default by the time a policy sees it.
constexpr std::string_view kPolicies = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: berth-annotations
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods, pods/binding, pods/status, pods/ephemeralcontainers, pods/resize]
    - apiGroups: [batch]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [jobs, jobs/status]
    - apiGroups: [jobset.x-k8s.io, ray.io]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [jobsets, jobsets/status, rayclusters, rayclusters/status, rayjobs, rayjobs/status]
  matchConditions:
  - name: is-not-berth
    expression: >-
      request.userInfo.username != 'system:serviceaccount:berth-system:berth-scheduler'
  variables:
  - name: before
    expression: >-
      oldObject != null && has(oldObject.metadata) && has(oldObject.metadata.annotations) ?
      oldObject.metadata.annotations : {}
  - name: after
    expression: >-
      has(object.metadata) && has(object.metadata.annotations) ?
      object.metadata.annotations : {}
  - name: changed
    expression: >-
      ['berth.dev/gpus', 'berth.dev/part', 'berth.dev/history', 'berth.dev/last-pause',
      'berth.dev/promise'].filter(key,
      (key in variables.before) != (key in variables.after) || (key in variables.after &&
      variables.before[key] != variables.after[key]))
  validations:
  - expression: size(variables.changed) == 0
    messageExpression: >-
      'annotation ' + variables.changed.join(', ') + ': only Berth writes it'
    message: >-
      annotations berth.dev/gpus, part, history, last-pause and promise are written by Berth alone
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: berth-annotations
spec:
  policyName: berth-annotations
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: berth-scheduler-name
spec:
  failurePolicy: Ignore
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector:
      matchExpressions:
      - key: berth.dev/project
        operator: Exists
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values: [kube-system, berth-system]
    objectSelector:
      matchExpressions:
      - key: berth.dev/ignore
        operator: NotIn
        values: ["true"]
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [pods]
  matchConditions:
  - name: names-no-scheduler
    expression: >-
      object.spec.schedulerName == 'default-scheduler'
  - name: is-not-bound
    expression: >-
      !has(object.spec.nodeName) || object.spec.nodeName == ''
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{schedulerName: 'berth'}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: berth-scheduler-name
spec:
  policyName: berth-scheduler-name
)";

Value text_value(std::string_view text) {
    Value value;
    value.kind = Value::Kind::String;
    value.text = text;
    return value;
}

Value* member(Value& map, std::string_view name) {
    for (codec::Member& one : map.members) {
        if (one.name == name) return &one.value;
    }
    return nullptr;
}

void add_label(Value& object) {
    Value& meta = *member(object, "metadata");
    if (member(meta, "labels") == nullptr) {
        Value labels;
        labels.kind = Value::Kind::Map;
        meta.members.push_back({"labels", std::move(labels)});
    }
    member(meta, "labels")->members.push_back({std::string(kPartOfLabel), text_value(kPartOf)});
}

// Wherever a text stands.
void replace_text(Value& value, std::string_view from, std::string_view to) {
    if (value.kind == Value::Kind::String && value.text == from) value.text = to;
    for (Value& item : value.items) replace_text(item, from, to);
    for (codec::Member& one : value.members) replace_text(one.value, from, to);
}

std::string text_of(const Value& map, std::initializer_list<std::string_view> path) {
    const Value* value = &map;
    for (const std::string_view name : path) {
        value = value->find(name);
        if (value == nullptr) return {};
    }
    return value->text;
}

std::string path_of(const std::string& api_version, std::string_view plural,
                    const std::string& name_space, const std::string& name) {
    const bool is_core = api_version.find('/') == std::string::npos;
    std::string path = (is_core ? "/api/" : "/apis/") + api_version + "/";
    if (!name_space.empty()) path += "namespaces/" + base::percent_encoded(name_space) + "/";
    return path + std::string(plural) + "/" + base::percent_encoded(name);
}

Object object_from(const Value& value) {
    const std::string kind = text_of(value, {"kind"});
    const std::string name = text_of(value, {"metadata", "name"});
    const std::string name_space = text_of(value, {"metadata", "namespace"});
    Object object;
    for (const Kind& known : kKnownKinds) {
        if (known.name != kind) continue;
        object.path = path_of(text_of(value, {"apiVersion"}), known.plural, name_space, name);
    }
    BERTH_CHECK(!object.path.empty(), "an object of a known kind");
    object.title = kind + " " + name;
    object.is_definition = kind == kKnownKinds[0].name;
    object.is_namespaced = !name_space.empty();
    codec::append_json(object.json, value);
    return object;
}

void add_documents(std::vector<Object>& objects, std::string_view text,
                   const InstallOptions& options) {
    static constexpr std::string_view kBetween = "\n---\n";
    for (;;) {
        const std::size_t end = text.find(kBetween);
        auto value = codec::parse_yaml(text.substr(0, end), "manifest");
        BERTH_CHECK(value.has_value(), "a manifest that can be read");
        add_label(*value);
        replace_text(*value, "IMAGE", options.image);
        objects.push_back(object_from(*value));
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + kBetween.size());
    }
}

}  // namespace

std::vector<Object> objects_of(const InstallOptions& options) {
    std::vector<Object> objects;
    for (const DeclaredNames& names : declared_kinds()) {
        const auto value = codec::parse_json(definition(names), "definition");
        BERTH_CHECK(value.has_value(), "a definition that can be read");
        objects.push_back(object_from(*value));
    }
    for (const std::string_view text : {kAccount, kRights, kReaders, kDeployment, kPolicies}) {
        add_documents(objects, text, options);
    }
    return objects;
}

}  // namespace berth::kube::install
