# SPDX-License-Identifier: Apache-2.0
#
# THE list of modules. A module may use only modules of a strictly lower level, and a pure module
# only pure ones; an adapter never uses another adapter (they share a level). berth_module.cmake
# refuses anything else, tools/check-includes holds every #include to it. docs/adr/0001 and 0007
# say why it has this shape. A module whose folder has no CMakeLists.txt is skipped.
set(berth_modules
    # level  folder below src/       pure: no clock, dice, file, socket, thread, environment
    0  base                          pure
    1  model                         pure
    1  ordering                      pure
    1  runtime                       effects
    1  vgpu/abi                      effects
    1  vgpu/behind                   effects
    2  vgpu/ledger                   effects
    1  vgpu/windows                  pure
    1  vgpu/iterations               pure
    1  vgpu/freezing                 pure
    1  vgpu/lending                  pure
    2  cluster                       pure
    3  scheduling                    pure
    3  lifecycle                     pure
    4  scenario                      pure
    4  foresight                     pure
    4  ports                         effects
    4  crash                         effects
    5  supervision                   effects
    5  control                       effects
    5  codec                         effects
    5  vgpu/arbiter                  effects
    6  vgpu/device                   effects
    6  adapters/sqlite               effects
    6  adapters/process              effects
    6  adapters/nvml                 effects
    6  adapters/simulated_gpu        effects
    6  adapters/system_clock         effects
    6  adapters/simulated_launcher   effects
    6  adapters/gpu_shares           effects
    6  attach                        effects
    6  simulation                    effects
    6  vgpu/freezer                  effects
    6  vgpu/probe                    effects
    6  vgpu/interposer               effects
    6  vgpu/nvml_interposer          effects
    6  vgpu/audit                    effects
    6  vgpu/driver_mount             effects
    7  vgpu/software_driver          effects
    7  vgpu/software_nvml            effects
    7  api                           effects
    7  cli                           effects
    7  app/supervisor                effects
    7  app/trainer                   effects
    8  app                           effects
)

# Turns the list into variables: berth_module_names, berth_level_<module>, berth_purity_<module>.
set(berth_module_names "")
set(berth_rows "${berth_modules}")
while(berth_rows)
    list(POP_FRONT berth_rows berth_row_level berth_row_name berth_row_purity)
    list(APPEND berth_module_names ${berth_row_name})
    set(berth_level_${berth_row_name} ${berth_row_level})
    set(berth_purity_${berth_row_name} ${berth_row_purity})
endwhile()
