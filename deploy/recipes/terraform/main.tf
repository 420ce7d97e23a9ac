# SPDX-License-Identifier: Apache-2.0
# A part for the nodes of a fixed pool, and the label that assigns it. Nodes that an autoscaler makes
# are not in the state: assign by the agent's default or selector there.
terraform {
  required_providers {
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = ">= 3.2"
    }
  }
}

provider "kubernetes" {
  # What the kubectl plugin writes. Without this, the next apply takes a pause or a rollout away.
  ignore_annotations = [
    "^kubelet-cfg-agent\\.io\\/(paused|previous-version|written-version|rollout.*)$",
  ]
}

variable "nodes" {
  description = "names of the Nodes with GPUs"
  type        = set(string)
}

resource "kubernetes_config_map_v1" "gpu_nodes" {
  metadata {
    name      = "gpu-nodes"
    namespace = "kube-system"
    annotations = {
      "kubelet-cfg-agent.io/base" = "local"
    }
  }
  data = {
    kubelet = file("${path.module}/gpu-nodes.yaml")
  }
}

resource "kubernetes_labels" "gpu_nodes" {
  for_each    = var.nodes
  api_version = "v1"
  kind        = "Node"
  metadata {
    name = each.value
  }
  labels = {
    "kubelet-cfg-agent.node-restriction.kubernetes.io/config" = kubernetes_config_map_v1.gpu_nodes.metadata[0].name
  }
}
