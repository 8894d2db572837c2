// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: a process that dies, or whose disk is full, at one step of what it does to files.
//
// FAULT_UNDER: counts what changes anything below this directory, from 1. FAULT_AT: at this step FAULT says
// what happens: `kill` (SIGKILL; of a write the first half is done) or the number of an error, which all
// steps from there on meet that want room. FAULT_LOG: each step is a line in it.
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

static int under_at(int directory, const char* path) {
  char link[64], name[4096];
  if (path != NULL && (path[0] == '/' || directory == AT_FDCWD)) return under(path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (n <= 0) return 0;
  name[n] = 0;
  return under(name) && strstr(name, ".stderr") == NULL;
}

// 0: goes on; else the error that it meets.
static int step(const char* what, const char* path, int wants_room) {
  static int steps;
  const char* const fault = getenv("FAULT");
  const char* const log = getenv("FAULT_LOG");
  const int at = getenv("FAULT_AT") ? atoi(getenv("FAULT_AT")) : 0;
  ++steps;
  if (log != NULL) {
    const int fd = open(log, O_WRONLY | O_APPEND);  // not created here: that would be a step
    if (fd >= 0)
      dprintf(fd, "%d %s %s %s\n", steps, wants_room ? "room" : "-", what, path ? path : ""), close(fd);
  }
  if (fault == NULL || at == 0 || steps < at) return 0;
  if (strcmp(fault, "kill") == 0) return steps == at ? -1 : 0;
  return wants_room ? atoi(fault) : 0;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  _exit(9);  // a router that is confined may not kill
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MEET(what, path, room)                \
  do {                                        \
    const int error = step(what, path, room); \
    if (error < 0) die();                     \
    if (error > 0) return errno = error, -1;  \
  } while (0)

static int opened(int (*next)(int, const char*, int, ...), int directory, const char* path, int flags,
                  mode_t mode) {
  if ((flags & O_CREAT) && under_at(directory, path)) MEET("open", path, 1);
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
  if (under_at(fd, NULL)) {
    const int error = step("write", NULL, 1);
    if (error < 0) {
      (void)!NEXT(write)(fd, data, size / 2);
      die();
    }
    if (error > 0) return errno = error, -1;
  }
  return NEXT(write)(fd, data, size);
}
int fsync(int fd) {
  if (under_at(fd, NULL)) MEET("fsync", NULL, 1);
  return NEXT(fsync)(fd);
}
int rename(const char* from, const char* to) {
  if (under(to)) MEET("rename", to, 1);
  return NEXT(rename)(from, to);
}
int mkdir(const char* path, mode_t mode) {
  if (under(path)) MEET("mkdir", path, 1);
  return NEXT(mkdir)(path, mode);
}
int unlink(const char* path) {
  if (under(path)) MEET("unlink", path, 0);
  return NEXT(unlink)(path);
}
int rmdir(const char* path) {
  if (under(path)) MEET("rmdir", path, 0);
  return NEXT(rmdir)(path);
}
int remove(const char* path) {
  if (under(path)) MEET("remove", path, 0);
  return NEXT(remove)(path);
}
int unlinkat(int directory, const char* path, int flags) {
  if (under_at(directory, path)) MEET("unlinkat", path, 0);
  return NEXT(unlinkat)(directory, path, flags);
}
