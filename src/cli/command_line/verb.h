// SPDX-License-Identifier: Apache-2.0
//
// What is a verb of the command line? Its words, flags and help as plain constants, and the
// function that carries it out. The parser, the help and the shell completion all read this one
// description. Tables of verbs are constexpr: they cost nothing at start-up.
#pragma once

#include <span>
#include <string_view>

namespace berth::cli {

class Arguments;
struct Context;

// What the shell should offer for a word.
enum class Completes { Nothing, Jobs, Projects, Pools, Nodes, Settings, Files, Choices, Verbs };

struct Flag {
    char letter = 0;                // 'g' for -g; 0 = only the long name
    std::string_view name = {};     // "gpus" for --gpus
    std::string_view value = {};    // "REQUEST"; empty = a switch without a value
    std::string_view help = {};     // a noun phrase, readable without the name
    Completes completes = Completes::Nothing;
    std::string_view choices = {};  // "json|wide": nothing else is accepted
    std::string_view formerly = {};  // a name of the last release, still accepted and never shown
    // "job_tail", or several with a space between: what it sets in the API and in files, and what
    // errors about it begin with. Empty = its name, with "_" for "-".
    std::string_view fields = {};
};

// Where the user's own command line begins.
enum class CommandTail {
    None,
    AfterDashes,  // submit job.yaml -- python train.py
    FromFirstWord,  // run -g 2 python train.py
};

// The groups of `berth help`.
enum class Intent { Run, Look, Manage, Simulate, Share, Nodes, System, Hidden };

struct Verb {
    Intent intent = Intent::Hidden;
    std::string_view name = {};  // "ls", or two words: "project create"
    std::string_view aliases = {};  // "ps queue"
    std::string_view synopsis = {};  // what follows the name: "JOB... [--grace TIME]"
    std::string_view summary = {};  // at most 60 columns, begins with a verb, no full stop
    std::span<const Flag> flags = {};
    int words_min = 0;
    int words_max = 0;  // -1 = any number
    Completes completes = Completes::Nothing;
    std::string_view choices = {};  // of the words, when completes is Choices
    CommandTail tail = CommandTail::None;
    std::string_view more = {};  // further help: examples, notes
    int (*run)(Context&, const Arguments&) = nullptr;
};

}  // namespace berth::cli
