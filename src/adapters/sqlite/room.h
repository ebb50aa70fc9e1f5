// SPDX-License-Identifier: Apache-2.0
//
// How does the log go on when a file system is full? The file of its newest commits (SQLite's WAL)
// is given more room than it needs, where nothing else can take it: what ends or is cancelled then
// is still written down. New work is not taken up long before that room is used.
// Where a file system has no room to give in advance, the log waits as everything else does.
#pragma once

#include <string>

#include "ports/store.h"

namespace berth::adapters::sqlite {

// Of the file system of `directory`; nothing is wanted where that cannot be asked.
ports::Room room_of(const std::string& directory);

// What the newest commits are given: 64 MiB, less on a small file system.
base::Bytes reserve_of(const std::string& directory);

// Gives the file that much room without making it longer. What cannot be had is not had.
void keep_reserve(const std::string& file, base::Bytes bytes);
// Gives back what is not used.
void give_up_reserve(const std::string& file);

}  // namespace berth::adapters::sqlite
