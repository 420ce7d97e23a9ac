// SPDX-License-Identifier: Apache-2.0
/*
 * A cheap stand-in for three programs. As `kubelet`, it waits to be killed; with a file `version` in
 * its directory it also tells that version, and passes each probe of preflight at once; with a file
 * `real` it becomes the kubelet that it names, for a probe. As `systemctl`, it prints a file for
 * `show`, and reports a restart to the world, with the time of its own start. A file `cost-us` in its
 * directory contains the CPU time that it spends first, like the real systemctl. As `systemd-run`, it
 * runs a command without a network, reports its end, and adds the time that it took to a file `probes`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Returns the length; 0 if the file does not exist. */
static ssize_t read_beside(const char *dir, const char *name, char *buffer, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, buffer, size - 1);
  close(file);
  buffer[length < 0 ? 0 : length] = 0;
  return length < 0 ? 0 : length;
}

/* Returns when the world has carried out the command. */
static int tell_world(const char *dir, const char *verb, const char *unit, long long started_ns) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/systemd.sock", dir);
  int link = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (link < 0 || connect(link, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  dprintf(link, "%s %s %lld\n", verb, unit, started_ns);
  char answer;
  return read(link, &answer, 1) < 0;
}

/* The value of an argument `--name=value`. */
static const char *find_value(int argc, char **argv, const char *name) {
  size_t length = strlen(name);
  for (int at = 1; at < argc; at++)
    if (strncmp(argv[at], name, length) == 0 && argv[at][length] == '=') return argv[at] + length + 1;
  return "";
}

static int be_kubelet(int argc, char **argv, const char *dir) {
  const char *kubeconfig = find_value(argc, argv, "--kubeconfig");
  int is_version = argc > 1 && strcmp(argv[1], "--version") == 0;
  int is_probe = strstr(kubeconfig, "/judge-") != NULL;
  char real[4096];
  if ((is_version || is_probe) && read_beside(dir, "real", real, sizeof real) > 0) {
    execv(real, argv);
    return 203;
  }
  if (is_version) {
    char version[64];
    /* Without a version, preflight does not take it for kubelet and uses only its own rules. */
    if (read_beside(dir, "version", version, sizeof version) > 0) printf("Kubernetes %s\n", version);
    return 0;
  }
  if (!is_probe)
    for (;;) pause();
  /* The obstacle that ends the stage: see classify.ts. */
  const char *runtime = find_value(argc, argv, "--container-runtime-endpoint");
  int is_load = strstr(kubeconfig, "/no-kubeconfig") != NULL;
  fprintf(stderr, "E1121 10:00:00.000000 1 run.go:72] \"command failed\" err=\"cannot use %s\"\n", is_load ? kubeconfig : runtime);
  return 1;
}

static int be_systemd_run(int argc, char **argv, const char *dir) {
  int at = 1;
  while (at < argc && strcmp(argv[at], "--") != 0) at++;
  if (++at >= argc) return 1;
  fprintf(stderr, "Running as unit: bench.service\n");
  long long started_ns = now_ns(CLOCK_MONOTONIC);
  pid_t child = fork();
  if (child == 0) {
    /* Only root may. */
    if (unshare(CLONE_NEWNET) != 0 && geteuid() == 0) _exit(225);
    execv(argv[at], argv + at);
    _exit(203);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
  char path[4096];
  snprintf(path, sizeof path, "%s/probes", dir);
  FILE *probes = fopen(path, "a");
  if (probes == NULL) return 1;
  fprintf(probes, "%lld\n", (now_ns(CLOCK_MONOTONIC) - started_ns) / 1000);
  fclose(probes);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  fprintf(stderr, "Finished with result: %s\n", code == 0 ? "success" : "exit-code");
  fprintf(stderr, "Main processes terminated with: code=exited, status=%d\n", code);
  return code;
}

int main(int argc, char **argv) {
  long long started_ns = now_ns(CLOCK_MONOTONIC);
  char *self = strdup(argv[0]), *self_again = strdup(argv[0]);
  const char *name = basename(self);
  char *dir = dirname(self_again);
  if (strcmp(name, "kubelet") == 0) return be_kubelet(argc, argv, dir);
  if (strcmp(name, "systemd-run") == 0) return be_systemd_run(argc, argv, dir);
  const char *verb = argc > 1 ? argv[1] : "", *unit = argv[argc - 1];
  static char text[65536];
  if (strcmp(verb, "try-restart") == 0 || strcmp(verb, "start") == 0) return tell_world(dir, verb, unit, started_ns);
  if (read_beside(dir, "cost-us", text, sizeof text) > 0) {
    long long until_ns = atoll(text) * 1000LL;
    while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns) continue;
  }
  if (strcmp(verb, "show") == 0) return write(1, text, read_beside(dir, "show.txt", text, sizeof text)) < 0;
  if (strcmp(verb, "is-system-running") == 0) return write(1, "running\n", 8) < 0;
  return 0;
}
