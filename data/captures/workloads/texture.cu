// texture: 2D fetches through a texture object, at points and filtered between them, fetches of a 1D buffer, and
// surface reads and writes.
// Meant to move the texture pipe (TEX, TLD), its filter and hit rates, and surface loads and stores (SULD, SUST).
#include "check.cuh"

constexpr int width = 512, height = 512;
constexpr size_t row_bytes = width * sizeof(float);

// The mean of four neighbours by the filter, and a point far away. Coordinates count texels; none is past an edge.
__global__ void fetch(cudaTextureObject_t filtered, cudaTextureObject_t points, cudaTextureObject_t linear, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float mean = tex2D<float>(filtered, min(x, width - 2) + 1.0f, min(y, height - 2) + 1.0f);
    float point = tex2D<float>(points, (x * 7) % width + 0.5f, (y * 5) % height + 0.5f);
    out[y * width + x] = mean + point + tex1Dfetch<float>(linear, x * height + y);
}

__global__ void mirror(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float value = surf2Dread<float>(from, x * int(sizeof(float)), y);
    surf2Dwrite(value + 1.0f, to, (width - 1 - x) * int(sizeof(float)), y);
}

cudaArray_t make_array()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    return array;
}

cudaResourceDesc resource_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

cudaTextureObject_t make_texture(const cudaResourceDesc &resource, cudaTextureFilterMode filter)
{
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = filter;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

int main()
{
    auto in = fill<float>(width * height, small_int);
    Buffer<float> buffer(in), out(in.size());
    cudaArray_t source = make_array(), target = make_array();
    CHECK(cudaMemcpy2DToArray(source, 0, 0, in.data(), row_bytes, row_bytes, height, cudaMemcpyHostToDevice));
    cudaResourceDesc linear = {}, source_desc = resource_of(source), target_desc = resource_of(target);
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear = {buffer.get(), cudaCreateChannelDesc<float>(), in.size() * sizeof(float)};
    cudaSurfaceObject_t from, to;
    CHECK(cudaCreateSurfaceObject(&from, &source_desc));
    CHECK(cudaCreateSurfaceObject(&to, &target_desc));

    dim3 block(32, 8), grid(width / block.x, height / block.y);
    fetch<<<grid, block>>>(make_texture(source_desc, cudaFilterModeLinear),
                           make_texture(source_desc, cudaFilterModePoint),
                           make_texture(linear, cudaFilterModePoint), out.get());
    mirror<<<grid, block>>>(from, to);
    finish();

    auto at = [&](size_t x, size_t y) { return in[y * width + x]; };
    auto want = [&](size_t i) {
        size_t x = i % width, y = i / width;
        size_t left = std::min<size_t>(x, width - 2), top = std::min<size_t>(y, height - 2);
        float mean = (at(left, top) + at(left + 1, top) + at(left, top + 1) + at(left + 1, top + 1)) / 4;
        return mean + at(x * 7 % width, y * 5 % height) + in[x * height + y];
    };
    expect("texture: fetch", out.download(), want, 1e-4);
    std::vector<float> mirrored(in.size());
    CHECK(cudaMemcpy2DFromArray(mirrored.data(), row_bytes, target, 0, 0, row_bytes, height, cudaMemcpyDeviceToHost));
    expect("texture: mirror", mirrored, [&](size_t i) { return at(width - 1 - i % width, i / width) + 1; });
    return passed("texture", "fetches and surface writes of 512 by 512 texels");
}
