"""Spack's recipe: in a repository's folder packages/counterworks. `spack install counterworks`."""

from spack.package import *


class Counterworks(CMakePackage):
    """Metrics of NVIDIA GPUs from hardware counters: plans, captures and their evaluation."""

    homepage = "https://counterworks.invalid"
    url = "https://counterworks.invalid/counterworks-0.2.0.tar.xz"
    license("Apache-2.0")

    version("0.2.0")  # its sha256 is in SHA256SUMS of the release

    variant("cuda", default=True, description="The cupti backend, for captures on GPUs; needs CUDA's headers")
    variant("mpi", default=False, description="metric-eval-mpi, for captures of large jobs")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils")
    depends_on("hdf5@1.10: +hl ~mpi", when="~mpi")
    depends_on("hdf5@1.10: +hl +mpi", when="+mpi")
    depends_on("openmpi", when="+mpi")
    depends_on("jansson")
    depends_on("libyaml")
    depends_on("protobuf-c")
    depends_on("sqlite")
    depends_on("xxhash")
    depends_on("cuda@12:", when="+cuda", type="build")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("CW_TESTS", False),
            self.define("CW_WERROR", False),
            self.define_from_variant("CW_MPI", "mpi"),
            self.define("CMAKE_INSTALL_RPATH", ":".join(self.rpath)),
        ]
        if "+cuda" in self.spec:
            cuda = self.spec["cuda"].prefix
            arguments.append(self.define("CUDA_INCLUDE_DIR", cuda.include))
            arguments.append(self.define("CUPTI_INCLUDE_DIR", cuda.extras.CUPTI.include))
        return arguments
