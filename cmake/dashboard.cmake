# SPDX-License-Identifier: Apache-2.0
#
# Whether this build has the dashboard (web/), and of what: sets berth_pages to the packed file that
# goes into berth, or to nothing. Node and the packages are looked for, or fetched, while this is
# configured: AUTO leaves the dashboard out where they cannot be had, and berth says so at /.
set(BERTH_DASHBOARD AUTO CACHE STRING
    "The dashboard in berth: AUTO (where Node can be had), ON, OFF")
set_property(CACHE BERTH_DASHBOARD PROPERTY STRINGS AUTO ON OFF)

set(berth_web "${CMAKE_SOURCE_DIR}/web")
set(berth_pages "")

# Sets `result` to the folder of node and npm, or `why` to the reason why there is none.
function(berth_find_node result why)
    execute_process(COMMAND "${CMAKE_SOURCE_DIR}/tools/fetch-node"
        OUTPUT_VARIABLE folder ERROR_VARIABLE error RESULT_VARIABLE code
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
    if(NOT code EQUAL 0)
        set(${why} "${error}" PARENT_SCOPE)
        return()
    endif()
    # npm says in this file what it has installed, and when.
    set(installed "${berth_web}/node_modules/.package-lock.json")
    if("${berth_web}/package-lock.json" IS_NEWER_THAN "${installed}")
        message(STATUS "dashboard: npm ci in web/")
        execute_process(
            COMMAND "${CMAKE_COMMAND}" -E env "PATH=${folder}:$ENV{PATH}" "${folder}/npm" ci
            WORKING_DIRECTORY "${berth_web}" TIMEOUT 300
            OUTPUT_QUIET ERROR_VARIABLE error RESULT_VARIABLE code)
        if(NOT code EQUAL 0)
            set(${why} "npm ci: ${error}" PARENT_SCOPE)
            return()
        endif()
        file(TOUCH "${installed}")
    endif()
    set(${result} "${folder}" PARENT_SCOPE)
endfunction()

if(BERTH_DASHBOARD)
    berth_find_node(berth_node berth_no_node)
    if(berth_node)
        message(STATUS "dashboard: built by ${berth_node}/node")
        set(berth_pages "${CMAKE_BINARY_DIR}/dashboard/pages")
        file(GLOB_RECURSE berth_web_sources CONFIGURE_DEPENDS
            "${berth_web}/src/*" "${berth_web}/public/*")
        add_custom_command(OUTPUT "${berth_pages}"
            COMMAND "${berth_node}/node" build.js "${berth_pages}"
            WORKING_DIRECTORY "${berth_web}"
            DEPENDS ${berth_web_sources} "${berth_web}/build.js" "${berth_web}/index.html"
                "${berth_web}/package-lock.json" "${berth_web}/svelte.config.js"
                "${berth_web}/tsconfig.json" "${berth_web}/vite.config.ts"
            COMMENT "Building the dashboard" VERBATIM)
        add_custom_target(dashboard DEPENDS "${berth_pages}")
    elseif(BERTH_DASHBOARD STREQUAL "AUTO")
        message(STATUS "dashboard: left out. ${berth_no_node}")
    else()
        message(FATAL_ERROR "dashboard: BERTH_DASHBOARD is ON. ${berth_no_node}")
    endif()
endif()
