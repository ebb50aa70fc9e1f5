// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/tenants/tenant.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <new>
#include <optional>

#include "base/quantity.h"
#include "vgpu/ledger/segment.h"

namespace berth::vgpu::arbiter {
namespace {

constexpr std::int64_t kLookWhileMeasured = 10'000'000;

base::Error unavailable(const char* what) {
    return {base::ErrorCode::Unavailable, std::string(what) + ": " + ::strerror(errno)};
}

const char* name_of(ledger::Gate gate) {
    switch (gate) {
        case ledger::Gate::open: return "open";
        case ledger::Gate::granted: return "granted";
        case ledger::Gate::closed: return "closed";
        case ledger::Gate::turn: return "turn";
    }
    return "?";
}

ledger::Gate gate_for(windows::Right right) {
    switch (right) {
        case windows::Right::open: return ledger::Gate::open;
        case windows::Right::granted: return ledger::Gate::granted;
        case windows::Right::closed: return ledger::Gate::closed;
        case windows::Right::turn: return ledger::Gate::turn;
    }
    return ledger::Gate::open;
}

const char* name_of(lending::Where where) {
    switch (where) {
        case lending::Where::here: return "here";
        case lending::Where::leaving: return "leaving";
        case lending::Where::off: return "off";
        case lending::Where::away: return "away";
        case lending::Where::returning: return "returning";
    }
    return "?";
}

std::string text_of_limit(std::uint64_t bytes) {
    return bytes == ledger::kNoLimit ? "none" : std::to_string(bytes);
}

std::string text_of_part(std::int32_t thousandths) {
    return thousandths < 0 ? "none" : base::format_thousandths(thousandths);
}

std::string text_of(const Profile& profile, std::optional<std::int32_t> lately) {
    std::string text = " iterations=" + std::to_string(profile.iterations);
    text += " iteration_us=" + std::to_string(profile.iteration_ns / 1000);
    text += " launches=" + std::to_string(profile.launches);
    text += " persistent=" + std::to_string(profile.persistent);
    text += " peak=" + std::to_string(profile.peak);
    text += " highest=" + std::to_string(profile.highest);
    text += " device_share=" + text_of_part(profile.device_share);
    text += " lately=" + text_of_part(lately.value_or(-1));
    return text;
}

std::string text_of(const windows::Claim& claim) {
    std::string text = " share=" + base::format_thousandths(claim.share);
    text += " cap=" + base::format_thousandths(claim.cap);
    text += " weight=" + std::to_string(claim.weight);
    return text + " priority=" + std::to_string(claim.priority);
}

// As the order says; what it does not say stays.
base::Result<windows::Claim> changed(windows::Claim claim, const Order& order,
                                     const std::string& name) {
    claim.share = order.share.value_or(claim.share);
    claim.cap = order.cap.value_or(claim.cap);
    if (claim.share > claim.cap)
        return base::invalid("tenant \"" + name + "\": share " +
                             base::format_thousandths(claim.share) + " is above its cap " +
                             base::format_thousandths(claim.cap) + "; raise cap or lower share");
    claim.weight = order.weight.value_or(claim.weight);
    claim.priority = order.priority.value_or(claim.priority);
    return claim;
}

struct MemoryTerms {
    std::uint64_t request = 0;
    std::uint64_t shown = 0;
    std::uint64_t limit = 0;
};

MemoryTerms memory_of(const ledger::GpuTerms& terms) {
    return {terms.request_bytes, terms.shown_bytes, terms.limit_bytes};
}

void put(const MemoryTerms& memory, ledger::GpuTerms& terms) {
    terms.request_bytes = memory.request;
    terms.shown_bytes = memory.shown;
    terms.limit_bytes = memory.limit;
}

tl::unexpected<base::Error> in_use(const std::string& name, const std::string& gpu,
                                   std::uint64_t bytes) {
    return base::fail(
        base::ErrorCode::Conflict,
        "tenant \"" + name + "\" uses " + std::to_string(bytes) + " bytes of GPU \"" + gpu + "\"");
}

bool lingers(const std::pair<const std::uint64_t, Member>& entry) {
    const Member::State state = entry.second.state;
    return state == Member::State::dead || state == Member::State::hung_up;
}

std::string pids_of(const std::map<std::uint64_t, Member>& members) {
    std::string pids;
    for (const auto& [id, member] : members)
        if (member.state != Member::State::guest && member.peer.pid != 0)
            pids += (pids.empty() ? "" : ",") + std::to_string(member.peer.pid);
    return pids.empty() ? "none" : pids;
}

}  // namespace

base::Result<std::unique_ptr<Tenant>> Tenant::make(const Order& order) {
    std::unique_ptr<Tenant> tenant(new Tenant);
    tenant->name_ = order.name;
    tenant->rotation_ = order.rotation;
    tenant->uid_ = ::geteuid();
    const auto account =
        ledger::create_segment("berth-account", sizeof(ledger::Account), ledger::Writer::everyone);
    if (account.fd < 0) return tl::unexpected(unavailable("cannot make an account"));
    tenant->account_fd_ = account.fd;
    // A new segment is all zeros, as every word of it begins. A page that was never written takes
    // no memory: of up to 1.5 MB it has the lines of its GPUs and the slots that were handed out.
    tenant->account_ = static_cast<ledger::Account*>(account.at);
    const auto terms =
        ledger::create_segment("berth-terms", sizeof(ledger::Terms), ledger::Writer::creator);
    if (terms.fd < 0) return tl::unexpected(unavailable("cannot make the terms"));
    tenant->terms_fd_ = terms.fd;
    tenant->terms_ = new (terms.at) ledger::Terms;
    for (std::uint32_t gpu = 0; gpu < order.gpus.size(); ++gpu) {
        if (!ledger::prepare(tenant->account_->lines[gpu]))
            return tl::unexpected(unavailable("cannot make a line"));
        const std::string& uuid = order.gpus[gpu].uuid;
        tenant->gpus_.push_back(uuid);
        ::memcpy(tenant->terms_->gpus[gpu].uuid, uuid.c_str(), uuid.size() + 1);
        tenant->terms_->gpus[gpu].in_rotation = order.rotation.empty() ? 0 : 1;
        tenant->set_memory(gpu, ledger::kNoLimit, ledger::kNoLimit);
        tenant->seen_.emplace_back();
        tenant->set_ahead(gpu, windows::Pace{}.ahead);
    }
    tenant->terms_->gpu_count = static_cast<std::uint32_t>(order.gpus.size());
    tenant->terms_->mark = ledger::kTermsMark;
    tenant->account_->mark = ledger::kAccountMark;
    BERTH_TRY_VOID(tenant->change(order));
    return tenant;
}

Tenant::~Tenant() {
    if (account_ != nullptr) ledger::unmap_segment(account_, sizeof(ledger::Account));
    if (terms_ != nullptr) ledger::unmap_segment(terms_, sizeof(ledger::Terms));
    for (const int fd : {account_fd_, terms_fd_})
        if (fd >= 0) ::close(fd);
}

base::Status Tenant::change(const Order& order) {
    const auto index_of = [this](const std::string& uuid) {
        return std::find(gpus_.begin(), gpus_.end(), uuid) - gpus_.begin();
    };
    for (const auto* list : {&order.gpus, &order.escaped})
        for (const GpuWish& gpu : *list)
            if (static_cast<std::size_t>(index_of(gpu.uuid)) == gpus_.size())
                return base::invalid("tenant \"" + name_ + "\" has no GPU \"" + gpu.uuid +
                                     "\"; drop it first to give it others");
    if (order.rotation != rotation_ && !order.rotation.empty())
        return base::invalid("tenant \"" + name_ + "\" is in rotation " +
                             (rotation_.empty() ? "none" : '"' + rotation_ + '"') +
                             "; drop it first to put it into another");
    BERTH_TRY(claim, changed(claim_, order, name_));
    claim_ = claim;
    uid_ = order.uid.value_or(uid_);
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        ledger::GpuTerms& terms = terms_->gpus[gpu];
        if (order.memory) set_memory(gpu, *order.memory, *order.memory);
        if (order.context) terms.context_bytes = *order.context;
        if (order.managed) terms.managed = *order.managed ? 1 : 0;
    }
    for (const GpuWish& gpu : order.gpus)
        if (gpu.memory)
            set_memory(static_cast<std::uint32_t>(index_of(gpu.uuid)), *gpu.memory,
                       gpu.burst.value_or(*gpu.memory));
    for (const GpuWish& gpu : order.escaped) {
        const auto index = static_cast<std::uint32_t>(index_of(gpu.uuid));
        seen_[index].escaped = gpu.memory.value_or(0);
        put_uncounted(index);
    }
    calls.silence_reported_after = order.park_ns.value_or(calls.silence_reported_after);
    rotation_claim_.limit = limit(0);
    rotation_claim_.weight = claim.weight;
    rotation_claim_.priority = claim.priority;
    rotation_claim_.persistent = order.persistent.value_or(rotation_claim_.persistent);
    rotation_claim_.peak = order.peak.value_or(rotation_claim_.peak);
    rotation_claim_.expected_ns = order.expected_ns.value_or(rotation_claim_.expected_ns);
    return {};
}

