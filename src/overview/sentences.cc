// SPDX-License-Identifier: Apache-2.0
#include "overview/sentences.h"

#include <algorithm>

#include "base/quantity.h"

namespace berth::overview {
namespace {

constexpr std::size_t kNamedProjects = 3;  // the others are counted

std::string jobs_text(int jobs) { return std::to_string(jobs) + (jobs == 1 ? " job" : " jobs"); }

// "a", "a, and b", "a, b, and c".
std::string listed(const std::vector<std::string>& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += i + 1 == parts.size() ? ", and " : ", ";
        text += parts[i];
    }
    return text;
}

// What each of them does beside running.
std::string rest_of(const JobCounts& own) {
    std::vector<std::string> parts;
    const auto add = [&](int jobs, const char* one, const char* many) {
        if (jobs > 0) parts.push_back(std::to_string(jobs) + (jobs == 1 ? one : many));
    };
    add(own.waiting, " waits", " wait");
    add(own.paused, " is paused and resumes by itself", " are paused and resume by themselves");
    add(own.on_hold, " is on hold until you resume it", " are on hold until you resume them");
    add(own.leaving, " is leaving its GPUs", " are leaving their GPUs");
    return listed(parts);
}

std::string own_jobs(const JobCounts& own, bool has_run_any) {
    if (!has_run_any) return "No job has run yet.";
    if (own.all() == 0) return "You have no job that runs or waits.";
    if (own.running == own.all()) {
        return own.all() == 1 ? "Your job runs."
                              : "All " + std::to_string(own.all()) + " of your jobs run.";
    }
    if (own.all() == 1) return "Your job " + rest_of(own).substr(2) + ".";
    const std::string some = own.running == 0 ? "None" : std::to_string(own.running);
    return some + " of your " + jobs_text(own.all()) + (own.running < 2 ? " runs; " : " run; ") +
           rest_of(own) + ".";
}

std::string idle_text(const GpuCounts& gpus) {
    const MilliGpu ready = gpus.total - gpus.not_ready;
    if (ready == MilliGpu{0}) return "no GPU is ready";
    if (gpus.idle == MilliGpu{0}) {
        return ready == base::kWholeGpu ? "the only GPU is in use"
                                        : "all " + base::format_gpus(ready) + " are in use";
    }
    return base::format(gpus.idle) + " of " + base::format_gpus(ready) +
           (gpus.idle <= base::kWholeGpu || ready == base::kWholeGpu ? " is idle" : " are idle");
}

std::string waiting(const Overview& overview) {
    const GpuCounts& gpus = overview.gpus;
    const int jobs = overview.jobs.waiting + overview.jobs.paused;
    if (jobs == 0) return "No job waits; " + idle_text(gpus) + ".";
    const bool wants_gpus = overview.wanted > MilliGpu{0};
    std::string text = jobs_text(jobs) + (jobs == 1 ? " waits for " : " wait for ") +
                       (wants_gpus ? base::format_gpus(overview.wanted) : "CPU or memory") + "; " +
                       idle_text(gpus);
    if (wants_gpus && gpus.idle > base::gpus(gpus.idle_together) && gpus.idle_together > 0) {
        text += ", no more than " + std::to_string(gpus.idle_together) + " together";
    }
    return text + ".";
}

std::string named(std::vector<ProjectUse> projects, MilliGpu ProjectUse::* amount) {
    std::erase_if(projects, [&](const ProjectUse& use) { return use.*amount == MilliGpu{0}; });
    std::ranges::stable_sort(projects, std::ranges::greater{}, amount);
    std::vector<std::string> parts;
    for (const ProjectUse& use : projects) {
        if (parts.size() == kNamedProjects) break;
        parts.push_back(name_shown(use.name) + " " + base::format(use.*amount));
    }
    if (projects.size() > parts.size()) {
        MilliGpu rest{0};
        for (std::size_t i = parts.size(); i < projects.size(); ++i) rest += projects[i].*amount;
        parts.push_back("others " + base::format(rest));
    }
    return listed(parts);
}

// Nothing where no quota says what is borrowed.
std::string quotas(const std::vector<ProjectUse>& projects) {
    const bool has_quota = std::ranges::any_of(
        projects, [](const ProjectUse& use) { return use.quota > MilliGpu{0}; });
    if (!has_quota) return "";
    const std::string borrowers = named(projects, &ProjectUse::borrowed);
    const std::string lenders = named(projects, &ProjectUse::unused);
    if (borrowers.empty()) return "";
    if (lenders.empty()) return "Above quota: " + borrowers + ".";
    return "Above quota: " + borrowers + "; unused quota: " + lenders + ".";
}

}  // namespace

std::string name_shown(const std::string& name) {
    const bool is_plain = std::ranges::all_of(name, [](char letter) {
        return letter != ' ' && letter != ',' && letter != ';' && letter != ':';
    });
    return is_plain ? name : '"' + name + '"';
}

std::vector<Sentence> sentences(const Overview& overview, std::string_view user) {
    const JobCounts own = overview.jobs_of(user);
    std::vector<Sentence> said{{About::OwnJobs, own_jobs(own, overview.has_run_any)},
                               {About::Waiting, waiting(overview)}};
    if (overview.gpus.not_ready > MilliGpu{0}) {
        const bool is_one = overview.gpus.not_ready == base::kWholeGpu;
        said.push_back({About::NotReady, base::format_gpus(overview.gpus.not_ready) +
                                             (is_one ? " is not ready." : " are not ready.")});
    }
    if (std::string text = quotas(overview.projects); !text.empty()) {
        said.push_back({About::Quotas, std::move(text)});
    }
    return said;
}

std::vector<std::string> map_sentences(const GpuCounts& gpus, MilliGpu idle) {
    const MilliGpu ready = gpus.total - gpus.not_ready;
    const MilliGpu allocated = gpus.used + gpus.starting + gpus.leaving;
    std::vector<std::string> said;
    if (ready == MilliGpu{0} && allocated == MilliGpu{0}) {
        said.push_back(gpus.total == MilliGpu{0} ? "There is no GPU." : "No GPU is ready.");
    } else if (allocated == MilliGpu{0}) {
        said.push_back("No GPU is allocated.");
    } else {
        const bool is_one = allocated <= base::kWholeGpu || ready == base::kWholeGpu;
        said.push_back(base::format(allocated) + " of " + base::format_gpus(ready) +
                       (is_one ? " is" : " are") + " allocated" +
                       (idle > MilliGpu{0} ? ", " + base::format(idle) + " of them idle." : "."));
    }
    if (gpus.idle > MilliGpu{0}) {
        const bool is_apart = gpus.idle > base::gpus(gpus.idle_together) && gpus.idle_together > 0;
        said.push_back("Free: " + base::format(gpus.idle) +
                       (is_apart
                            ? ", no more than " + std::to_string(gpus.idle_together) + " together."
                            : "."));
    }
    if (gpus.not_ready > MilliGpu{0} && ready > MilliGpu{0}) {
        said.push_back("Not ready: " + base::format(gpus.not_ready) + ".");
    }
    return said;
}

}  // namespace berth::overview
