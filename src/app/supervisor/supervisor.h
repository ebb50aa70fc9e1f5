// SPDX-License-Identifier: Apache-2.0
//
// How does one attempt of a job live and end, whatever happens to the server meanwhile?
// Guarantees:
// 1. "starting" is in the status file before any process of the user's runs, and "exit" after the
//    last one is gone: an attempt is never run twice unknowingly and no exit code is lost, also
//    when the disk is full: it starts, and is gone, only when it could write so. While the machine
//    lacks what a start takes (room, processes, memory) nothing of the gang runs; it is tried
//    again.
// 2. A task that fails ends the gang; the first failure gives the exit code.
// 3. Once asked to stop, the attempt is over by the deadline, with or without a server.
// 4. No process of the attempt outlives its "exit" line.
// 5. A pause that is answered by freezing (vgpu/freezer) keeps all its processes, off their GPUs,
//    until it is resumed or ended; one that cannot be is answered by a signal, as any other.
// 6. Memory of a GPU that it borrowed is given back in the same way when its arbiter orders it, and
//    it comes back by itself when the arbiter has room.
// 7. Parked, it is off its GPUs and its processes run on, which a server learns when one of them
//    makes its next call to a GPU; where it cannot be parked, nothing has happened.
// It sleeps in one poll and does nothing while nothing happens.
#pragma once

#include <poll.h>
#include <signal.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "app/supervisor/output/log_limit.h"
#include "app/supervisor/output/relay.h"
#include "app/supervisor/processes/spawn.h"
#include "app/supervisor/talk/connection.h"
#include "app/supervisor/talk/listening.h"
#include "app/supervisor/talk/status_lines.h"
#include "supervision/freezing.h"
#include "supervision/order.h"
#include "supervision/status_file.h"

namespace berth::supervisor {

class Supervisor {
  public:
    Supervisor(supervision::Order order, supervision::Descriptor status,
               supervision::Descriptor channel);

    // Returns when the attempt is over and every listener was informed.
    void run();

  private:
    struct Task {
        pid_t pid = -1;
        bool is_running = false;
    };
    enum class Phase {
        Waiting,  // for a client, or for what the machine lacks
        Clearing,  // what was started of the gang ends, since the machine lacks the rest
        Running,
        Ended
    };

    // supervisor.cc: the course of an attempt
    void start_tasks();
    std::string lack_of_room();
    Spawned start_task(std::size_t index, int port);
    Spawned start_attached_task(const SpawnPlan& plan, std::size_t index,
                                supervision::Descriptor log);
    void fail_to_start(std::size_t index, const Spawned& spawned);
    void wait_for_room(const std::string& lack);
    void wait_or_end();
    void reap();
    void note_task_end(std::size_t index, int wait_status);
    void consider_end();
    void end(supervision::ExitReport report);
    void on_deadline();

    // stopping.cc: how it is asked to stop and how it is ended
    void stop(supervision::StopRequest request);
    void ask_all(int signal);
    bool is_saving();
    void kill_all();
    supervision::ExitReport describe_end() const;
    static supervision::ExitReport never_started();

    // freezing.cc: how it comes off its GPUs alive, and back
    bool serve_frozen(const supervision::StopRequest& request);
    void park();
    void resume(supervision::GpuLists place);
    void take_answer(const supervision::FreezerAnswer& answer);
    void on_freezer_deadline();
    enum class Hold { None, Freezing, Frozen, Thawing };
    void ask_freezer(Hold hold, std::int64_t time_ms);
    void give_up_freezing();
    void send_to_freezer();
    std::vector<supervision::GpuMove> moves_to(const supervision::GpuLists& place) const;
    void note_other_gpus();
    void lose(const std::string& why);

    // staying.cc: how it gives back borrowed GPU memory
    void reach_arbiter();
    void serve_arbiter();
    void report_stay();
    void leave();
    void come_back();
    void end_for_others();
    void note(const std::string& text);

    // looking.cc: what it looks at now and then, on disk
    void look_around();
    bool keeps_writing() const;
    void limit_logs();

