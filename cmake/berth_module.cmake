# SPDX-License-Identifier: Apache-2.0
#
# How a folder of src/ becomes a library, and how the house rules are held:
#
#   berth_module(scheduling PURE
#     SOURCES reclaim.cc place.cc        none: a header-only module
#     TESTS reclaim_test.cc              one executable scheduling_test, one ctest for each file
#     USES base model cluster            other modules, all of a lower level
#     LIBS yaml-cpp)                     third-party libraries
#
#   berth_program(berth SOURCES berth/main.cc USES cli adapters/sqlite)   only in src/app
#   berth_test(contract SOURCES store_test.cc USES adapters/sqlite)       only in tests/
#
# Every module gets: a stop at configure time when it uses what it may not; a link test (its whole
# archive and its declared uses, nothing else); and, when PURE, a test of its undefined symbols.
include("${CMAKE_CURRENT_LIST_DIR}/modules.cmake")
set(berth_house_dir "${CMAKE_CURRENT_LIST_DIR}/..")
# What quoted includes start from.
set(berth_source_root "${CMAKE_SOURCE_DIR}/src")

# berth_adapters_sqlite for adapters/sqlite.
function(berth_target_of module result)
    string(REPLACE "/" "_" flat "${module}")
    set(${result} "berth_${flat}" PARENT_SCOPE)
endfunction()

# Stops the configuration when `module` may not use one of the modules that follow.
function(berth_check_layers module)
    if(NOT DEFINED berth_level_${module})
        message(FATAL_ERROR "layering: ${module} is not in cmake/modules.cmake")
    endif()
    foreach(used IN LISTS ARGN)
        if(NOT DEFINED berth_level_${used})
            message(FATAL_ERROR
                "layering: ${module} uses ${used}, which is not in cmake/modules.cmake")
        endif()
        if(NOT berth_level_${used} LESS berth_level_${module})
            message(FATAL_ERROR "layering: ${module} may not use ${used} "
                "(level ${berth_level_${module}} and level ${berth_level_${used}})")
        endif()
        if(berth_purity_${module} STREQUAL "pure" AND NOT berth_purity_${used} STREQUAL "pure")
            message(FATAL_ERROR "layering: ${module} is pure and may not use ${used}")
        endif()
    endforeach()
endfunction()

# Lets `target` compile as a few large units (toolchain_settings.cmake).
function(berth_compile_together target)
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD ${BERTH_UNITY} UNITY_BUILD_BATCH_SIZE ${berth_unity_files})
endfunction()

# Tests are compiled once and run for a moment: less optimisation costs less in all.
function(berth_compile_as_test target)
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1>")
endfunction()

# Sets `result` to the targets of the modules that follow, or to NOTFOUND when one is not here yet.
function(berth_targets_of user result)
    set(targets "")
    foreach(used IN LISTS ARGN)
        berth_target_of(${used} target)
        if(NOT TARGET ${target})
            message(STATUS "skipped: ${user} uses ${used}, which is not here yet")
            set(${result} NOTFOUND PARENT_SCOPE)
            return()
        endif()
        list(APPEND targets ${target})
    endforeach()
    set(${result} "${targets}" PARENT_SCOPE)
endfunction()

# One ctest for each source file of a doctest executable: unit.scheduling.reclaim, or with the
# folder below the module's: unit.cli.pages.golden.
function(berth_add_doctests target prefix)
    foreach(source IN LISTS ARGN)
        string(REGEX REPLACE "(_test)?\\.cc$" "" stem "${source}")
        string(REPLACE "/" "." stem "${stem}")
        add_test(NAME "${prefix}.${stem}" COMMAND ${target} "--source-file=*/${source}")
        set_tests_properties("${prefix}.${stem}" PROPERTIES
            LABELS unit FAIL_REGULAR_EXPRESSION "test cases: +0 ")
    endforeach()
endfunction()

