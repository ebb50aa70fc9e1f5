// SPDX-License-Identifier: Apache-2.0
//
// berth checkpointed: said inside a job, when its work so far is saved. Asks no server: it touches
// the file that the job's supervisor looks at, as any program can that knows BERTH_SAVED_FILE.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"

namespace berth::cli {
namespace {

int say_saved(Context& context, const Arguments&) {
    const char* path = ::getenv("BERTH_SAVED_FILE");
    if (path == nullptr || *path == '\0') {
        return report(context, {kFailed, "BERTH_SAVED_FILE is not set; run this inside a job",
                                "berth help checkpointed"});
    }
    const int file = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool is_touched = file >= 0 && ::futimens(file, nullptr) == 0;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (is_touched) return kDone;
    return report(context,
                  {kServerUnreachable,
                   std::string("cannot touch \"") + path + "\": " + ::strerror(error), ""});
}

}  // namespace

extern const Verb checkpointed_verb;

const Verb checkpointed_verb{.intent = Intent::Manage,
                             .name = "checkpointed",
                             .summary = "report, inside a job, that its work so far is saved",
                             .more = "  The same as: touch \"$BERTH_SAVED_FILE\"\n",
                             .run = say_saved};

}  // namespace berth::cli
