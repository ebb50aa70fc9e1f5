// SPDX-License-Identifier: Apache-2.0
//
// What is said on a supervisor's sockets? Frames: an eight byte header in host order (both ends
// are on one machine) and a payload. Bytes of input and output travel in pieces of kStreamFrameMax;
// all else is one message of at most kMessageMax, which is more than any limit of a job lets it
// have.
//
// A server's connection: Watch (not needed on the inherited one) is answered by Waiting, Running
// and Exited as they become true; Stop may be sent at any time. After a Stop it may answer Frozen
// and not end: its processes are kept until Resume or Stop. Park is answered by Frozen or by
// nothing, after which Waking may come. A client's connection: Attach first. Then Input and
// InputEnd, WindowSize, Signal, OutputClosed one way; Output, ErrorOutput, InputTaken, InputClosed,
// Exited the other. Input is sent on credit: at most kInputWindow bytes beyond those that
// InputTaken acknowledged, so that a job that does not read its input never holds up a Signal
// behind it. Output is held back by the socket itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::supervision {

inline constexpr std::size_t kStreamFrameMax = 64 * 1024;
inline constexpr std::size_t kMessageMax = 4 * 1024 * 1024;
inline constexpr std::size_t kInputWindow = 64 * 1024;

enum class FrameType : std::uint16_t {
    Watch = 1,  // to the supervisor, from a server
    Stop = 2,  //   StopRequest
    Running = 3,  // to a server: all tasks were started; the supervisor's process id
    Exited = 4,  //   to a server or a client: the exit line of status_file.h
    Saved = 5,  //   to a server: the job says that its work is saved
    Frozen = 6,  //   to a server: the FreezerAnswer of freezing.h; it is off its GPUs, alive
    Resume = 7,  // to the supervisor, from a server: GpuLists, where it goes on
    Park = 8,  //   off its GPUs until Resume, its processes running on
    Idle = 9,  // to a server: no call to a GPU for this many milliseconds
    Waking = 10,  //   parked, it makes one, which waits for Resume
    Note = 11,  // to the supervisor, from a server: a line for the log of its first task
    Waiting = 12,  // to a server: nothing of it runs yet, and why; it is tried again
    Attach = 16,  // to the supervisor, from a client: TerminalSize
    Input = 17,  //   bytes for task 0
    InputEnd = 18,  //   no more of them
    WindowSize = 19,  //   TerminalSize
    Signal = 20,  //   a signal number, for all tasks
    OutputClosed = 21,  //   the client's stdout (1) or stderr (2) takes no more
    Output = 32,  // to a client: bytes of a task's stdout or terminal
    ErrorOutput = 33,  //   bytes of a task's stderr
    InputTaken = 34,  //   number of bytes of input that were taken
    InputClosed = 35,  //   task 0 has closed its stdin
    Refused = 36,  //   why; the connection is then closed
    Freeze = 48,  // to the freezer, from a supervisor: FreezeRequest of freezing.h
    Thaw = 49,  //   ThawRequest
    FreezerAnswer = 50,  // to a supervisor: how that went
};

struct Frame {
    FrameType type = FrameType::Watch;
    int task = 0;
    std::string_view payload;  // valid until the reader is fed again
};

// A message that is too long is cut: it is then not understood, and nothing else is.
void append_frame(std::string& out, FrameType type, std::string_view payload = {}, int task = 0);

enum class StopKind : std::int64_t {
    Pause = 0,  // its processes may be kept, off their GPUs
    Cancel = 1,
    Restart = 2,  // it is to save and end: its next attempt goes on elsewhere
};

struct StopRequest {
    StopKind kind = StopKind::Pause;
    std::int64_t grace_ms = 0;
};

struct TerminalSize {
    int rows = 0;  // 0 = not known
    int columns = 0;
};

std::string pack(const StopRequest& request);
std::string pack(const TerminalSize& size);
std::string pack_number(std::int64_t number);
std::optional<StopRequest> unpack_stop(std::string_view payload);
std::optional<TerminalSize> unpack_size(std::string_view payload);
std::optional<std::int64_t> unpack_number(std::string_view payload);

// Cuts a byte stream into frames.
class FrameReader {
  public:
    void feed(std::string_view bytes);
    // None when no whole frame has arrived yet.
    std::optional<Frame> next();
    // The peer sent a header that no frame can have; the connection must be closed.
    bool is_broken() const { return is_broken_; }

  private:
    std::string buffer_;
    std::size_t taken_ = 0;
    bool is_broken_ = false;
};

}  // namespace berth::supervision
