# SPDX-License-Identifier: Apache-2.0
#
# How does a module become a library that stands before another? berth_preload_library(MODULE OUT
# SONAME WORD NAMES): once it is preloaded, the loader finds lib/libOUT.so under SONAME. It exports
# every one of NAMES as a jump to the library behind it; the hooks that generate_hooks makes of
# MODULE's WORD_functions.txt replace those of the same name. It needs nothing but an old C library
# (cmake/old_c_library.cmake).

function(berth_preload_library module out soname word names)
    set(scripts "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    berth_target_of(${module} target)

    set(table "${CMAKE_CURRENT_SOURCE_DIR}/${word}_functions.txt")
    set(generated "${CMAKE_BINARY_DIR}/generated/${module}/generated")
    file(GLOB headers CONFIGURE_DEPENDS "${berth_source_root}/vgpu/abi/*.h")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    file(STRINGS "${table}" hooks REGEX "^\\[[a-z_]+\\] ")
    list(TRANSFORM hooks REPLACE "^\\[([a-z_]+)\\].*" "${generated}/\\1_hooks.inc")
    add_custom_command(
        OUTPUT "${generated}/${word}_functions.h" ${hooks}
        COMMAND "${scripts}/generate_hooks" ${word} "${names}" "${table}" "${generated}" ${headers}
        DEPENDS "${scripts}/generate_hooks" "${names}" "${table}" ${headers}
        VERBATIM)
    target_sources(${target} PRIVATE "${generated}/${word}_functions.h" ${hooks})
    target_include_directories(${target} PUBLIC "${CMAKE_BINARY_DIR}/generated")

    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
        message(STATUS "skipped: ${out}, whose trampolines are for x86_64 and aarch64")
        return()
    endif()
    set(trampolines "${CMAKE_CURRENT_BINARY_DIR}/${word}_trampolines.cc")
    add_custom_command(
        OUTPUT "${trampolines}"
        COMMAND "${scripts}/generate_trampolines" ${word} "${names}" "${trampolines}"
        DEPENDS "${scripts}/generate_trampolines" "${names}"
        VERBATIM)
    # A hook takes the place of a trampoline that another unit has.
    set_source_files_properties("${trampolines}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources(${target} PRIVATE "${trampolines}")
    target_compile_options(${target} PRIVATE -fvisibility=hidden)
    foreach(part IN ITEMS ${target} berth_vgpu_behind berth_vgpu_iterations berth_vgpu_ledger)
        berth_needs_no_runtime(${part})
    endforeach()

    file(CONFIGURE OUTPUT empty.cc CONTENT "// All of it is in the archive.\n")
    add_library(${out} SHARED "${CMAKE_CURRENT_BINARY_DIR}/empty.cc")
    target_link_libraries(${out} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>")
    set_target_properties(${out} PROPERTIES NO_SONAME ON
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
    target_link_options(${out} PRIVATE "-Wl,-soname,${soname}"
        "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exported.map")
    berth_link_with_old_c_library(${out} "${berth_source_root}/vgpu/behind/c_library.txt")
endfunction()
