// SPDX-License-Identifier: Apache-2.0
//
// How do shells complete berth's words? Three small scripts that ask `berth __complete`, hidden,
// with the words typed so far; it answers one candidate a line, "word<TAB>explanation". What can
// stand where is read from the verbs' own descriptions; jobs, projects, pools, nodes and settings
// from the server, which gets 300 ms: no answer means no candidates, never an error in the middle
// of typing.
#include <algorithm>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/verbs/verbs.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr std::string_view kBash =
    R"sh(# bash completion for berth; load with: source <(berth completion bash)
_berth() {
    local IFS=$'\n' line prefix="${COMP_LINE:0:$COMP_POINT}" cur
    cur="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :files) COMPREPLY+=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
            :command) COMPREPLY+=($(compgen -c -- "$cur") $(compgen -f -- "$cur")) ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <(berth __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _berth berth
)sh";

constexpr std::string_view kZsh = R"sh(#compdef berth
# zsh completion for berth; load with: source <(berth completion zsh)
_berth() {
    local -a candidates
    local line word note
    for line in ${(f)"$(berth __complete -- "${(@)words[2,$CURRENT]}" 2>/dev/null)"}; do
        case $line in
            :files) _files ;;
            :command) _command_names -e; _files ;;
            *)
                word=${line%%$'\t'*}; note=${line#*$'\t'}
                [[ $note == $line ]] && note=
                candidates+=("${word//:/\\:}${note:+:$note}") ;;
        esac
    done
    (( ${#candidates} )) && _describe -t berth berth candidates
}
if [[ $funcstack[1] == _berth ]]; then _berth "$@"; else compdef _berth berth; fi
)sh";

constexpr std::string_view kFish =
    R"sh(# fish completion for berth; load with: berth completion fish | source
function __berth_complete
    set -l typed (commandline -opc) (commandline -ct)
    for line in (berth __complete -- $typed[2..-1] 2>/dev/null)
        switch $line
            case :files :command
                __fish_complete_path (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c berth -f -a '(__berth_complete)'
)sh";

int print_script(Context&, const Arguments& arguments) {
    const std::string& shell = arguments.words[0];
    print(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
    return kDone;
}

using Candidates = std::vector<std::pair<std::string, std::string>>;

constexpr base::Duration kAnswerPatience{300};

void add_from_server(const Context& context, Completes kind, Candidates& candidates) {
    Client client(context, kAnswerPatience);
    if (kind == Completes::Jobs) {
        const auto jobs = client.jobs({.finished = 20});
        if (!jobs) return;
        for (const model::JobRecord& job : jobs->jobs) {
            const std::string note =
                job.spec.project + "/" + job.spec.name + " " + std::string(codec::word(job.state));
            candidates.emplace_back(std::to_string(job.id.value), note);
            if (!job.spec.name.empty()) candidates.emplace_back(job.spec.name, "job " + note);
        }
    } else if (kind == Completes::Projects) {
        const auto projects = client.projects();
        if (!projects) return;
        for (const auto& project : *projects) candidates.emplace_back(project.name, "");
    } else if (kind == Completes::Pools) {
        const auto pools = client.pools();
        if (!pools) return;
        for (const codec::PoolView& pool : *pools) candidates.emplace_back(pool.name, "");
    } else if (kind == Completes::Nodes) {
        const auto list = client.nodes();
        if (!list) return;
        for (const codec::NodeView& node : list->nodes) candidates.emplace_back(node.name, "");
    } else if (kind == Completes::Settings) {
        const auto policy = client.policy();
        if (!policy) return;
        for (const auto& setting : policy->settings) {
            candidates.emplace_back(setting.name, setting.value + ": " + setting.meaning);
        }
    }
}

void add_what(const Context& context, Completes kind, std::string_view choices,
              Candidates& candidates) {
    switch (kind) {
        case Completes::Nothing: break;
        case Completes::Files: candidates.emplace_back(":files", ""); break;
        case Completes::Choices:
            for (const auto word : split_words(choices, '|')) candidates.emplace_back(word, "");
            break;
        case Completes::Verbs:
            for (const Verb* verb : context.verbs) {
                if (verb->intent != Intent::Hidden) {
                    candidates.emplace_back(verb->name, verb->summary);
                }
            }
            break;
        case Completes::Jobs:
        case Completes::Projects:
        case Completes::Pools:
        case Completes::Settings:
        case Completes::Nodes: add_from_server(context, kind, candidates); break;
    }
}

const Flag* flag_typed(const Verb& verb, std::string_view word) {
    for (const auto flags : {verb.flags, common_flags()}) {
        for (const Flag& flag : flags) {
            const bool is_letter = word.size() == 2 && flag.letter && word[1] == flag.letter;
            if (is_letter || word == "--" + std::string(flag.name)) return &flag;
        }
    }
    return nullptr;
}

void add_flags(const Verb& verb, Candidates& candidates) {
    for (const auto flags : {verb.flags, common_flags()}) {
        for (const Flag& flag : flags) {
            candidates.emplace_back("--" + std::string(flag.name), flag.help);
        }
    }
}

// The words behind the verb, the last one being typed now.
void complete_arguments(const Context& context, const Verb& verb,
                        std::span<const std::string> typed, Candidates& candidates) {
    const std::string& current = typed.back();
    for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
        const std::string& word = typed[i];
        const bool is_word = word.empty() || word[0] != '-';
        if (word == "--" || (is_word && verb.tail == CommandTail::FromFirstWord)) {
            candidates.emplace_back(":command", "");
            return;
        }
        const Flag* flag = is_word ? nullptr : flag_typed(verb, word);
        if (!flag || flag->value.empty()) continue;
        if (i + 2 == typed.size()) {  // its value is being typed
            add_what(context, flag->completes, flag->choices, candidates);
            return;
        }
        ++i;
    }
    if (current.starts_with("-")) {
        const std::size_t equals = current.find('=');
        const Flag* flag =
            equals == std::string::npos ? nullptr : flag_typed(verb, current.substr(0, equals));
        if (!flag) return add_flags(verb, candidates);
        add_what(context, flag->completes, flag->choices, candidates);
        for (auto& [word, note] : candidates) {
            if (word[0] != ':') word = current.substr(0, equals + 1) + word;
        }
        return;
    }
    if (verb.tail == CommandTail::FromFirstWord) candidates.emplace_back(":command", "");
    add_what(context, verb.completes, verb.choices, candidates);
}

Candidates candidates_for(Context& context, std::span<const std::string> typed) {
    Candidates candidates;
    if (typed.size() >= 3) {
        if (const Verb* verb = find_verb(context, typed[0] + " " + typed[1])) {
            complete_arguments(context, *verb, typed.subspan(2), candidates);
            return candidates;
        }
    }
    if (typed.size() >= 2) {
        const std::string family = typed[0] + " ";
        for (const Verb* verb : context.verbs) {
            if (typed.size() == 2 && verb->name.starts_with(family)) {
                candidates.emplace_back(verb->name.substr(family.size()), verb->summary);
            }
        }
        const Verb* verb = find_verb(context, typed[0]);
        if (verb && candidates.empty()) {
            complete_arguments(context, *verb, typed.subspan(1), candidates);
        }
        return candidates;
    }
    for (const Verb* verb : context.verbs) {
        if (verb->intent == Intent::Hidden) continue;
        const std::string first(verb->name.substr(0, verb->name.find(' ')));
        if (candidates.empty() || candidates.back().first != first) {
            candidates.emplace_back(first, verb->summary);
        }
    }
    return candidates;
}

int complete(Context& context, const Arguments& arguments) {
    std::vector<std::string> typed = arguments.command;
    if (typed.empty()) typed.emplace_back();
    std::string text;
    for (const auto& [word, note] : candidates_for(context, typed)) {
        const bool is_direction = word[0] == ':';
        if (!is_direction && !word.starts_with(typed.back())) continue;
        text += printable(word) + (note.empty() ? "" : "\t" + printable(note)) + "\n";
    }
    print(text);
    return kDone;
}

}  // namespace

extern const Verb completion_verb;
extern const Verb complete_verb;

const Verb completion_verb{
    .intent = Intent::System,
    .name = "completion",
    .synopsis = "bash|zsh|fish",
    .summary = "print the completion script of a shell",
    .words_min = 1,
    .words_max = 1,
    .completes = Completes::Choices,
    .choices = "bash|zsh|fish",
    .more =
        "  source <(berth completion bash)                        now, in this shell\n"
        "  berth completion bash > ~/.local/share/bash-completion/completions/berth\n",
    .run = print_script};

const Verb complete_verb{.name = "__complete",
                         .synopsis = "-- WORD...",
                         .summary = "list what can complete the last word",
                         .tail = CommandTail::AfterDashes,
                         .run = complete};

}  // namespace berth::cli
