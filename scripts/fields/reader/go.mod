module kubelet-cfg-agent.io/fields/reader

go 1.24
