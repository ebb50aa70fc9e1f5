# SPDX-License-Identifier: Apache-2.0
#
# What every target of the house is compiled with: the target berth_flags, and the faster tools
# (mold, ccache) where they are installed.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# find_package() in a module's folder serves those who link that module as well.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
# Release keeps assertions, of the standard library's headers and of others alike: no -DNDEBUG.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")

option(BERTH_FUZZER "Note what inputs reach, for libFuzzer; clang alone can" OFF)
set(BERTH_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, such as address,undefined")

# A module compiles as a few large units, not file by file: its headers are read and the templates
# they lead to are compiled once for each unit (docs/adr/0028). Names in anonymous namespaces are
# therefore unique within a module. The presets debug and clang compile each file by itself.
option(BERTH_UNITY "Compile a module as a few large units" ON)
set(berth_unity_files 12)

# A newer compiler warns of more, which must not stop a user. The presets of developers and of
# continuous integration turn this on.
option(BERTH_WERROR "A warning stops the build" OFF)

find_program(berth_ccache ccache)
if(berth_ccache)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${berth_ccache}")
endif()

add_library(berth_flags INTERFACE)
target_compile_options(berth_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    "$<$<BOOL:${BERTH_WERROR}>:-Werror>"
    "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/="
    # g++ 12 warns of overlapping copies in plain std::string code once it optimises.
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:-Wno-restrict>"
    # clang blames callers of std::stable_sort for what libstdc++ 12 calls inside; g++ judges ours.
    "$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # To count the GPUs of a mask is one instruction of processors since 2009, else a call.
    target_compile_options(berth_flags INTERFACE -march=x86-64-v2)
endif()
if(BERTH_SANITIZE)
    target_compile_options(berth_flags INTERFACE
        "-fsanitize=${BERTH_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer -O1
        # Instrumented code confuses g++ 12's data flow analysis.
        "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
    target_link_options(berth_flags INTERFACE "-fsanitize=${BERTH_SANITIZE}")
endif()
if(BERTH_FUZZER)
    # libFuzzer reads every counter of a program after each run: no function is linked in vain. Of
    # the linkers here only GNU's leaves a function's counters out together with the function.
    target_compile_options(berth_flags INTERFACE
        -fsanitize=fuzzer-no-link -ffunction-sections -fdata-sections)
    target_link_options(berth_flags INTERFACE
        -fsanitize=fuzzer-no-link -fuse-ld=bfd LINKER:--gc-sections LINKER:-z,start-stop-gc)
    if(NOT BERTH_SANITIZE)
        # A call at each comparison takes as long as all else. The sanitized programs make it.
        target_compile_options(berth_flags INTERFACE
            -fno-sanitize-coverage=trace-cmp,indirect-calls,stack-depth)
    endif()
endif()
if(BERTH_SANITIZE MATCHES "thread")
    # The thread sanitizer does not understand fences. Asio's queues lock a mutex around them.
    target_compile_definitions(berth_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()

find_program(berth_mold mold)
if(berth_mold AND NOT BERTH_FUZZER)
    target_link_options(berth_flags INTERFACE -fuse-ld=mold)
endif()
