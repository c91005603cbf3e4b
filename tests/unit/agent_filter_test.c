#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/common/filter.h"

static struct cw_filter filter;
static struct cw_error err;

static struct cw_filter_options everything(void)
{
    return (struct cw_filter_options){.launch_count = UINT64_MAX};
}

static void start(const struct cw_filter_options *options)
{
    err = (struct cw_error)CW_ERROR_INIT;
    cr_assert(cw_filter_open(&filter, options, &err) == CW_OK);
}

static void finish(void)
{
    cw_filter_close(&filter);
}

TestSuite(filter, .fini = finish);

Test(filter, nothing_asked_means_everything)
{
    struct cw_filter_options o = everything();
    start(&o);
    cr_expect(cw_filter_launch(&filter, "kernel", false));
    cr_expect(cw_filter_launch(&filter, "", false));
    cr_expect(cw_filter_process(&filter, "python3", false));
    cr_expect(cw_filter_device(&filter, 63));
    cr_expect(cw_filter_range(&filter, "step"));
}

Test(filter, kernel_matches_mangled_or_readable)
{
    struct cw_filter_options o = everything();
    o.kernels[0] = "^add\\(float,";
    o.kernel_count = 1;
    start(&o);
    cr_expect(cw_filter_launch(&filter, "_Z3addPfi", false) == false, "add(float*, int) has a star");
    finish();
    o.kernels[0] = "^add\\(float\\*";
    start(&o);
    cr_expect(cw_filter_launch(&filter, "_Z3addPfi", false));
    cr_expect(cw_filter_launch(&filter, "_Z3addPfi", false), "the second time it comes from memory");
    cr_expect(!cw_filter_launch(&filter, "_Z3subPfi", false));
    cr_expect(!cw_filter_launch(&filter, "", false), "a graph has no name");
}

/* The kernels of PyTorch's operators have such names. */
Test(filter, a_whole_name_may_be_no_expression_at_all)
{
    struct cw_filter_options o = everything();
    o.kernels[o.kernel_count++] = "k<{lambda(float)#1}>(int)";
    o.kernels[o.kernel_count++] = "k<void (*)(int)>(int)";
    o.kernels[o.kernel_count++] = "a::operator[](int)";
    start(&o);
    for (size_t i = 0; i < o.kernel_count; i++)
        cr_expect(cw_filter_kernel(&filter, o.kernels[i]), "%s", o.kernels[i]);
    cr_expect(!cw_filter_kernel(&filter, "k<{lambda(float)#2}>(int)"));
    finish();
}

/* As pasted from a table: as an expression it would be "add(float, int)" and "f<1>" alone. */
Test(filter, a_whole_name_is_no_expression)
{
    struct cw_filter_options o = everything();
    o.kernels[o.kernel_count++] = "add(float*, int)";
    o.kernels[o.kernel_count++] = "raw(name)[3]";
    start(&o);
    cr_expect(cw_filter_kernel(&filter, "_Z3addPfi"), "readable");
    cr_expect(cw_filter_kernel(&filter, "raw(name)[3]"), "as it is");
    cr_expect(cw_filter_kernel(&filter, "rawname3"), "an expression as well");
    cr_expect(!cw_filter_kernel(&filter, "_Z3addPfii"));
    finish();
    o = everything();
    o.excluded[o.excluded_count++] = "add(float*, int)";
    o.range = "step (1/2)+";
    o.process = "a++";
    start(&o);
    cr_expect(!cw_filter_kernel(&filter, "_Z3addPfi"));
    cr_expect(cw_filter_kernel(&filter, "_Z3subPfi"));
    cr_expect(cw_filter_range(&filter, "step (1/2)+") && cw_filter_range(&filter, "step 1/2") &&
              !cw_filter_range(&filter, "step"));
    cr_expect(cw_filter_process(&filter, "a++", false) && !cw_filter_process(&filter, "b++", false));
}

Test(filter, excluded_kernels_are_left_out_by_either_name)
{
    struct cw_filter_options o = everything();
    o.excluded[o.excluded_count++] = "nccl";
    o.excluded[o.excluded_count++] = "^sub\\(";
    start(&o);
    cr_expect(cw_filter_launch(&filter, "_Z3addPfi", false));
    cr_expect(!cw_filter_launch(&filter, "_Z3subPfi", false), "readable");
    cr_expect(!cw_filter_launch(&filter, "ncclDevKernel_AllReduce", false));
    cr_expect(cw_filter_launch(&filter, "", false), "a graph is nothing that was named");
    finish();
    o.kernels[o.kernel_count++] = "add";
    o.kernels[o.kernel_count++] = "nccl";
    start(&o);
    cr_expect(cw_filter_kernel(&filter, "_Z3addPfi"));
    cr_expect(!cw_filter_kernel(&filter, "ncclDevKernel_AllReduce"), "what is excluded is, whatever is asked for");
    cr_expect(!cw_filter_kernel(&filter, "mul"));
}

