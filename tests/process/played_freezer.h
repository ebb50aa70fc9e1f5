// SPDX-License-Identifier: Apache-2.0
//
// A freezer that hears what supervisors ask and says what the test wants.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "runtime/sockets.h"
#include "supervision/descriptor.h"
#include "supervision/frame.h"
#include "supervision/freezing.h"

namespace berth::process_test {

class Freezer {
  public:
    // Listens in that folder.
    explicit Freezer(const std::string& folder)
        : folder_(runtime::Folder::make(folder, runtime::Openness::Private).value()),
          listener_(runtime::listen_at(folder_, "freezer", runtime::SocketKind::Stream, 0600)
                        .value()
                        .socket) {}
    std::string socket() const { return folder_.path() + "/freezer"; }

    // What is asked next; none as long as nothing is.
    bool is_asked(supervision::FrameType type) {
        supervision::Descriptor caller(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (caller.is_open()) {
            caller_ = std::move(caller);
            reader_ = {};
        }
        char buffer[4096];
        const ssize_t size = ::recv(caller_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (size > 0) reader_.feed({buffer, static_cast<std::size_t>(size)});
        const auto frame = reader_.next();
        if (!frame || frame->type != type) return false;
        if (type == supervision::FrameType::Thaw)
            moves = supervision::unpack_thaw(frame->payload)->moves;
        return true;
    }
    void answer(supervision::FreezerOutcome outcome, const std::string& reason = {}) {
        std::string out;
        supervision::append_frame(out, supervision::FrameType::FreezerAnswer,
                                  pack(supervision::FreezerAnswer{outcome, reason, 5, 7}));
        ::send(caller_.get(), out.data(), out.size(), MSG_NOSIGNAL);
    }
    void hang_up() { caller_.reset(); }

    std::vector<supervision::GpuMove> moves;  // of the last thaw

  private:
    runtime::Folder folder_;
    supervision::Descriptor listener_;
    supervision::Descriptor caller_;
    supervision::FrameReader reader_;
};

}  // namespace berth::process_test