// In a rotation a turn sets the limit. A tenant whose terms stay the same keeps what it has
// borrowed or lent.
void Tenant::set_memory(std::uint32_t gpu, std::uint64_t request, std::uint64_t burst) {
    ledger::GpuTerms& terms = terms_->gpus[gpu];
    if (terms.request_bytes == request && terms.shown_bytes == burst) return;
    terms.request_bytes = request;
    terms.shown_bytes = burst;
    if (rotation_.empty()) terms.limit_bytes = request;
}

// As who allocates: first the new limit, then a look at what is charged. So of both one sees the
// other, and no more is in use than what it is left with.
base::Status Tenant::narrow(const Order& order) {
    std::vector<std::pair<ledger::GpuTerms*, MemoryTerms>> before;
    for (const GpuWish& wish : order.gpus) {
        const auto found = std::ranges::find(gpus_, wish.uuid);
        if (found == gpus_.end() || !wish.memory) continue;
        const auto gpu = static_cast<std::uint32_t>(found - gpus_.begin());
        const std::uint64_t most = wish.burst.value_or(*wish.memory);
        if (most >= limit(gpu)) continue;
        before.emplace_back(&terms_->gpus[gpu], memory_of(terms_->gpus[gpu]));
        set_memory(gpu, std::min(*wish.memory, before.back().second.request), most);
        const std::uint64_t used = ledger::charged(place(gpu));
        if (used <= most) continue;
        for (const auto& [terms, memory] : before) put(memory, *terms);
        return in_use(name_, wish.uuid, used);
    }
    return {};
}