# An empty main linked with all of `target` and only what it declares: a symbol of a module that
# it does not use is undefined here. A header-only module has each header compiled by itself.
function(berth_add_link_test module target)
    set(name "link.${module}")
    string(REPLACE "/" "_" executable "link_${module}")
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/link_test.cc.new" "int main() { return 0; }\n")
    file(COPY_FILE "${CMAKE_CURRENT_BINARY_DIR}/link_test.cc.new"
        "${CMAKE_CURRENT_BINARY_DIR}/link_test.cc" ONLY_IF_DIFFERENT)
    add_executable(${executable} "${CMAKE_CURRENT_BINARY_DIR}/link_test.cc")
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
        file(GLOB headers CONFIGURE_DEPENDS *.h)
        foreach(header IN LISTS headers)
            get_filename_component(stem "${header}" NAME_WE)
            file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/alone_${stem}.cc"
                CONTENT "#include \"${module}/${stem}.h\"\n")
            target_sources(${executable} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/alone_${stem}.cc")
        endforeach()
        target_link_libraries(${executable} PRIVATE ${target})
    else()
        target_link_libraries(${executable} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>")
    endif()
    add_test(NAME ${name} COMMAND ${executable})
    set_tests_properties(${name} PROPERTIES LABELS house)
endfunction()

function(berth_module module)
    cmake_parse_arguments(PARSE_ARGV 1 arg "PURE" "" "SOURCES;TESTS;USES;LIBS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "berth_module(${module}): what is \"${arg_UNPARSED_ARGUMENTS}\"?")
    endif()
    berth_check_layers(${module} ${arg_USES})
    if(arg_PURE AND NOT berth_purity_${module} STREQUAL "pure")
        message(FATAL_ERROR "purity: ${module} says PURE; cmake/modules.cmake says it is not")
    elseif(NOT arg_PURE AND berth_purity_${module} STREQUAL "pure")
        message(FATAL_ERROR "purity: cmake/modules.cmake says ${module} is pure; write PURE")
    endif()
    berth_targets_of(${module} uses ${arg_USES})
    if(uses STREQUAL "NOTFOUND")
        return()
    endif()

    berth_target_of(${module} target)
    if(arg_SOURCES)
        add_library(${target} STATIC ${arg_SOURCES})
        berth_compile_together(${target})
        target_include_directories(${target} PUBLIC "${berth_source_root}")
        target_link_libraries(${target} PUBLIC berth_flags ${uses} ${arg_LIBS})
    else()
        add_library(${target} INTERFACE)
        target_include_directories(${target} INTERFACE "${berth_source_root}")
        target_link_libraries(${target} INTERFACE berth_flags ${uses} ${arg_LIBS})
    endif()

    berth_add_link_test(${module} ${target})
    # A sanitizer adds references of its own.
    if(arg_PURE AND arg_SOURCES AND NOT BERTH_SANITIZE)
        add_test(NAME "purity.${module}"
            COMMAND "${berth_house_dir}/tools/check-purity" "$<TARGET_FILE:${target}>")
        set_tests_properties("purity.${module}" PROPERTIES LABELS house)
    endif()
    # A test that is listed and not written yet is a finding of lint, not a stop.
    foreach(test IN LISTS arg_TESTS)
        if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${test}")
            message(STATUS "skipped: ${module} lists ${test}, which is not here yet")
            list(REMOVE_ITEM arg_TESTS ${test})
        endif()
    endforeach()
    if(arg_TESTS)
        string(REPLACE "/" "_" executable "${module}_test")
        add_executable(${executable} ${arg_TESTS})
        berth_compile_together(${executable})
        berth_compile_as_test(${executable})
        target_link_libraries(${executable} PRIVATE ${target} berth_doctest_main)
        string(REPLACE "/" "." prefix "unit.${module}")
        berth_add_doctests(${executable} ${prefix} ${arg_TESTS})
    endif()
endfunction()

# An executable of src/app: the one place that may name concrete adapters. It lands in bin/.
function(berth_program program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LIBS")
    berth_check_layers(app ${arg_USES})
    berth_targets_of("program ${program}" uses ${arg_USES})
    if(uses STREQUAL "NOTFOUND")
        return()
    endif()
    add_executable(${program} ${arg_SOURCES})
    berth_compile_together(${program})
    target_include_directories(${program} PRIVATE "${berth_source_root}")
    target_link_libraries(${program} PRIVATE berth_flags ${uses} ${arg_LIBS})
    set_target_properties(${program} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
    # They start each other from bin/, so build all of them before you run one: --target programs.
    if(NOT TARGET programs)
        add_custom_target(programs)
    endif()
    add_dependencies(programs ${program})
endfunction()

# A doctest executable below tests/, which may use every module: contract tests and the like. Each
# of SOURCES is a ctest; SUPPORT is what they share. Quoted includes start from src/ or tests/.
function(berth_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SUPPORT;USES;LIBS")
    berth_targets_of("test ${name}" uses ${arg_USES})
    if(uses STREQUAL "NOTFOUND")
        return()
    endif()
    add_executable(${name}_test ${arg_SOURCES} ${arg_SUPPORT})
    berth_compile_together(${name}_test)
    berth_compile_as_test(${name}_test)
    target_include_directories(${name}_test PRIVATE "${CMAKE_SOURCE_DIR}/tests")
    target_link_libraries(${name}_test PRIVATE ${uses} ${arg_LIBS} berth_doctest_main)
    berth_add_doctests(${name}_test ${name} ${arg_SOURCES})
endfunction()