Test(filter, look_ahead_is_told_with_what_does_it_here)
{
    struct cw_filter_options o = everything();
    o.kernels[o.kernel_count++] = "^(?!.*nccl)";
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_filter_open(&filter, &o, &err) == CW_ERR_USAGE);
    cr_expect_str_eq(err.message,
                     "found --kernel '^(?!.*nccl)', expected a regular expression: POSIX extended ones have "
                     "no look-ahead; --exclude leaves kernels out");
}

Test(filter, skip_and_count_are_of_what_matches)
{
    struct cw_filter_options o = everything();
    o.kernels[o.kernel_count++] = "a";
    o.launch_skip = 1;
    o.launch_count = 2;
    start(&o);
    const char *kernels[] = {"a", "b", "a", "b", "a", "a"};
    bool wanted[] = {false, false, true, false, true, false};
    for (int i = 0; i < 6; i++)
        cr_expect(cw_filter_launch(&filter, kernels[i], false) == wanted[i], "launch %d", i);
}

Test(filter, all_launches_may_be_skipped_without_overflow)
{
    struct cw_filter_options o = everything();
    o.launch_skip = 1;
    start(&o);
    cr_expect(!cw_filter_launch(&filter, "a", false));
    cr_expect(cw_filter_launch(&filter, "a", false));
}

Test(filter, range_asks_for_launches_within)
{
    struct cw_filter_options o = everything();
    o.range = "step";
    start(&o);
    cr_expect(!cw_filter_launch(&filter, "a", false));
    cr_expect(cw_filter_launch(&filter, "a", true));
}

Test(filter, processes_and_devices)
{
    struct cw_filter_options o = everything();
    o.process = "^py";
    o.devices = 5;
    o.only_program = true;
    start(&o);
    cr_expect(cw_filter_process(&filter, "python3", true));
    cr_expect(!cw_filter_process(&filter, "python3", false));
    cr_expect(!cw_filter_process(&filter, "sh", true));
    cr_expect(cw_filter_device(&filter, 2));
    cr_expect(!cw_filter_device(&filter, 1));
    cr_expect(!cw_filter_device(&filter, 64));
}

Test(filter, a_bad_expression_is_told)
{
    struct cw_filter_options o = everything();
    o.kernels[o.kernel_count++] = "good";
    o.range = "[";
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_filter_open(&filter, &o, &err) == CW_ERR_USAGE);
    cr_expect(strncmp(err.message, "found --range '[', expected a regular expression", 48) == 0);
}

Test(filter, an_empty_expression_is_told_and_not_everything)
{
    struct cw_filter_options o = everything();
    o.kernels[o.kernel_count++] = "";
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_filter_open(&filter, &o, &err) == CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found --kernel '', expected a regular expression");
}

Test(filter, what_the_program_is_told_reads_back)
{
    struct cw_writer out;
    struct cw_reader in;
    struct cw_arena *arena = cw_arena_create();
    struct cw_filter_options o = everything(), back;
    o.excluded[o.excluded_count++] = "nccl";
    o.excluded[o.excluded_count++] = "";
    o.range = "";
    o.launch_skip = 7;
    cw_writer_init(&out);
    cw_filter_write(&out, &o);
    cw_reader_init(&in, out.data, out.size, "", 0, NULL);
    cw_filter_read(&in, &back, arena);
    cr_expect(cw_reader_finish(&in, "a filter") == CW_OK);
    cr_expect_eq(back.kernel_count, 0);
    cr_assert_eq(back.excluded_count, 2);
    cr_expect_str_eq(back.excluded[0], "nccl");
    cr_expect_str_empty(back.excluded[1]);
    cr_expect(back.range && !*back.range);
    cr_expect(back.launch_skip == 7);
    cr_expect(back.launch_count == UINT64_MAX);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

/* The last pattern that matches decides. */
Test(filter, calls_of_the_driver_are_named_by_patterns_for_them)
{
    cr_expect(cw_filter_names_driver_call("cuda*,cuLaunch*", "cuLaunchKernel"));
    cr_expect(cw_filter_names_driver_call("*,cu*", "cuLaunchKernel"));
    cr_expect(!cw_filter_names_driver_call("*", "cuLaunchKernel"));
    cr_expect(!cw_filter_names_driver_call("cuLaunch*,*", "cuLaunchKernel"));
    cr_expect(!cw_filter_names_driver_call("cu*,-cuLaunch*", "cuLaunchKernel"));
    cr_expect(!cw_filter_names_driver_call("-cudaGetDevice", "cuLaunchKernel"));
    cr_expect(!cw_filter_names_driver_call("cuda*", "cuLaunchKernel"));
    cr_expect(!cw_filter_names_driver_call("", "cuLaunchKernel"));
}
