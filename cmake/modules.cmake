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
    2  ordering                      pure
    3  reference                     pure
    1  runtime                       effects
    1  vgpu/abi                      effects
    1  vgpu/behind                   effects
    1  vgpu/loading                  effects
    2  vgpu/ledger                   effects
    1  vgpu/windows                  pure
    1  vgpu/iterations               pure
    1  vgpu/freezing                 pure
    1  vgpu/lending                  pure
    2  ledger                        pure
    3  cluster                       pure
    4  scheduling                    pure
    4  lifecycle                     pure
    5  scenario                      pure
    5  foresight                     pure
    5  overview                      pure
    5  timeline                      pure
    5  ports                         effects
    5  crash                         effects
    6  supervision                   effects
    6  control                       effects
    6  codec                         effects
    6  vgpu/arbiter                  effects
    7  vgpu/device                   effects
    7  adapters/sqlite               effects
    7  adapters/process              effects
    7  adapters/nvml                 effects
    7  adapters/simulated_gpu        effects
    7  adapters/system_clock         effects
    7  adapters/simulated_launcher   effects
    7  adapters/gpu_shares           effects
    7  attach                        effects
    7  kube/objects                  effects
    7  kube/client                   effects
    7  simulation                    effects
    7  vgpu/freezer                  effects
    7  vgpu/probe                    effects
    7  vgpu/interposer               effects
    7  vgpu/nvml_interposer          effects
    7  vgpu/audit                    effects
    7  vgpu/driver_mount             effects
    8  vgpu/software_driver          effects
    8  vgpu/software_nvml            effects
    8  api                           effects
    8  cli                           effects
    8  app/supervisor                effects
    8  app/trainer                   effects
    8  kube/install                  effects
    8  kube/cluster                  effects
    9  kube/people                   effects
    9  kube/scheduler                effects
   10  app                           effects
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
