// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: a process that dies, or whose disk is full, at one step of what it does to files.
//
// FAULT_UNDER: counts what changes anything below this directory, from 1. FAULT_AT: at this step FAULT says
// what happens: `kill` (SIGKILL; of a write the first half is done) or the number of an error, which all
// steps from there on meet that want room. FAULT_LOG: each step is a line in it: number, whether it wants
// room, call, and the files. To be killed at an fsync is to be killed at the step after it, which finds the
// same files: for `kill` it is no step.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int under(const char* path) {
  const char* const top = getenv("FAULT_UNDER");
  return top != NULL && strncmp(path, top, strlen(top)) == 0;
}

// Of an open file, or of what is in an open directory.
static const char* name_of(int directory, const char* path, char name[4096]) {
  char link[64];
  if (path != NULL && (path[0] == '/' || directory == AT_FDCWD)) return path;
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t n = readlink(link, name, 4000);
  if (n <= 0) return "";
  snprintf(name + n, 4096 - (size_t)n, "%s%s", path ? "/" : "", path ? path : "");
  return strstr(name, ".stderr") ? "" : name;
}

static int log_fd = -1;

// Before the process is confined; not created here, which would be a step.
__attribute__((constructor)) static void open_log(void) {
  const char* const log = getenv("FAULT_LOG");
  if (log != NULL) log_fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
}

// 0: goes on; else the error that it meets.
static int step(const char* what, const char* path, const char* to, int wants_room) {
  static int steps;
  const char* const fault = getenv("FAULT");
  const int at = getenv("FAULT_AT") ? atoi(getenv("FAULT_AT")) : 0;
  ++steps;
  if (log_fd >= 0) dprintf(log_fd, "%d %s %s %s %s\n", steps, wants_room ? "room" : "-", what, path, to);
  if (fault == NULL || at == 0 || steps < at) return 0;
  if (strcmp(fault, "kill") == 0) return steps == at ? -1 : 0;
  return wants_room ? atoi(fault) : 0;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  _exit(9);  // a router that is confined may not kill
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MEET(what, path, to, room)                \
  do {                                            \
    const int error = step(what, path, to, room); \
    if (error < 0) die();                         \
    if (error > 0) return errno = error, -1;      \
  } while (0)

static int opened(int (*next)(int, const char*, int, ...), int directory, const char* path, int flags,
                  mode_t mode) {
  char room[4096];
  const char* const name = name_of(directory, path, room);
  if ((flags & O_CREAT) && under(name)) MEET("open", name, "", 1);
  return next(directory, path, flags, mode);
}

#define MODE                           \
  mode_t mode = 0;                     \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list list;                      \
    va_start(list, flags);             \
    mode = va_arg(list, mode_t);       \
    va_end(list);                      \
  }

int open(const char* path, int flags, ...) {
  MODE return opened(NEXT(openat), AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE return opened(NEXT(openat), AT_FDCWD, path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  MODE return opened(NEXT(openat), directory, path, flags, mode);
}

ssize_t write(int fd, const void* data, size_t size) {
  char room[4096];
  const char* const name = name_of(fd, NULL, room);
  if (under(name)) {
    const int error = step("write", name, "", 1);
    if (error < 0) {
      (void)!NEXT(write)(fd, data, size / 2);
      die();
    }
    if (error > 0) return errno = error, -1;
  }
  return NEXT(write)(fd, data, size);
}
int fsync(int fd) {
  char room[4096];
  const char* const name = name_of(fd, NULL, room);
  const char* const fault = getenv("FAULT");
  if (under(name) && (fault == NULL || strcmp(fault, "kill") != 0)) MEET("fsync", name, "", 1);
  return NEXT(fsync)(fd);
}
int rename(const char* from, const char* to) {
  if (under(to)) MEET("rename", from, to, 1);
  return NEXT(rename)(from, to);
}
int mkdir(const char* path, mode_t mode) {
  if (under(path)) MEET("mkdir", path, "", 1);
  return NEXT(mkdir)(path, mode);
}
int unlink(const char* path) {
  if (under(path)) MEET("unlink", path, "", 0);
  return NEXT(unlink)(path);
}
int rmdir(const char* path) {
  if (under(path)) MEET("rmdir", path, "", 0);
  return NEXT(rmdir)(path);
}
int remove(const char* path) {
  if (under(path)) MEET("remove", path, "", 0);
  return NEXT(remove)(path);
}
int unlinkat(int directory, const char* path, int flags) {
  char room[4096];
  const char* const name = name_of(directory, path, room);
  if (under(name)) MEET("unlinkat", name, "", 0);
  return NEXT(unlinkat)(directory, path, flags);
}
