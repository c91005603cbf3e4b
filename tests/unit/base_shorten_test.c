#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/apart.h"
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
    {"日本日本日本日本", 10, "日本..日本"},
    {"日本日本日本日本", 6, "日..本"},
    {"<<<<<<<<<<", 4, "<..>"},
    {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", 3, NULL},
    {">>>>>>>>::::::::)))))))", 3, NULL},
};

static const struct {
    const char *name, *wanted;
} families[] = {
    {"gemm(float const*, float const*, float*)", "gemm"},
    {multi, "multi_tensor_apply_kernel"},
    {gelu, "vectorized_elementwise_kernel"},
    {"void (anonymous namespace)::softmax<float, 8>(float*)", "softmax"},
    {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_bias_TNT", "nvjet_sm90_tst"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_stage3_kernel", "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(cutlass_80::Params)",
     "cutlass_80_tensorop_s1688gemm"},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>, void> >(int)",
     "GemmUniversal"},
    {"void ns::Kernel<float>(float*)", "Kernel"},
    {"void device_kernel<__half>(__half*)", "device_kernel"},
    {"triton_poi_fused_add_gelu_3", "triton_poi_fused_add_gelu"},
    {"cudnn_sdpa_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0", "cudnn_sdpa_knob"},
    {"ns::outer(int)::{lambda(int)#1}::operator()(int) const", "outer"},
    {"a::b::operator<< <int>(int)", "operator<<"},
    {"graph (1 kernel)", "graph (1 kernel)"},
    {"step/forward", "step/forward"},
    {"64x64_x", "64x64_x"},
    {"_0", "_0"},
    {"12", "12"},
    {"k\033[31m]", "k\033[31m]"},
    {"<a>", "?"},
    {"", "(no name)"},
};

Test(shorten, families)
{
    char text[CW_SHORT_SIZE], name[3 * CW_SHORT_SIZE] = "void at::(anonymous namespace)::run<";
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        cr_expect_str_eq(cw_shorten_to_family(families[i].name, text), families[i].wanted, "%s is of %s",
                         families[i].name, text);
    while (strlen(name) < 2 * CW_SHORT_SIZE)
        strcat(name, "std::array<char*, 3ul>, ");
    strcat(name, "int>(int)");
    cr_expect_str_eq(cw_shorten_to_family(name, text), "run", "longer than the text, %s", text);
    cr_expect_str_eq(cw_shorten(name, 20, text), "run<array<char*, ..>", "longer than the text, %s", text);
}

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
        cr_expect(*cw_shorten_to_family(name, text), "character %d", c);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(*cw_shorten_to_family(cases[i].name, text), "%s", cases[i].name);
}

Test(shorten, letters_of_any_width_fit)
{
    static const char *const names[] = {"void 畳み込み層::核関数<行列の積, 転置された行列の積>(float*)",
                                        "核関数核関数核関数核関数核関数核関数核関数", "🚀🚀🚀🚀_kernel<🚀🚀🚀🚀>(🚀*)",
                                        "e\u0301e\u0323e\u0301e\u0301e\u0301e\u0323e\u0301e\u0301e\u0301e\u0323"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t width = 1; width < 60; width++) {
            char text[CW_SHORT_SIZE];
            cw_shorten(names[i], width, text);
            const char *mark = strstr(text, "..");
            cr_expect_leq(cw_text_columns(text), width, "%s", text);
            cr_expect(!mark || cw_text_letter(mark, 2) == 2, "%s: a mark without its letter", text);
        }
}

/* Marks take bytes and no columns. */
Test(shorten, names_of_many_marks_have_room)
{
    char names[2][CW_SHORT_SIZE], text[CW_SHORT_SIZE];
    const char *const list[] = {names[0], names[1]};
    for (size_t n = 0; n < 2; n++) {
        size_t used = 0;
        while (used + 32 < CW_SHORT_SIZE)
            used += (size_t)snprintf(names[n] + used, CW_SHORT_SIZE - used, "e\u0301\u0301\u0301\u0301%s",
                                     used == 900 && n ? "x" : "");
    }
    for (size_t width = 16; width < 300; width++) {
        size_t *at = cw_find_alike(list, 2, width, cw_shorten);
        cr_assert_not_null(at);
        for (size_t n = 0; n < 2; n++) {
            cw_shorten(list[n], width, text);
            cr_expect_leq(cw_text_columns(cw_show_apart(list[n], at[n], width, text)), width);
        }
        free(at);
    }
}

static const char *as_it_is(const char *name, size_t width, char text[CW_SHORT_SIZE])
{
    (void)width;
    cw_text_format(text, CW_SHORT_SIZE, "%s", name);
    return text;
}

