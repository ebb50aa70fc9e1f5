# SPDX-License-Identifier: Apache-2.0
"""The runtime library on a software GPU, as a compiled program uses it: no PyTorch is needed."""
import ctypes
import os
import pathlib
import unittest

STATE = pathlib.Path(f"/dev/shm/berth-runtime-test-{os.getpid()}")
LIBRARIES = pathlib.Path(os.environ["BERTH_BUILD"]) / "cuda_runtime"
MIB = 1 << 20
OUT_OF_MEMORY, INVALID_DEVICE, INVALID_FUNCTION, NOT_READY = 2, 101, 98, 600
TO_GPU, TO_HOST = 1, 2


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE = Dim3(1, 1, 1)


class Runtime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Time passes only while a thread waits, so it is known to the nanosecond.
        os.environ["BERTH_SOFTWARE_GPU"] = (
            f"state={STATE};gpus=2;memory=2GiB;reserved=0MiB;time=virtual;kernel_us=25")
        cls.addClassCleanup(STATE.unlink)
        cls.cuda, cls.blas, cls.blas_lt = (
            ctypes.CDLL(str(LIBRARIES / f"lib{name}.so.13"))
            for name in ("cudart", "cublas", "cublasLt"))
        cls.cuda.cudaGetErrorName.restype = ctypes.c_char_p

    def ok(self, code):
        self.assertEqual(code, 0)

    def allocated(self, size):
        pointer = ctypes.c_void_p()
        self.ok(self.cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)))
        self.addCleanup(self.cuda.cudaFree, pointer)
        return pointer

    def ms_of(self, work):
        """How long the GPU is at it."""
        events = [ctypes.c_void_p() for _ in range(2)]
        for event in events:
            self.ok(self.cuda.cudaEventCreate(ctypes.byref(event)))
            self.addCleanup(self.cuda.cudaEventDestroy, event)
        self.ok(self.cuda.cudaDeviceSynchronize())
        self.ok(self.cuda.cudaEventRecord(events[0], None))
        self.ok(work())
        self.ok(self.cuda.cudaEventRecord(events[1], None))
        self.assertEqual(self.cuda.cudaEventQuery(events[1]), NOT_READY)
        self.ok(self.cuda.cudaGetLastError())
        self.ok(self.cuda.cudaEventSynchronize(events[1]))
        ms = ctypes.c_float()
        self.ok(self.cuda.cudaEventElapsedTime(ctypes.byref(ms), *events))
        return ms.value

    def test_each_thread_has_a_gpu_and_its_last_error(self):
        count, device = ctypes.c_int(), ctypes.c_int()
        self.ok(self.cuda.cudaGetDeviceCount(ctypes.byref(count)))
        self.assertEqual(count.value, 2)
        self.ok(self.cuda.cudaSetDevice(1))
        self.addCleanup(self.cuda.cudaSetDevice, 0)
        self.assertEqual(self.cuda.cudaSetDevice(2), INVALID_DEVICE)
        self.ok(self.cuda.cudaGetDevice(ctypes.byref(device)))
        self.assertEqual(device.value, 1)
        self.assertEqual(self.cuda.cudaPeekAtLastError(), INVALID_DEVICE)
        self.assertEqual(self.cuda.cudaGetLastError(), INVALID_DEVICE)
        self.ok(self.cuda.cudaGetLastError())
        self.assertEqual(self.cuda.cudaGetErrorName(OUT_OF_MEMORY), b"CUDA_ERROR_OUT_OF_MEMORY")

    def test_properties_lie_where_programs_look_for_them(self):
        properties = ctypes.create_string_buffer(1008)
        self.ok(self.cuda.cudaGetDeviceProperties(properties, 0))
        self.assertEqual(properties.value, b"Software GPU")
        number = lambda at, kind=ctypes.c_int: kind.from_buffer(properties, at).value  # noqa: E731
        self.assertEqual(number(288, ctypes.c_size_t), 2048 * MIB)
        self.assertEqual((number(360), number(384), number(568)), (9, 132, 3))

    def test_memory_is_counted_and_keeps_what_is_copied_there(self):
        free, after, total = (ctypes.c_size_t() for _ in range(3))
        self.ok(self.cuda.cudaFree(None))
        self.ok(self.cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)))
        pointer = self.allocated(64 * MIB)
        self.ok(self.cuda.cudaMemGetInfo(ctypes.byref(after), ctypes.byref(total)))
        self.assertEqual((free.value - after.value, total.value), (64 * MIB, 2048 * MIB))
        there, back = ctypes.create_string_buffer(b"berth"), ctypes.create_string_buffer(6)
        size = ctypes.c_size_t(6)
        self.ok(self.cuda.cudaMemcpyAsync(pointer, there, size, TO_GPU, None))
        self.ok(self.cuda.cudaMemcpyAsync(back, pointer, size, TO_HOST, None))
        self.ok(self.cuda.cudaStreamSynchronize(None))
        self.assertEqual(back.value, b"berth")
        too_much = ctypes.c_size_t(3 << 30)
        self.assertEqual(self.cuda.cudaMalloc(ctypes.byref(pointer), too_much), OUT_OF_MEMORY)
        self.assertEqual(self.cuda.cudaGetLastError(), OUT_OF_MEMORY)

    def test_a_kernel_of_the_program_takes_its_time_under_its_name(self):
        on_host = ctypes.create_string_buffer(1)
        launch = lambda: self.cuda.cudaLaunchKernel(  # noqa: E731
            on_host, ONE, ONE, None, ctypes.c_size_t(0), None)
        self.assertEqual(launch(), INVALID_FUNCTION)
        self.cuda.cudaGetLastError()
        name = ctypes.create_string_buffer(b"_Z4relu")
        self.cuda.__getattr__("__cudaRegisterFunction")(
            None, on_host, None, name, -1, None, None, None, None, None)
        self.assertAlmostEqual(self.ms_of(launch), 0.025, places=4)

    def test_a_product_of_matrices_takes_as_long_as_its_size_asks(self):
        handle, size = ctypes.c_void_p(), 4096
        self.ok(self.blas.cublasCreate_v2(ctypes.byref(handle)))
        product = lambda: self.blas.cublasGemmEx(  # noqa: E731
            handle, 0, 0, size, size, size, None, None, 14, size, None, 14, size, None, None, 14,
            size, 68, -1)
        self.assertAlmostEqual(self.ms_of(product), 0.003 + 2 * size ** 3 / 4e11, places=3)
        self.ok(self.blas.cublasDestroy_v2(handle))

        description = ctypes.c_void_p()
        self.ok(self.blas_lt.cublasLtMatmulDescCreate(ctypes.byref(description), 68, 0))
        transposed = ctypes.c_int(1)
        self.ok(self.blas_lt.cublasLtMatmulDescSetAttribute(
            description, 3, ctypes.byref(transposed), ctypes.c_size_t(4)))
        layouts = [ctypes.c_void_p() for _ in range(3)]
        shapes = ((8192, 1024), (8192, 2048), (1024, 2048))  # the first one is transposed
        for layout, (rows, columns) in zip(layouts, shapes):
            self.ok(self.blas_lt.cublasLtMatrixLayoutCreate(
                ctypes.byref(layout), 14, ctypes.c_uint64(rows), ctypes.c_uint64(columns),
                ctypes.c_int64(rows)))
        first, second, result = layouts
        product = lambda: self.blas_lt.cublasLtMatmul(  # noqa: E731
            None, description, None, None, first, None, second, None, None, result, None, result,
            None, None, ctypes.c_size_t(0), None)
        flops = 2 * 8192 * 1024 * 2048
        self.assertAlmostEqual(self.ms_of(product), 0.003 + flops / 4e11, places=3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
