/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded before libc: the n-th operation (FAIL_AT) that puts something on disk below a
 * path with FAIL_PATH in it fails with EIO. Counted are write, fsync, rename, renameat2,
 * mkdir, symlink and opening a file to write it. With NO_EXCHANGE two names cannot be
 * exchanged, as on NFS. The n-th thread (FAIL_THREAD) cannot be started. A
 * file with STALL_PATH in its path is never opened to be written. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int is_turn(const char* path) {
  static int count;
  const char *part = getenv("FAIL_PATH"), *at = getenv("FAIL_AT");
  if (!part || !at || !strstr(path, part)) return 0;
  if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != atoi(at)) return 0;
  errno = EIO;
  return 1;
}

static int is_turn_of(int descriptor) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_turn(path);
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (is_turn_of(descriptor)) return -1;
  return REAL(ssize_t(*)(int, const void*, size_t), "write")(descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (is_turn_of(descriptor)) return -1;
  return REAL(int (*)(int), "fsync")(descriptor);
}

int rename(const char* from, const char* to) {
  if (is_turn(to)) return -1;
  return REAL(int (*)(const char*, const char*), "rename")(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) {
  if (is_turn(to)) return -1;
  if (flags != 0 && getenv("NO_EXCHANGE")) {
    errno = EINVAL;
    return -1;
  }
  return REAL(int (*)(int, const char*, int, const char*, unsigned), "renameat2")(
      from_folder, from, to_folder, to, flags);
}

int mkdir(const char* path, mode_t mode) {
  if (is_turn(path)) return -1;
  return REAL(int (*)(const char*, mode_t), "mkdir")(path, mode);
}

int symlink(const char* target, const char* path) {
  if (is_turn(path)) return -1;
  return REAL(int (*)(const char*, const char*), "symlink")(target, path);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  const int writes = (flags & (O_WRONLY | O_RDWR)) != 0;
  const char *stalled = getenv("STALL_PATH");
  if (writes && stalled && strstr(path, stalled)) pause();
  if (writes && is_turn(path)) return -1;
  return REAL(int (*)(const char*, int, ...), "open")(path, flags, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*work)(void*), void* argument) {
  static int count;
  const char* at = getenv("FAIL_THREAD");
  if (at && __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == atoi(at)) return EAGAIN;
  return REAL(int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*),
              "pthread_create")(thread, attributes, work, argument);
}