Test(shorten, letters_that_fill_the_room_are_not_told_apart)
{
    enum { LONG = CW_SHORT_SIZE + 64 };
    static char names[2][LONG];
    const char *const list[] = {names[0], names[1]};
    char *text = malloc(CW_SHORT_SIZE); /* sanitizers see what is written behind it */
    for (size_t n = 0; n < 2; n++) {
        size_t used = (size_t)snprintf(names[n], LONG, "e");
        while (used + 4 < LONG)
            used += (size_t)snprintf(names[n] + used, LONG - used, "\u0301");
        strcat(names[n], n ? "a" : "b");
    }
    for (size_t width = 16; width < 400; width++) {
        size_t *at = cw_find_alike(list, 2, width, as_it_is);
        cr_assert_not_null(at);
        for (size_t n = 0; n < 2; n++) {
            as_it_is(list[n], width, text);
            cr_expect_lt(strlen(cw_show_apart(list[n], at[n], width, text)), CW_SHORT_SIZE);
        }
        free(at);
    }
    free(text);
}

Test(shorten, names_that_read_the_same_show_where_they_differ)
{
    static const char *const names[] = {
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_kernel__5x_"
        "cublas",
        "gemm(float*)",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_kernel__5x_"
        "cublas",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_128x32_8x5_nn_align1)",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(cutlass_80_simt_sgemm_128x64_8x5_nn_align1)",
        "gemm(float*)"};
    static const char *const wanted[] = {
        "sm80_xmma_gemm..tn_n_tilesize32x32x..", "gemm(float*)",
        "sm80_xmma_gemm..nn_n_tilesize32x32x..", "Kernel2<cutlas..128x32_8x5_nn_align..",
        "Kernel2<cutlas..128x64_8x5_nn_align..", "gemm(float*)"};
    enum { COUNT = sizeof names / sizeof *names, WIDTH = 37 };
    char text[CW_SHORT_SIZE];
    size_t *at = cw_find_alike(names, COUNT, WIDTH, cw_shorten);
    cr_assert_not_null(at);
    for (size_t i = 0; i < COUNT; i++) {
        cw_show_apart(names[i], at[i], WIDTH, (char *)cw_shorten(names[i], WIDTH, text));
        cr_expect(cw_text_columns(text) <= WIDTH, "%s", text);
        cr_expect_str_eq(text, wanted[i]);
    }
    cr_expect(at[1] == 0 && at[5] == 0, "the same name differs in nothing");
    cr_expect_str_eq(cw_show_apart(names[0], at[0], 15, (char *)cw_shorten(names[0], 15, text)), "sm80_xm..cublas");
    free(at);
}

/* Names that differ in two places, of which neither tells each from all others. */
Test(base_shorten, names_of_a_list_stay_apart)
{
    static const char *const names[] = {
        "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_execute_kernel__5x_cublas",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_execute_kernel__5x_cublas",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_execute_split_k_kernel__5x_cublas",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_execute_split_k_kernel__5x_cublas",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_execute_kernel__5x_cublas",
        "void multi_tensor_apply_kernel<TensorListMetadata<1>, BinaryOpScalarFunctor<float, 1, 1, 0>, multiplies>(int)",
        "void multi_tensor_apply_kernel<TensorListMetadata<1>, BinaryOpScalarFunctor<float, 1, 1, 0>, plus>(int)",
        "void multi_tensor_apply_kernel<TensorListMetadata<3>, PointwiseOpScalarFunctor<float, 3, 3, 0> >(int)",
        "encoder::update_parameters_of_a_model(float*)",
        "decoder::update_parameters_of_a_model(float*)"};
    enum { COUNT = sizeof names / sizeof *names };
    for (size_t width = 24; width < 80; width++) {
        char text[COUNT][CW_SHORT_SIZE];
        size_t *alike = cw_find_alike(names, COUNT, width, cw_shorten);
        cr_assert_not_null(alike);
        for (size_t i = 0; i < COUNT; i++) {
            char shown[CW_SHORT_SIZE];
            cw_shorten(names[i], width, text[i]);
            cw_show_apart(names[i], alike[i], width, text[i]);
            cr_expect_leq(cw_text_columns(text[i]), width, "%s", text[i]);
            cr_expect(!alike[i] || cw_is_shown_apart(names[i], cw_shorten(names[i], width, shown), text[i]), "%s",
                      text[i]);
            for (size_t k = 0; k < i; k++)
                cr_expect_str_neq(text[i], text[k], "%zu columns", width);
        }
        free(alike);
    }
}

Test(shorten, all_profilers_spell_a_kernel_alike)
{
    static const struct {
        const char *name, *spelling;
    } rows[] = {
        {"void gemm<float, 128>(float*, float const*, int)", "gemm<float,128>"},
        {"void gemm<float, (int)128>(T1 *, const T1 *, int)", "gemm<float,128>"},
        {"a::b<(unsigned int)3, (bool)1, -2>(int)", "a::b<3,1,-2>"},
        {"a::b<(int)-2>(int)", "a::b<-2>"},
        {"at::native::(anonymous namespace)::fill<int>(int)", "at::native::(anonymousnamespace)::fill<int>"},
        {"plain_c_kernel", "plain_c_kernel"},
        {"", ""},
    };
    char text[CW_SHORT_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(cw_shorten_to_spelling(rows[i].name, text), rows[i].spelling, "%s", rows[i].name);
}
