// SPDX-License-Identifier: Apache-2.0
//
// Which NVIDIA GPUs does this machine have, and what do they do right now? One node whose GPU
// indices are the driver's, in the order of the PCI bus, as CUDA_DEVICE_ORDER=PCI_BUS_ID counts
// them, and beside it one for each profile of slices (nvml_devices.h). GPUs of several models in
// one machine make a node that names none; its memory is the smallest. A GPU that does not answer
// keeps its index and is read as not healthy.
#pragma once

#include <memory>
#include <string>

#include "adapters/nvml/nvml_devices.h"
#include "adapters/nvml/nvml_library.h"
#include "adapters/nvml/pci_places.h"
#include "ports/gpu_inventory.h"

namespace berth::nvml {

inline constexpr const char* kLibraryName = "libnvidia-ml.so.1";

class NvmlGpus final : public ports::GpuInventory {
  public:
    explicit NvmlGpus(std::string host, std::string library_path = kLibraryName,
                      std::string sys_directory = kSysDirectory)
        : host_(std::move(host)),
          library_path_(std::move(library_path)),
          sys_directory_(std::move(sys_directory)) {}

    base::Result<std::vector<model::Node>> discover() override;
    base::Result<std::vector<ports::GpuReading>> read() override;
    std::string driver() override;

  private:
    // Opens the library the first time, and again after it was not there.
    base::Status open();
    base::Result<unsigned int> count();
    base::Result<Devices> devices();
    model::Node whole_gpus(const Devices& found) const;
    ports::GpuReading read_one(const PlacedDevice& placed) const;

    std::string host_;
    std::string library_path_;
    std::string sys_directory_;
    std::unique_ptr<Library> library_;
};

}  // namespace berth::nvml