void Tenant::rehome(const std::vector<GpuWish>& gpus) {
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        gpus_[gpu] = gpus[gpu].uuid;
        ::memcpy(terms_->gpus[gpu].uuid, gpus_[gpu].c_str(), gpus_[gpu].size() + 1);
    }
}

lending::Tenant Tenant::look_at_loan(std::uint32_t gpu) const {
    const ledger::GpuTerms& terms = terms_->gpus[gpu];
    lending::Tenant sight;
    sight.request = terms.request_bytes;
    sight.burst = terms.shown_bytes;
    sight.limit = terms.limit_bytes;
    sight.where = whereabouts.where;
    sight.since = whereabouts.since;
    sight.times = whereabouts.times;
    // While its processes are still coming back it may hold anything that it ever could.
    if (settles_at != 0 && whereabouts.where == lending::Where::here) {
        sight.limit = sight.charged = sight.burst;
        return sight;
    }
    sight.can_leave = whereabouts.supervisor.is_open();
    sight.charged = believed_charge(gpu);
    // Halted processes have not come back to an arbiter that was started anew.
    if (members.empty() && sight.where == lending::Where::off) sight.charged = whereabouts.bytes;
    for (std::uint32_t slot = 0; slot < terms.slots_end; ++slot)
        if (taken_[slot])
            sight.asked += std::min(account_->lines[gpu].slots[slot].asked.load(), sight.burst);
    return sight;
}

