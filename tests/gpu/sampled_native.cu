/* sampled_native CHIP FOLDER: native captures of samples, in which every metric of PM sampling that this GPU gives in
 * one pass stands once. FOLDER/list says which image has which. For metricdb-import --evidence and golden/native_sample.
 *
 *     nvcc -arch=native -o sampled_native tests/gpu/sampled_native.cu -lcupti -lcuda
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <mma.h>

#define NEED(call)                                                                                                     \
    do {                                                                                                               \
        int result = (int)(call);                                                                                      \
        if (result) {                                                                                                  \
            fprintf(stderr, "%s: %d\n", #call, result);                                                                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
/* Calls a function of CUPTI with parameters whose members the rest sets. */
#define CALL(type, function, p, ...)                                                                                   \
    type##_Params p = {};                                                                                              \
    p.structSize = type##_Params_STRUCT_SIZE;                                                                          \
    __VA_ARGS__;                                                                                                       \
    NEED(function(&p))
#define HOST(name, p, ...) CALL(CUpti_Profiler_Host_##name, cuptiProfilerHost##name, p, __VA_ARGS__)
#define PM(name, p, ...) CALL(CUpti_PmSampling_##name, cuptiPmSampling##name, p, __VA_ARGS__)

typedef std::vector<const char *> Names;
typedef std::vector<uint8_t> Bytes;

/* ---- a little of everything that a GPU does --------------------------------------------------------------------- */

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void copy(const float4 *from, float4 *to)
{
    to[THREAD] = from[THREAD];
}

__global__ void tiles(const float *a, float *c)
{
    __shared__ float s[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 512; k += 32) {
        s[y][x] = a[(blockIdx.x * 32 + y) * 512 + k + x];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += s[y][i] * s[i][x];
        __syncthreads();
    }
    c[blockIdx.x * 1024 + y * 32 + x] = sum;
}

__global__ void atomics(int *g)
{
    int i = THREAD, r = atomicAdd(&g[i & 1023], 1);
    atomicMax(&g[1024 + (i & 255)], i);
    if (r < 0)
        g[0] = atomicExch(&g[5], 9);
    if (i % 3 == 0)
        __nanosleep(100);
}

__global__ void spills(float *o)
{
    float local[64];
    int i = THREAD;
    double d = 0;
    for (int k = 0; k < 64; k++)
        local[(i * 7 + k * 5) & 63] = k * i;
    for (int k = 0; k < 64; k++)
        d = d * 1.1 + local[(i + k * 3) & 63];
    o[i] = d + __sinf(i);
}

__global__ void tensors(const __half *a, float *c)
{
    using namespace nvcuda::wmma;
    int w = THREAD / 32;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.f);
    for (int k = 0; k < 64; k++) {
        fragment<matrix_a, 16, 16, 16, __half, row_major> x;
        fragment<matrix_b, 16, 16, 16, __half, row_major> y;
        load_matrix_sync(x, a + w * 16384 + k * 16, 1024);
        load_matrix_sync(y, a + k * 16384, 1024);
        mma_sync(sum, x, y, sum);
    }
    store_matrix_sync(c + w * 256, sum, 16, mem_row_major);
}

__global__ void textures(cudaTextureObject_t t, float *o)
{
    int i = THREAD;
    o[i] = tex2D<float>(t, (i & 1023) * .7f, (i >> 10) * 1.3f);
}

static float *a, *c;
static char *host;
static cudaTextureObject_t texture;

static void work()
{
    copy<<<8192, 256>>>((float4 *)a, (float4 *)c);
    tiles<<<1024, dim3(32, 32)>>>(a, c);
    atomics<<<2048, 256>>>((int *)c);
    spills<<<1024, 256>>>(c);
    tensors<<<264, 256>>>((__half *)a, c);
    textures<<<4096, 256>>>(texture, c);
    cudaMemcpyAsync(host, a, 1 << 21, cudaMemcpyDeviceToHost);
    cudaMemcpyAsync(c, host, 1 << 21, cudaMemcpyHostToDevice);
}

