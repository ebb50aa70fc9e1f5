// SPDX-License-Identifier: Apache-2.0
//
// What is read of a server for an answer, under the rights of who asks? The server checks them for
// each request. What an answer cannot do without is an error that says which right is missing and
// how it is given; what it can is left out, and named in Read::unread.
//
// Errors: Forbidden, NoSuchThing, ServerUnreachable; Failed where Berth is not installed.
#pragma once

#include <string>

#include "cli/command_line/exit_code.h"
#include "kube/install/session.h"
#include "kube/people/names.h"
#include "kube/people/read.h"

namespace berth::kube::people {

// The Job or pod that is meant, and what belongs to it. Of a pod of a Job it is the Job.
cli::Outcome<objects::Uid> read_one(install::Session& session, const Asked& asked, Read& read);

// All of Berth's in a namespace, or in all of them where it is empty.
cli::Success read_namespace(install::Session& session, const std::string& name_space, Read& read);

cli::Success read_shares(install::Session& session, Read& read);

// "owner/job/urgent", for a uid; in other words where that may not be read, or is gone. Looked for
// in the namespace `near` first.
std::string name_of_uid(install::Session& session, const std::string& uid, const std::string& near);

}  // namespace berth::kube::people