void Tenant::grant(std::uint32_t gpu, const lending::Tenant& seen,
                   const lending::Decision& decision) {
    if (settles_at != 0) return;
    ledger::GpuTerms& terms = terms_->gpus[gpu];
    terms.limit_bytes = decision.limit;
    if (seen.asked == 0 || !decision.is_final) return;
    ++terms.answers;
    ::syscall(SYS_futex, &terms.answers, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Tenant::order_move(ledger::Move move, std::int64_t idle_ns) const {
    const std::int64_t idle_ms = std::min<std::int64_t>(idle_ns / 1'000'000, UINT32_MAX);
    const ledger::MoveOrder order{move, static_cast<std::uint32_t>(idle_ms)};
    const int socket = whereabouts.supervisor.get();
    return whereabouts.supervisor.is_open() &&
           ::send(socket, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof order;
}

bool Tenant::has_called() const {
    for (std::uint32_t slot = 0; slot < terms_->gpus[0].slots_end; ++slot) {
        const ledger::Slot& words = account_->lines[0].slots[slot];
        if (taken_[slot] && (words.called != 0 || words.in_call != 0)) return true;
    }
    return false;
}

void Tenant::forget_calls() {
    for (std::uint32_t slot = 0; slot < terms_->gpus[0].slots_end; ++slot)
        account_->lines[0].slots[slot].called = 0;
}

void Tenant::set_off(bool is_off) {
    if ((terms_->is_off.exchange(is_off ? 1 : 0) != 0) == is_off) return;
    ::syscall(SYS_futex, &terms_->is_off, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Tenant::settle(bool settling) {
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu)
        terms_->gpus[gpu].settling = settling ? 1 : 0;
}

std::uint32_t Tenant::take_slot(pid_t pid) {
    const auto free = std::find(taken_.begin(), taken_.end(), false);
    const auto slot = static_cast<std::uint32_t>(free - taken_.begin());
    if (slot == ledger::kSlotsMax) return slot;
    taken_[slot] = true;
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        // Before the process knows its slot, every process that adds up slots must look at it.
        auto& end = terms_->gpus[gpu].slots_end;
        end = std::max(end.load(), slot + 1);
        ledger::Slot& words = account_->lines[gpu].slots[slot];
        words.pid = static_cast<std::uint32_t>(pid);
        seen_[gpu].time.begin(slot, words);
        words.highest = words.high = words.persistent = words.peak = 0;
        words.launches = 0;
        words.called = words.in_call = 0;
    }
    return slot;
}

void Tenant::free_slot(std::uint32_t slot) {
    silence(slot);
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        look_at_iterations(gpu);
        seen_[gpu].profiler.forget(slot);
        account_->lines[gpu].slots[slot].charged = 0;
        account_->lines[gpu].slots[slot].pid = 0;
    }
    taken_[slot] = false;
}

void Tenant::silence(std::uint32_t slot) {
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        account_->lines[gpu].slots[slot].waiting = 0;
        account_->lines[gpu].slots[slot].busy_since = 0;
        account_->lines[gpu].slots[slot].inside = 0;
        account_->lines[gpu].slots[slot].asked = 0;
        account_->lines[gpu].slots[slot].asking = 0;
        account_->lines[gpu].slots[slot].in_call = 0;
    }
}

void Tenant::look_at_iterations(std::uint32_t gpu) {
    Seen& seen = seen_[gpu];
    for (std::uint32_t slot = 0; slot < terms_->gpus[gpu].slots_end; ++slot)
        if (taken_[slot]) seen.profiler.look(slot, account_->lines[gpu].slots[slot], seen.phase);
}

std::int64_t Tenant::let(std::uint32_t gpu, windows::Right right, std::int64_t now) {
    Seen& seen = seen_[gpu];
    const bool is_alone = right == windows::Right::open;
    const bool is_measured = is_alone && seen.profiler.measures(now);
    seen.phase = Profiler::Phase::contended;
    if (is_alone) seen.phase = is_measured ? Profiler::Phase::measured : Profiler::Phase::alone;
    set_gate(gpu, is_measured ? windows::Right::granted : right);
    if (!is_alone) return windows::Windows::kNever;
    return is_measured ? now + kLookWhileMeasured : seen.profiler.measures_next();
}

windows::Sight Tenant::look(std::uint32_t gpu, std::int64_t now) {
    const windows::Sight sight = seen_[gpu].time.look(place(gpu), taken_, now);
    look_at_iterations(gpu);
    return sight;
}

void Tenant::set_gate(std::uint32_t gpu, windows::Right right) {
    put_gate(gpu, gate_for(right), true);
}

void Tenant::set_ahead(std::uint32_t gpu, std::int64_t ns) {
    terms_->gpus[gpu].ahead_us = static_cast<std::uint32_t>(ns / 1000);
}

void Tenant::put_gate(std::uint32_t gpu, ledger::Gate wanted, bool is_new_turn) {
    auto& gate = terms_->gpus[gpu].gate;
    const std::uint32_t word = gate;
    if (ledger::gate_of(word) == wanted && !(wanted == ledger::Gate::turn && is_new_turn)) return;
    if (ledger::gate_of(word) == ledger::Gate::open) ++terms_->gated;
    gate = ((word & ~3U) + (is_new_turn ? 4 : 0)) | static_cast<std::uint32_t>(wanted);
    if (wanted == ledger::Gate::open) --terms_->gated;
    ::syscall(SYS_futex, &gate, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

windows::RotationSight Tenant::look_in_turn(std::uint32_t gpu, std::int64_t now) {
    windows::RotationSight sight;
    sight.work = look(gpu, now);
    bool iterates = false;
    for (std::uint32_t slot = 0; slot < terms_->gpus[gpu].slots_end; ++slot) {
        const ledger::Slot& words = account_->lines[gpu].slots[slot];
        if (!taken_[slot]) continue;
        sight.inside = sight.inside || words.inside != 0;
        iterates = iterates || words.launches != 0;
        sight.persistent += std::min(words.persistent.load(), ledger::kNoLimit);
        sight.peak += std::min(words.peak.load(), ledger::kNoLimit);
    }
    if (iterates) sight.iterations = seen_[gpu].profiler.profile().iterations;
    sight.is_measured = seen_[gpu].profiler.knows_alone();
    sight.charged = believed_charge(gpu);
    return sight;
}

std::int64_t Tenant::let_in_turn(std::uint32_t gpu, const windows::Turn& turn, std::int64_t now) {
    Seen& seen = seen_[gpu];
    ledger::GpuTerms& terms = terms_->gpus[gpu];
    if (turn.right == windows::Right::open) {
        terms.limit_bytes = turn.limit;
        return let(gpu, turn.right, now);
    }
    seen.phase = turn.is_alone ? Profiler::Phase::measured : Profiler::Phase::contended;
    if (turn.right == windows::Right::closed) set_gate(gpu, turn.right);
    terms.limit_bytes = turn.limit;
    if (turn.right == windows::Right::closed) return windows::Windows::kNever;
    // What began under a turn that was not asked for each iteration is that turn's iteration.
    const auto before = ledger::gate_of(terms.gate);
    const bool goes_on = turn.grant == seen.grant &&
                         (before == ledger::Gate::granted || before == ledger::Gate::turn);
    put_gate(gpu, gate_for(turn.right), !goes_on);
    seen.grant = turn.grant;
    return windows::Windows::kNever;
}

std::uint64_t Tenant::counted(std::uint32_t gpu) const {
    const std::uint64_t all = ledger::charged(place(gpu));
    return all - std::min<std::uint64_t>(all, terms_->gpus[gpu].uncounted_bytes);
}

bool Tenant::set_uncounted(std::uint32_t gpu, std::uint64_t bytes) {
    seen_[gpu].uncounted = terms_->gpus[gpu].managed != 0 ? 0 : std::min(bytes, ledger::kNoLimit);
    return put_uncounted(gpu);
}

bool Tenant::put_uncounted(std::uint32_t gpu) {
    const std::uint64_t wanted =
        std::min(seen_[gpu].uncounted + seen_[gpu].escaped, ledger::kNoLimit);
    return terms_->gpus[gpu].uncounted_bytes.exchange(wanted) != wanted;
}

bool Tenant::has_charge(std::uint32_t slot, std::uint32_t gpu) const {
    return account_->lines[gpu].slots[slot].charged != 0;
}

std::size_t Tenant::members_here() const {
    return static_cast<std::size_t>(
        std::count_if(members.begin(), members.end(),
                      [](const auto& entry) { return entry.second.state == Member::State::here; }));
}

std::size_t Tenant::strangers() const {
    return static_cast<std::size_t>(
        std::count_if(members.begin(), members.end(),
                      [this](const auto& entry) { return !is_of_user(entry.second.peer.uid); }));
}

std::uint64_t Tenant::believed_charge(std::uint32_t gpu) const {
    const ledger::GpuTerms& terms = terms_->gpus[gpu];
    const auto processes = static_cast<std::uint64_t>(std::ranges::count(taken_, true));
    const std::uint64_t most =
        limit(gpu) + terms.uncounted_bytes +
        processes * std::min<std::uint64_t>(terms.context_bytes, ledger::kNoLimit);
    return std::min(ledger::charged(place(gpu)), std::max(most, seen_[gpu].held));
}

bool Tenant::is_waiting(std::uint32_t gpu) const {
    for (std::uint32_t slot = 0; slot < terms_->gpus[gpu].slots_end; ++slot)
        if (taken_[slot] && account_->lines[gpu].slots[slot].waiting != 0) return true;
    return false;
}

std::string Tenant::describe() {
    std::string text;
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        const ledger::GpuTerms& terms = terms_->gpus[gpu];
        text += "\ntenant=" + name_ + " gpu=" + gpus_[gpu];
        text += " limit=" + text_of_limit(limit(gpu));
        text += " charged=" + std::to_string(ledger::charged(place(gpu)));
        text += " uncounted=" + std::to_string(terms.uncounted_bytes);
        text += " processes=" + std::to_string(members_here());
        text += " pids=" + pids_of(members);
        if (whereabouts.is_parked) text += " parked=yes";
        text += " lingering=" + std::to_string(std::ranges::count_if(members, lingers));
        text += text_of(claim_) + " rotation=" + (rotation_.empty() ? "none" : rotation_);
        text += std::string(" where=") + name_of(whereabouts.where);
        text += " request=" + text_of_limit(terms.request_bytes);
        text += " allowed=" + text_of_limit(terms.limit_bytes);
        text += std::string(" gate=") + name_of(ledger::gate_of(terms.gate));
        text += is_waiting(gpu) ? " waiting=yes" : " waiting=no";
        look_at_iterations(gpu);
        text += text_of(seen_[gpu].profiler.profile(), seen_[gpu].time.lately());
    }
    return text;
}

}  // namespace berth::vgpu::arbiter