    // talking.cc: who listens
    void wait_and_serve();
    void accept_peer();
    void serve(Connection& peer);
    void handle(Connection& peer, const supervision::Frame& frame);
    void attach(Connection& peer, supervision::TerminalSize size);
    void drop_lost_peers();
    bool wants_output();
    void listen();
    Connection* client();
    Relay::Sink sink();
    void tell(Role role, supervision::FrameType type, std::string_view payload);
    void write_status(std::string_view line);
    void write_status_more();

    sigset_t sleep_mask_;  // while it sleeps, ends of children are let in
    supervision::Order order_;
    StatusLines status_;
    Listening listening_;
    std::list<Connection> peers_;
    supervision::Descriptor arbiter_;
    Relay relay_;
    supervision::TerminalSize terminal_size_;

    Phase phase_ = Phase::Running;
    std::vector<Task> tasks_;
    std::size_t running_tasks_ = 0;
    bool has_children_ = false;
    bool was_running_ = false;
    std::string lack_;  // of the machine, for which it was not started
    std::string exit_text_;  // the exit line, once it has ended

    std::optional<supervision::ExitReport> first_failure_;
    bool stop_asked_ = false;
    bool asked_to_pause_ = false;  // the last stop: it may be given more time to save
    std::int64_t more_time_ms_ = 0;  // that it was given
    bool has_ample_room_ = true;  // on the disk of its logs
    std::int64_t saved_at_ns_ = 0;  // of the file by which the job says so; 0 = not there
    int stop_signal_ = 0;
    std::vector<pid_t> saving_;  // handled the signal and have not ended since
    std::string stop_note_;  // no process handled the signal
    bool killed_ = false;
    bool is_killing_ = false;
    Hold hold_ = Hold::None;
    supervision::GpuLists place_;  // where it goes while it is put back
    std::string frozen_;  // the freezer's answer, for servers that come later
    std::optional<supervision::StopRequest> asked_meanwhile_;  // while the freezer is at work
    bool is_parked_ = false;  // off its GPUs, or about to be, with its processes running on
    bool is_waking_ = false;  // ... and one of them makes a call
    bool is_lent_ = false;  // off its GPUs, or about to be, for others' memory
    bool wants_back_ = false;  // it was resumed and waits for its arbiter
    std::string refusal_;  // why it was not frozen
    std::string lent_note_;  // it ends to give back borrowed memory
    std::string end_note_;  // why it was ended, or why it is not yet put back
    bool was_freezer_reached_ = false;
    std::int64_t freezer_began_ = 0;
    // Milliseconds on the monotonic clock; none = not awaited.
    std::optional<std::int64_t> attach_deadline_;
    std::optional<std::int64_t> look_deadline_;
    std::optional<std::int64_t> stop_deadline_;
    std::optional<std::int64_t> stall_deadline_;  // of a client that holds up the saving
    std::optional<std::int64_t> gang_deadline_;  // a task failed, the others were asked to end
    std::optional<std::int64_t> leftover_deadline_;  // all tasks ended, something still runs
    std::optional<std::int64_t> freezer_deadline_;  // of its answer
    std::optional<std::int64_t> ask_again_;  // it was not reached, or had no room
    std::optional<std::int64_t> reach_again_;  // the arbiter is not there
    std::optional<std::int64_t> listen_again_;  // it could not
    std::optional<std::int64_t> write_again_;  // the status, which the disk did not take
    std::optional<std::int64_t> kill_again_;
    std::int64_t kill_pause_ms_ = 10;
};

// How often it looks at its files.
inline constexpr std::int64_t kLookEveryMs = 2'000;
inline constexpr std::int64_t kLookOftenMs = 200;  // on a disk that is almost full

std::int64_t monotonic_ms();

// Blocks SIGCHLD and SIGTERM but for the mask it returns, under which poll() sleeps: they are
// noted between two steps, never within one.
sigset_t take_signals();

}  // namespace berth::supervisor
