# SPDX-License-Identifier: Apache-2.0
#
# How is a library linked that any container can load? berth_link_with_old_c_library(TARGET LIST):
# against stand-ins for the C library's files that have the functions of LIST, each at its first
# version, and nothing else, whichever C library and C++ runtime this machine has. To use another
# function does not link.

# Of a file of the C library: its functions, as they are first seen in `list`.
function(berth_add_stand_in file list out)
    string(MAKE_C_IDENTIFIER "berth_old_${file}" target)
    set(${out} ${target} PARENT_SCOPE)
    if(TARGET ${target})
        return()
    endif()
    file(STRINGS "${list}" lines REGEX "^[a-z_]")
    set(code "// Made by old_c_library.cmake; do not edit.\n")
    set(versions "")
    foreach(line IN LISTS lines)
        string(REGEX MATCHALL "[^ ]+" words "${line}")
        list(GET words 0 name)
        list(GET words 1 version)
        list(GET words 2 of)
        if(NOT of STREQUAL file)
            continue()
        endif()
        if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND version VERSION_LESS 2.17)
            set(version 2.17)
        endif()
        string(APPEND code
            "asm(\".text\\n.globl ${name}\\n.type ${name}, %function\\n${name}:\\n\");\n")
        list(APPEND versions ${version})
        string(APPEND names_${version} " ${name};")
    endforeach()
    list(REMOVE_DUPLICATES versions)
    list(SORT versions COMPARE NATURAL)
    set(script "")
    set(before "")
    foreach(version IN LISTS versions)
        string(APPEND script "GLIBC_${version} {${names_${version}} }${before};\n")
        set(before " GLIBC_${version}")
    endforeach()
    set(source "${CMAKE_BINARY_DIR}/old_c_library/${file}")
    file(CONFIGURE OUTPUT "${source}.cc" CONTENT "${code}" @ONLY)
    file(CONFIGURE OUTPUT "${source}.map" CONTENT "${script}" @ONLY)
    add_library(${target} SHARED "${source}.cc")
    target_link_options(${target} PRIVATE
        -nostdlib "-Wl,-soname,${file}" "-Wl,--version-script=${source}.map")
    set_target_properties(${target} PROPERTIES NO_SONAME ON PREFIX "" SUFFIX ""
        OUTPUT_NAME "${file}" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/old_c_library")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
endfunction()

# Compiles a target so that it needs no C++ runtime; of its code, not of what that calls.
function(berth_needs_no_runtime target)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # What only the arbiter calls is left out at the link, with what it asks of the C library.
    target_compile_options(${target} PRIVATE -ffunction-sections
        -fno-exceptions -fno-rtti -U_GLIBCXX_ASSERTIONS -U_FORTIFY_SOURCE)
    # What a compiler adds of its own, behind each archive that may ask for it.
    target_link_libraries(${target} INTERFACE gcc)
endfunction()

function(berth_link_with_old_c_library target list)
    if(BERTH_SANITIZE)
        return()  # a sanitizer has a runtime of its own
    endif()
    target_link_options(${target} PRIVATE -nodefaultlibs LINKER:-z,defs LINKER:--gc-sections)
    foreach(file IN ITEMS libc.so.6 libdl.so.2 libpthread.so.0)
        berth_add_stand_in(${file} "${list}" stand_in)
        target_link_libraries(${target} PRIVATE ${stand_in})
    endforeach()
    # What a compiler adds of its own, and what is linked statically of any C library.
    target_link_libraries(${target} PRIVATE gcc -l:libc_nonshared.a)
    set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON)
endfunction()