static void prepare()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    NEED(cudaMalloc(&a, 1 << 28));
    NEED(cudaMalloc(&c, 1 << 28));
    NEED(cudaMallocHost(&host, 1 << 21));
    NEED(cudaMemset(a, 1, 1 << 28));
    NEED(cudaMallocArray(&array, &format, 1024, 1024));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.filterMode = cudaFilterModeLinear;
    NEED(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    work();
    NEED(cudaDeviceSynchronize());
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

static const char *chip;

static CUpti_Profiler_Host_Object *open_host()
{
    HOST(Initialize, p, p.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING; p.pChipName = chip);
    return p.pHostObject;
}

/* The passes that CUPTI makes of some metrics, and its config image. */
static size_t plan(Names names, Bytes &config)
{
    CUpti_Profiler_Host_Object *object = open_host();
    HOST(ConfigAddMetrics, add, add.pHostObject = object; add.ppMetricNames = names.data();
         add.numMetrics = names.size());
    HOST(GetConfigImageSize, size, size.pHostObject = object);
    config.resize(size.configImageSize);
    HOST(GetConfigImage, image, image.pHostObject = object; image.configImageSize = config.size();
         image.pConfigImage = config.data());
    HOST(GetNumOfPasses, passes, passes.configImageSize = config.size(); passes.pConfigImage = config.data());
    HOST(Deinitialize, end, end.pHostObject = object);
    return passes.numOfPasses;
}

/* Writes the image of some samples; returns how many are complete. */
static size_t sample(Names names, Bytes &config, const char *path)
{
    enum { SAMPLES = 40, INTERVAL_NS = 40000 };
    PM(Enable, enable, );
    CUpti_PmSampling_Object *object = enable.pPmSamplingObject;
    PM(SetConfig, set, set.pPmSamplingObject = object; set.configSize = config.size(); set.pConfig = config.data();
       set.hardwareBufferSize = 64u << 20; set.samplingInterval = INTERVAL_NS;
       set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
    PM(GetCounterDataSize, size, size.pPmSamplingObject = object; size.pMetricNames = names.data();
       size.numMetrics = names.size(); size.maxSamples = SAMPLES);
    Bytes data(size.counterDataSize);
    CALL(CUpti_PmSampling_CounterDataImage_Initialize, cuptiPmSamplingCounterDataImageInitialize, image,
         image.pPmSamplingObject = object; image.counterDataSize = data.size(); image.pCounterData = data.data());
    PM(Start, start, start.pPmSamplingObject = object);
    work();
    work();
    NEED(cudaDeviceSynchronize());
    PM(Stop, stop, stop.pPmSamplingObject = object);
    PM(DecodeData, decode, decode.pPmSamplingObject = object; decode.pCounterDataImage = data.data();
       decode.counterDataImageSize = data.size());
    PM(GetCounterDataInfo, info, info.pCounterDataImage = data.data(); info.counterDataImageSize = data.size());
    PM(Disable, disable, disable.pPmSamplingObject = object);
    FILE *f = fopen(path, "wb");
    NEED(!f || fwrite(data.data(), 1, data.size(), f) != data.size() || fclose(f));
    return info.numCompletedSamples;
}

/* No sample is ever complete with a counter of a link that is not up. */
static bool is_of_link(const char *name)
{
    return strcasestr(name, "nvlrx__") || strcasestr(name, "nvltx__") || strcasestr(name, "ctc__");
}

/* Percentages hold the cycles, too. */
static std::vector<std::string> list_metrics()
{
    static const char *const suffixes[] = {".avg.pct_of_peak_sustained_elapsed", ".ratio",
                                           ".avg.pct_of_peak_sustained_elapsed"};
    CUpti_Profiler_Host_Object *object = open_host();
    std::vector<std::string> all;
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; type++) {
        HOST(GetBaseMetrics, p, p.pHostObject = object; p.metricType = (CUpti_MetricType)type);
        for (size_t i = 0; i < p.numMetrics; i++)
            if (!is_of_link(p.ppMetricNames[i]))
                all.push_back(std::string(p.ppMetricNames[i]) + suffixes[type]);
    }
    return all;
}

/* `count` of the names, from `first` on. */
static Names take(const std::vector<std::string> &all, size_t first, size_t count)
{
    Names names;
    for (size_t i = first; i < first + count && i < all.size(); i++)
        names.push_back(all[i].c_str());
    return names;
}

int main(int argc, char **argv)
{
    NEED(argc != 3);
    chip = argv[1];
    std::string folder = argv[2];
    FILE *list = fopen((folder + "/list").c_str(), "w");
    NEED(!list || cuInit(0));
    CALL(CUpti_Profiler_Initialize, cuptiProfilerInitialize, initialize, );
    prepare();
    std::vector<std::string> all = list_metrics();
    Bytes config;
    int images = 0;
    for (size_t first = 0, count; first < all.size(); first += count ? count : 1) {
        count = 0;
        for (size_t step = 32; step; step /= 2)
            while (first + count < all.size() && plan(take(all, first, count + step), config) == 1)
                count += step;
        if (!count) {
            fprintf(list, "several passes: %s\n", all[first].c_str());
            continue;
        }
        char path[4096];
        Names names = take(all, first, count);
        snprintf(path, sizeof path, "%s/%03d.cd", argv[2], images);
        plan(names, config);
        fprintf(list, "%03d.cd: %zu samples\n", images++, sample(names, config, path));
        for (const char *name : names)
            fprintf(list, "  %s\n", name);
    }
    NEED(fclose(list));
    printf("%d images\n", images);
    return 0;
}
