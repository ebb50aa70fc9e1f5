// SPDX-License-Identifier: Apache-2.0
//
// How do the bytes of an attached job travel? Each task writes to pipes, or task 0 to a terminal;
// what it writes goes to its log and to the client, if there is one; what the client sends goes to
// the input of task 0. All buffers are bounded: output is read only while `wants_output` says so,
// so a slow client slows the job down as a slow terminal would.
#pragma once

#include <poll.h>

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "app/supervisor/output/log_file.h"
#include "supervision/descriptor.h"
#include "supervision/frame.h"

namespace berth::supervisor {

// The ends that a task's process gets.
struct TaskEnds {
    supervision::Descriptor input;
    supervision::Descriptor output;
    supervision::Descriptor error_output;
    std::string terminal;              // a path instead of the three
    supervision::Descriptor terminal_hold;  // keeps the terminal alive until the task has it
};

class Relay {
  public:
    using Sink = std::function<void(supervision::FrameType, std::string_view bytes, int task)>;

    // Failures: an empty result says none, else what could not be made.
    std::string open_pipes(int task, supervision::Descriptor log, TaskEnds& ends);
    std::string open_terminal(int task, supervision::Descriptor log, supervision::TerminalSize size,
                              TaskEnds& ends);

    // Appends what poll() should watch.
    void collect(std::vector<pollfd>& polls, bool wants_output) const;
    // Acts on what poll() found; `sink` may be empty.
    void serve(const std::vector<pollfd>& polls, const Sink& sink);
    // They are started anew: what they wrote and were to read by is closed, what waits for their
    // input stays.
    void forget_tasks();
    // All processes are gone: takes what is still in the pipes.
    void drain(const Sink& sink);
    bool has_output() const;

    void give_input(std::string_view bytes);
    void end_input();
    // Bytes of input taken since the last call.
    std::int64_t take_acknowledged();
    // True once, when task 0 has closed its input.
    bool take_input_closed();

    // What the tasks write goes to their logs, or is counted and said there later.
    void keep_logs(bool are_kept);

    void resize(supervision::TerminalSize size);
    // The client's stdout or stderr takes no more: the tasks learn it as they would from a pipe.
    void close_output(supervision::FrameType which);

  private:
    struct Stream {
        supervision::Descriptor source;
        supervision::FrameType type = supervision::FrameType::Output;
        int task = 0;
        LogFile* log = nullptr;
    };

    // False when the stream has ended, or has nothing for now.
    bool pump(Stream& stream, const Sink& sink);
    void push_input();
    int input_fd() const;
    void drop_input();

    std::vector<Stream> streams_;
    std::list<LogFile> logs_;
    supervision::Descriptor input_;  // a pipe to task 0
    int terminal_ = -1;  // borrowed from its stream
    std::string pending_input_;
    bool input_ends_ = false;
    bool input_closed_ = false;  // and not yet reported
    bool takes_input_ = true;
    std::int64_t acknowledged_ = 0;
};

}  // namespace berth::supervisor
