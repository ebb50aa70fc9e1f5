// SPDX-License-Identifier: Apache-2.0
#include "control/command_text.h"

#include <doctest/doctest.h>

#include <vector>

using berth::control::command_text;
using berth::control::name_from;
using Words = std::vector<std::string>;

TEST_CASE("a command is shown as it would be typed") {
    CHECK(command_text(Words{"python", "train.py", "--lr", "3e-4"}) == "python train.py --lr 3e-4");
    CHECK(command_text(Words{"echo", "a b", "it's"}) == "echo 'a b' 'it'\\''s'");
    CHECK(command_text(Words{"sh", "-c", "python train.py | tee log"}) ==
          "python train.py | tee log");
    CHECK(command_text(Words{"sh", "-c", "a\nb"}) == "a b");
    CHECK(command_text(Words{"echo", std::string(500, 'x')}).size() == 200);
}

TEST_CASE("a job is named after what it runs") {
    CHECK(name_from(Words{"python", "src/train.py", "--x"}) == "train");
    CHECK(name_from(Words{"/usr/bin/true"}) == "true");
    CHECK(name_from(Words{"torchrun", "--nnodes=2", "fit.py"}) == "fit");
    CHECK(name_from(Words{"sh", "-c", "cd x; python y.py"}) == "cd");
    CHECK(name_from(Words{"python3", "-c", "print(1)"}) == "python3");
    CHECK(name_from(Words{"python3"}) == "python3");
    CHECK(name_from(Words{"./-"}) == "job");
}
