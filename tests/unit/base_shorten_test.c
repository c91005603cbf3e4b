#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"

static const char long_name[] =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
    ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";

static const char gelu[] =
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)";
static const char multi[] =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::TensorListMetadata<1>, "
    "at::native::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)";

static const struct {
    const char *name;
    size_t width;
    const char *wanted;
} cases[] = {
    {"gemm(float const*, float const*, float*)", 0, "gemm(float const*, float const*, float*)"},
    {"gemm(float const*, float const*, float*)", 40, "gemm(float const*, float const*, float*)"},
    {"gemm(float const*, float const*, float*)", 39, "gemm"},
    {long_name, 110,
     "at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >"},
    {long_name, 80, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul> >"},
    {long_name, 40, "vectorized_elemen..<..CUDAFunctor_add..>"},
    {long_name, 60, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ..>"},
    {long_name, 26, "vectorized..<CUDAFuncto..>"},
    {gelu, 20, "vectori..<GeluCUD..>"},
    {gelu, 60, "vectorized_elementwise_kernel<8, GeluCUDAKernelImpl, arra..>"},
    {gelu, 53, "vectorized_elementwise_kernel<..GeluCUDAKernelImpl..>"},
    {multi, 52, "multi_tensor_apply_kernel<..BinaryOpScalarFunctor..>"},
    {multi, 64, "multi_tensor_apply_kernel<..BinaryOpScalarFunctor, multiplies..>"},
    {"reduce<512, 1, ReduceOp<float, wrapper<float, sum_functor<float, float> >, 4> >(int)", 32,
     "reduce<..sum_functor>"},
    {"scan<float, float, false>(float*)", 25, "scan<float, float, false>"},
    {long_name, 20, "vectori..<CUDAFun..>"},
    {long_name, 19, "vectorize..e_kernel"},
    {long_name, 1, "."},
    {"void (anonymous namespace)::softmax<float, 8>(float*)", 20, "softmax<float, 8>"},
    {"ns::outer(int)::{lambda(int)#1}::operator()(int) const", 30, "ns::outer"},
    {"a::b::operator<< <int>(int)", 24, "a::b::operator<< <int>"},
    {"forward pass of the second layer", 20, "forward p..ond layer"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_stage3_kernel", 30, "sm80_xmma_gemm.._stage3_kernel"},
    {"k\033[31m]", 10, "k\\x1b[31m]"},
    {"日本日本日本日本", 6, "日本..日本"},
    {"<<<<<<<<<<", 4, "<..>"},
    {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", 3, NULL},
    {">>>>>>>>::::::::)))))))", 3, NULL},
};

Test(shorten, names)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CW_SHORT_SIZE];
        const char *made = cw_shorten(cases[i].name, cases[i].width, text);
        cr_expect(!cases[i].wanted || strcmp(made, cases[i].wanted) == 0, "%zu: '%s', expected '%s'", cases[i].width,
                  made, cases[i].wanted);
        cr_expect(!cases[i].width || cw_text_columns(made) <= cases[i].width, "'%s' is wider than %zu", made,
                  cases[i].width);
    }
}

Test(shorten, a_name_of_any_length_fits)
{
    char name[3 * CW_SHORT_SIZE], text[CW_SHORT_SIZE];
    for (int c = 1; c < 256; c++) {
        memset(name, c, sizeof name - 1);
        name[sizeof name - 1] = 0;
        for (size_t width = 1; width < 100; width += 7)
            cr_expect(cw_text_columns(cw_shorten(name, width, text)) <= width, "character %d", c);
        cw_shorten(name, 0, text);
    }
}
