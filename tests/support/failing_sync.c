// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a server: a sync of its log fails once for each time that the file named by
// BERTH_TEST_FAIL_SYNC is made.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int file) {
    const char* flag = getenv("BERTH_TEST_FAIL_SYNC");
    char name[64];
    char path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    const ssize_t size = readlink(name, path, sizeof path - 1);
    if (flag == NULL || size < 4) return 0;
    path[size] = '\0';
    if (strcmp(path + size - 4, "-wal") != 0 || unlink(flag) != 0) return 0;
    errno = EIO;
    return 1;
}

int fsync(int file) {
    if (fails(file)) return -1;
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
    if (fails(file)) return -1;
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
