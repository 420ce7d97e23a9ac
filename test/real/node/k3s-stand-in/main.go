// SPDX-License-Identifier: Apache-2.0
// What the agent sees of k3s, around a real kubelet and a real containerd: not k3s itself. Like
// k3s, it writes kubelet's drop-in of defaults anew at each start, starts containerd, gives kubelet
// --config-dir and what --kubelet-arg says, ends when kubelet ends, takes containerd with it, and
// hides its arguments behind a title. Unlike k3s, kubelet is a child of its process, and there is
// no API server and no network in it.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	dataDir   = "/var/lib/rancher/k3s/agent"
	configDir = dataDir + "/etc/kubelet.conf.d"
	runtimeAt = "/run/k3s/containerd"
	// Of the lab: what k3s makes of its own settings.
	settings = "/etc/rancher/k3s/kubelet-defaults.json"
	// Carries the arguments past the title.
	hidden = "K3S_STAND_IN_ARGUMENTS"
)

func main() {
	// A child ends with the thread that started it.
	runtime.LockOSThread()
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		version, err := exec.Command("/usr/bin/kubelet", "--version").Output()
		check(err)
		fmt.Printf("k3s version %s+k3s1 (5ca1ab1e)\ngo version %s\n", strings.TrimPrefix(strings.TrimSpace(string(version)), "Kubernetes "), runtime.Version())
		return
	}
	given, isTitled := os.LookupEnv(hidden)
	if !isTitled {
		check(syscall.Exec("/proc/self/exe", []string{os.Args[0] + " agent"}, append(os.Environ(), hidden+"="+strings.Join(os.Args[1:], "\n"))))
	}
	check(os.Unsetenv(hidden))
	check(agent(strings.Split(given, "\n")))
}

func agent(given []string) error {
	defaults, err := os.ReadFile(settings)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(configDir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(configDir, "00-k3s-defaults.conf"), defaults, 0o600); err != nil {
		return err
	}
	socket := runtimeAt + "/containerd.sock"
	containerd := start("/usr/bin/containerd", "-c", "/etc/containerd/config.toml", "-a", socket, "--state", runtimeAt, "--root", dataDir+"/containerd")
	if err := await(socket); err != nil {
		return err
	}
	args := []string{"--config-dir=" + configDir, "--kubeconfig=" + dataDir + "/kubelet.kubeconfig", "--read-only-port=0"}
	for _, word := range given {
		if value, ok := strings.CutPrefix(word, "--kubelet-arg="); ok {
			args = append(args, "--"+value)
		}
	}
	kubelet := start("/usr/bin/kubelet", args...)
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM)
	exited := make(chan error, 1)
	go func() { exited <- kubelet.Wait() }()
	select {
	case err := <-exited:
		return fmt.Errorf("kubelet exited: %w", err)
	case <-stopped:
		_ = kubelet.Process.Signal(syscall.SIGTERM)
		<-exited
		_ = containerd.Process.Signal(syscall.SIGTERM)
		_, _ = containerd.Process.Wait()
		return nil
	}
}

func start(program string, args ...string) *exec.Cmd {
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(command.Start())
	return command
}

func await(socket string) error {
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var connection net.Conn
		if connection, err = net.Dial("unix", socket); err == nil {
			return connection.Close()
		}
	}
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "time=%q level=error msg=%q\n", time.Now().Format(time.RFC3339), err)
		os.Exit(1)
	}
}
