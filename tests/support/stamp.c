/* SPDX-License-Identifier: Apache-2.0
 *
 * When did this process begin to run? Appends its job's number and the time in nanoseconds to the
 * file named by its only argument, as its first act. Compiled by the measurements that need it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int count, char** words) {
    struct timespec now;
    char line[64];
    const char* job = getenv("BERTH_JOB_ID");
    clock_gettime(CLOCK_REALTIME, &now);
    const int size = snprintf(line, sizeof line, "%s %lld%09ld\n", job ? job : "0",
                              (long long)now.tv_sec, now.tv_nsec);
    const int file = open(count > 1 ? words[1] : "/dev/stdout", O_WRONLY | O_CREAT | O_APPEND, 0644);
    return write(file, line, (size_t)size) == size ? 0 : 1;
}
