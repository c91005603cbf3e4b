#define _GNU_SOURCE
#include "tests/unit/eval_sample.h"

#include <stdlib.h>
#include <unistd.h>

#include <hdf5.h>
#include <hdf5_hl.h>
#include <jansson.h>

#include "eval/check.h"
#include "eval/compare/compare.h"
#include "eval/output/prometheus.h"
#include "eval/output/stacks.h"
#include "eval/output/terminal.h"

static const char *const names[] = {"sm__inst.sum", "sm__bytes.sum.per_cycle_active", "sm__missing.sum",
                                    "sm__inst.avg.per_cycle_in_frame"};
enum { METRICS = sizeof names / sizeof *names };
static struct cw_metric metrics[METRICS];
static struct cw_result result;
static struct cw_output output;

static void make_result(void)
{
    const struct cw_eval_options options = {0};
    set_up();
    for (size_t i = 0; i < METRICS; i++)
        cr_assert(cw_metric_parse(&metrics[i], chip, names[i], &err) == CW_OK);
    result = (struct cw_result){chip, &data, "x.cwd", metrics, METRICS};
    cr_assert(cw_result_make(&result, &options, arena, &err) == CW_OK);
    cr_assert(cw_output_ranges(&output, &result, NULL, arena, &err) == CW_OK);
}

/* Leaves the ranges that are to be kept. */
static void select_ranges(const uint32_t *rows, uint32_t count)
{
    cr_assert(cw_result_select(&result, rows, count, &err) == CW_OK);
    cr_assert(cw_output_ranges(&output, &result, NULL, arena, &err) == CW_OK);
}

TestSuite(eval_output, .init = make_result, .fini = tear_down);

/* The text that a renderer writes; the caller frees it. */
static char *text_of(void (*write)(FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    write(out);
    fclose(out);
    return text;
}

static unsigned lines_in(const char *text)
{
    unsigned lines = 0;
    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

static void write_csv(FILE *out)
{
    cr_assert(cw_csv_write(out, &output, &err) == CW_OK);
}

static void write_tidy_csv(FILE *out)
{
    cr_assert(cw_csv_write_tidy(out, &output, &err) == CW_OK);
}

static void write_csv_0(FILE *out)
{
    cr_assert(cw_csv_write_0(out, &output, &err) == CW_OK);
}

static void write_json(FILE *out)
{
    cr_assert(cw_json_write(out, &output, &err) == CW_OK);
}

static void write_table(FILE *out)
{
    const struct cw_terminal_style style = {0};
    cr_assert(output.print(&output, &style, out, &err) == CW_OK);
}

static void write_narrow_table(FILE *out)
{
    const struct cw_terminal_style style = {.width = 40};
    cr_assert(output.print(&output, &style, out, &err) == CW_OK);
}

Test(eval_output, numbers)
{
    char text[CW_NUMBER_SIZE];
    cr_expect_str_eq(cw_number_text(0.1, text), "0.1");
    cr_expect_str_eq(cw_number_text(1.0 / 3, text), "0.3333333333333333");
    cr_expect_str_eq(cw_number_text(0.1 + 0.2, text), "0.30000000000000004");
    cr_expect_str_eq(cw_number_text(INFINITY, text), "inf");
    cr_expect_str_eq(cw_number_text(-INFINITY, text), "-inf");
    cr_expect_str_eq(cw_number_text(-NAN, text), "nan");
}

Test(eval_output, csv)
{
    char *text = text_of(write_csv);
    cr_expect(strstr(text, "range,name,kernel,device,process,nvtx,rank,grid_x,grid_y,grid_z,block_x,block_y,block_z,"
                           "host_start_ns,host_end_ns,status,sm__inst.sum,sm__bytes.sum.per_cycle_active,"
                           "sm__missing.sum,sm__inst.avg.per_cycle_in_frame\n"
                           "0,first,_Zk,") == text,
              "%s", text);
    cr_expect(strstr(text, ",\"sm__bytes.sum.per_cycle_active=mixed passes;sm__missing.sum=not collected;"
                           "sm__inst.avg.per_cycle_in_frame=not collected\",1600,40,nan,nan\n"
                           "1,\"se\"\"co,nd\",_Zk,"),
              "%s", text);
    cr_expect_eq(lines_in(text), 1 + SAMPLE_RANGES);
    free(text);
}

/* `status` is empty where all values are ok, and stays where there is no metric. */
Test(eval_output, csv_status)
{
    result.metric_count = 1;
    cr_assert(cw_output_ranges(&output, &result, NULL, arena, &err) == CW_OK);
    char *text = text_of(write_csv);
    cr_expect(strstr(text, ",status,sm__inst.sum\n"), "%s", text);
    cr_expect(strstr(text, ",,1600\n1,"), "%s", text);
    free(text);
    result.metric_count = 0;
    cr_assert(cw_output_ranges(&output, &result, NULL, arena, &err) == CW_OK);
    text = text_of(write_csv);
    cr_expect(strstr(text, ",host_end_ns,status\n"), "%s", text);
    cr_expect_eq(lines_in(text), 1 + SAMPLE_RANGES);
    free(text);
}

Test(eval_output, csv_spread)
{
    static const uint32_t occurrences[METRICS * SAMPLE_RANGES] = {3, 2, 1};
    static const double spread[METRICS * SAMPLE_RANGES] = {0.5, 0.25, NAN};
    result.metric_count = 1;
    result.occurrences = (uint32_t *)occurrences;
    result.spread = (double *)spread;
    cr_assert(cw_output_ranges(&output, &result, NULL, arena, &err) == CW_OK);
    char *text = text_of(write_csv);
    cr_expect(strstr(text, ",status,sm__inst.sum,sm__inst.sum:occurrences,sm__inst.sum:spread\n"), "%s", text);
    cr_expect(strstr(text, ",,1600,3,0.5\n1,"), "%s", text);
    free(text);
    text = text_of(write_tidy_csv);
    cr_expect(strstr(text, ",metric,unit,value,status,occurrences,spread\n"), "%s", text);
    cr_expect(strstr(text, ",sm__inst.sum,instructions,1600,ok,3,0.5\n1,"), "%s", text);
    free(text);
}

Test(eval_output, csv_tidy)
{
    char *text = text_of(write_tidy_csv);
    cr_expect(strstr(text, "range,name,kernel,device,process,nvtx,rank,grid_x,grid_y,grid_z,block_x,block_y,block_z,"
                           "host_start_ns,host_end_ns,metric,unit,value,status\n"
                           "0,first,_Zk,") == text,
              "%s", text);
    cr_expect(strstr(text, ",sm__inst.sum,instructions,1600,ok\n0,first,_Zk,"), "%s", text);
    cr_expect(strstr(text, ",sm__bytes.sum.per_cycle_active,bytes/cycles,40,mixed passes\n"), "%s", text);
    cr_expect_eq(lines_in(text), 1 + SAMPLE_RANGES * METRICS);
    free(text);
}

Test(eval_output, csv_of_0_1)
{
    char *text = text_of(write_csv_0);
    cr_expect(strstr(text, "range,name,kernel,metric,unit,value,status\n"
                           "0,first,_Zk,sm__inst.sum,instructions,1600,ok\n"
                           "0,first,_Zk,sm__bytes.sum.per_cycle_active,bytes/cycles,40,mixed passes\n"
                           "0,first,_Zk,sm__missing.sum,1,nan,not collected\n"
                           "0,first,_Zk,sm__inst.avg.per_cycle_in_frame,instructions/cycles,nan,not collected\n"
                           "1,\"se\"\"co,nd\",_Zk,sm__inst.sum,instructions,1600,ok\n") == text,
              "%s", text);
    free(text);
}

Test(eval_output, json)
{
    json_error_t failure;
    char *text = text_of(write_json);
    json_t *root = json_loads(text, 0, &failure);
    cr_assert(root, "%s: %s", failure.text, text);
    const json_t *ranges = json_object_get(root, "ranges"), *second = json_array_get(ranges, 1);
    const json_t *list = json_object_get(second, "metrics"), *first = json_array_get(list, 0);
    cr_expect_eq(json_array_size(ranges), SAMPLE_RANGES);
    cr_expect_str_eq(json_string_value(json_object_get(second, "name")), "se\"co,nd");
    cr_expect_str_eq(json_string_value(json_object_get(first, "unit")), "instructions");
    cr_expect(json_number_value(json_object_get(first, "value")) == 1600);
    cr_expect(json_is_null(json_object_get(json_array_get(list, 2), "value")));
    cr_expect(json_is_null(json_object_get(json_array_get(list, 3), "value")));
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(root, "capture"), "created")),
                     "2023-11-14T22:13:20Z");
    json_decref(root);
    free(text);
}

Test(eval_output, json_of_nothing)
{
    select_ranges(NULL, 0);
    char *text = text_of(write_json);
    json_t *root = json_loads(text, 0, NULL);
    cr_expect(root);
    json_decref(root);
    free(text);
}

Test(eval_output, select)
{
    static const uint32_t rows[] = {2, 1};
    set_value(INST, 0, 1);
    select_ranges(rows, 2);
    cr_expect_eq(result.row_count, 2);
    cr_expect_str_eq(cw_result_range(&result, 0)->name, "third");
    cr_expect_str_eq(cw_result_range(&result, 1)->name, "se\"co,nd");
    cr_expect(result.values[2] == 40 && result.statuses[2] == CW_VALUE_MIXED_PASSES);
}

Test(eval_output, table)
{
    char *text = text_of(write_table);
    cr_expect(
        strstr(text, "first  grid (1, 2, 3) x block (32, 1, 1)\n  range 0, device 0 Tiny (simulated), process 7"));
    cr_expect(strstr(text, "  sm__inst.sum                     inst        1,600\n"), "%s", text);
    cr_expect(strstr(text, "  sm__bytes.sum.per_cycle_active   B/cycle        40 ~\n"), "%s", text);
    cr_expect(strstr(text, "\n  -  not collected in this capture (frame and region: no --frame-ns, --region-ns)\n"),
              "%s", text);
    free(text);
    text = text_of(write_narrow_table);
    cr_expect(strstr(text, "  sm__inst.av..le_in_frame"), "%s", text);
    free(text);
}

Test(eval_output, table_values)
{
    static const struct {
        double value;
        const char *unit, *text, *shown;
    } cases[] = {
        {1234567, "instructions", "1,234,567", "inst"},
        {-1234.5, "1", "-1,234.50", ""},
        {43694.444, "nanoseconds", "43.694", "us"},
        {4.829e10, "bytes/s", "48.290", "GB/s"},
        {0, "bytes", "0", "B"},
        {2048, "bytes", "2.048", "kB"},
        {2048, "bytes/blocks", "2,048", "B/block"},
        {1.75e9, "gpc_cycles/s", "1.750", "GHz"},
        {2, "instructions/gpc_cycles", "2", "inst/cycle"},
        {2, "l2_sectors/l1tex_requests", "2", "sectors/request"},
        {7.5, "gpc_cycles*warps/gpc_cycles", "7.500", "warps"},
        {1, "gpc_cycles/gpc_cycles", "1", ""},
        {1, "ctas*gpc_cycles/cycles", "1", "blocks*cycles/cycle"},
        {1, "FLOP/byte", "1", "FLOP/byte"},
        {1, "1/s", "1", "1/s"},
        {1, "warps/gpc_cycles/warps", "1", "1/cycle"},
        {1, "a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q", "1", "a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q"},
        {0.00001, "%", "1.000e-05", "%"},
        {NAN, "bytes/s", "n/a", "B/s"},
        {-INFINITY, "%", "-inf", "%"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
        double factor = cw_terminal_factor(cases[i].value, cases[i].unit, shown);
        cr_expect_str_eq(cw_terminal_number(cases[i].value / factor, text), cases[i].text);
        cr_expect_str_eq(shown, cases[i].shown);
    }
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static struct cw_groups groups;
static struct cw_output_rows rows;

static void make_rows(enum cw_group_by by)
{
    static uint32_t order[] = {0, 1, 2};
    static const struct cw_sections none = {0};
    static const struct cw_eval_options options = {0};
    cr_assert(cw_groups_make(&groups, by, &data, chip, NULL, arena, &err) == CW_OK);
    result = (struct cw_result){chip, &groups.data, "x.cwd"};
    cr_assert(cw_result_make(&result, &options, arena, &err) == CW_OK);
    rows = (struct cw_output_rows){
        .data = &data, .groups = &groups, .rows = order, .count = groups.count, .result = &result, .sections = &none};
    cr_assert(cw_output_groups(&output, &rows, NULL, arena, &err) == CW_OK);
}

Test(eval_output, list_of_kernels)
{
    set_value(TIME, 0, 1000), set_value(TIME, 1, 3000), set_value(TIME, 2, 1000);
    sample_ranges[1].grid[0]++; /* another shape of the same kernel */
    make_rows(CW_BY_KERNEL);
    char *text = text_of(write_table);
    cr_expect(strstr(text, "3 launches of 1 kernel in 3 shapes, 5 us of GPU time, counted in 2 passes\n"), "%s", text);
    cr_expect(strstr(text, "  launches  total  share  mean  spread  "), "%s", text);
    cr_expect(strstr(text, "         1   3 us  60.0%  3 us       -  "), "%s", text);
    free(text);
}

Test(eval_output, list_without_a_time)
{
    for (int i = 0; i < SAMPLE_RANGES; i++)
        set_form(TIME, i, CW_FORM_OVERFLOW);
    make_rows(CW_BY_RANGE);
    char *text = text_of(write_table);
    cr_expect(strstr(text, "No time was collected, so they are sorted by their number.\n"), "%s", text);
    cr_expect(strstr(text, "\n  number  range\n"), "%s", text);
    free(text);
}

Test(eval_output, share_is_of_all_ranges)
{
    static const bool keep[SAMPLE_RANGES] = {true};
    set_value(TIME, 0, 1000), set_value(TIME, 1, 2000), set_value(TIME, 2, 1000);
    cr_assert(cw_groups_make(&groups, CW_BY_KERNEL, &data, chip, keep, arena, &err) == CW_OK);
    cr_expect(groups.count == 1 && groups.total == 1000 && groups.whole == 4000);
    cr_expect(cw_group_share(&groups, &groups.items[0]) == 0.25 && isnan(cw_group_spread(&groups.items[0])));
}

Test(eval_output, bars)
{
    static const struct cw_terminal_style blocks = {.bars = CW_BARS_BLOCKS}, ascii = {.bars = CW_BARS_ASCII};
    char text[CW_BAR_SIZE];
    cr_expect_str_eq(cw_terminal_bar(0.5, &ascii, text), "#####");
    cr_expect_str_eq(cw_terminal_bar(7, &ascii, text), "##########");
    cr_expect_str_eq(cw_terminal_bar(-1, &ascii, text), "");
    cr_expect_str_eq(cw_terminal_bar(NAN, &blocks, text), "");
    cr_expect_str_eq(cw_terminal_bar(0.0125, &blocks, text), "▏");
    cr_expect_str_eq(cw_terminal_bar(0.25, &blocks, text), "██▌");
    cr_expect_str_eq(cw_terminal_bar(1, &blocks, text), "██████████");
    cr_expect_str_eq(cw_terminal_bar(1, &(struct cw_terminal_style){0}, text), "");
}

/* ---- HDF5 ------------------------------------------------------------------------------------------------------- */

static void expect_strings(hid_t file, const char *path, const char *const *wanted, hsize_t count)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), type = H5Dget_type(set), space = H5Dget_space(set);
    hsize_t size = 0;
    char *got[8] = {0};
    cr_expect(H5Tis_variable_str(type) > 0 && H5Tget_cset(type) == H5T_CSET_UTF8);
    cr_assert(H5Sget_simple_extent_dims(space, &size, NULL) == 1 && size == count && count <= 8);
    cr_assert(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) >= 0);
    for (hsize_t i = 0; i < count; i++)
        cr_expect_str_eq(got[i], wanted[i]);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, got);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
}

static herr_t every_axis_has_a_scale(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)info;
    (void)context;
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);
    for (int axis = 0; axis < rank; axis++)
        cr_expect(H5DSis_scale(set) > 0 || H5DSget_num_scales(set, (unsigned)axis) == 1, "%s axis %d", name, axis);
    H5Sclose(space);
    H5Dclose(set);
    return 0;
}

static void expect_values(hid_t file)
{
    double values[SAMPLE_RANGES][METRICS];
    int8_t statuses[SAMPLE_RANGES][METRICS];
    hid_t value = H5Dopen2(file, "/range/value", H5P_DEFAULT), status = H5Dopen2(file, "/range/status", H5P_DEFAULT);
    cr_assert(H5Dread(value, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    cr_assert(H5Dread(status, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, statuses) >= 0);
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        for (uint32_t m = 0; m < METRICS; m++) {
            cr_expect(cw_reference_equal(values[i][m], result.values[m * SAMPLE_RANGES + i]));
            cr_expect(statuses[i][m] == result.statuses[m * SAMPLE_RANGES + i]);
        }
    H5Dclose(value);
    H5Dclose(status);
}

/* Ranges go by their numbers, and times are what readers take for dates. */
static void expect_dates(hid_t file)
{
    uint32_t numbers[SAMPLE_RANGES];
    char *units = NULL;
    cr_assert(H5LTread_dataset(file, "/range/range", H5T_NATIVE_UINT32, numbers) >= 0);
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        cr_expect_eq(numbers[i], i);
    cr_assert(H5LTget_attribute_string(file, "/range/host_start_ns", "units", (char *)&units) >= 0);
    cr_expect_str_eq(units, "nanoseconds since 1970-01-01");
    H5free_memory(units);
}

static char *temporary_name(char path[64])
{
    snprintf(path, 64, "/tmp/eval_output_test.XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
    return path;
}

Test(eval_output, hdf5)
{
    static const char *const labels[] = {"first", "se\"co,nd", "third"}, *const units[] = {"instructions",
                                                                                           "bytes/cycles", "1",
                                                                                           "instructions/cycles"};
    char path[64], text[32] = "", *conventions = text;
    cr_assert(cw_hdf5_write(&output, temporary_name(path), &err) == CW_OK, "%s", err.message);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), group = H5Gopen2(file, "/range", H5P_DEFAULT);
    cr_assert(file >= 0 && group >= 0);
    expect_strings(file, "/range/name", labels, SAMPLE_RANGES);
    expect_dates(file);
    expect_strings(file, "/range/metric", names, METRICS);
    expect_strings(file, "/range/unit", units, METRICS);
    cr_expect(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, every_axis_has_a_scale, NULL) >= 0);
    expect_values(file);
    cr_expect(H5LTget_attribute_string(file, "/", "conventions", (char *)&conventions) >= 0);
    cr_expect_str_eq(conventions, "counterworks-3");
    H5free_memory(conventions);
    H5Gclose(group);
    H5Fclose(file);
    unlink(path);
}

Test(eval_output, hdf5_of_nothing)
{
    char path[64];
    select_ranges(NULL, 0);
    cr_expect(cw_hdf5_write(&output, temporary_name(path), &err) == CW_OK, "%s", err.message);
    unlink(path);
}

/* ---- a table whose rows are made one after another ---- */

enum { MANY = 300000 };

struct numbers {
    uint64_t one, square;
};

static struct cw_output_row number_row(const struct cw_output_table *t, uint64_t i)
{
    struct numbers *n = t->content;
    *n = (struct numbers){i, i * i};
    return (struct cw_output_row){.record = n};
}

/* HDF5 has them in several pieces. */
Test(eval_output, hdf5_of_many_rows)
{
    static const struct cw_output_column columns[] = {
        {"one", CW_CELL_U64, CW_TO_FILES, offsetof(struct numbers, one)},
        {"square", CW_CELL_U64, CW_TO_FILES, offsetof(struct numbers, square)}};
    static const struct cw_output_column number = {"number", CW_CELL_U64, CW_TO_HDF5},
                                         other = {"other", CW_CELL_U64, CW_TO_CSV};
    static uint64_t got[MANY], got_numbers[MANY];
    struct numbers numbers;
    char path[64];
    struct cw_output many = {.data = &data, .source = "x.cwd", .table_count = 3};
    many.tables[0] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(columns), .name = "numbers", .group = "many",    .record_size = sizeof numbers,
        .row_count = MANY,          .row = number_row, .content = &numbers};
    many.tables[1] = many.tables[0];
    many.tables[1].group = "numbered";
    many.tables[1].numbers = &number;
    many.tables[2] = many.tables[0]; /* has nothing for HDF5 */
    many.tables[2].group = "nothing";
    many.tables[2].columns = &other;
    many.tables[2].column_count = 1;
    cr_assert(cw_hdf5_write(&many, temporary_name(path), &err) == CW_OK, "%s", err.message);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t scale = H5Dopen2(file, "/numbered/number", H5P_DEFAULT), nothing = H5Gopen2(file, "/nothing", H5P_DEFAULT);
    H5G_info_t info;
    cr_assert(H5LTread_dataset(file, "/many/square", H5T_NATIVE_UINT64, got) >= 0);
    cr_assert(H5LTread_dataset(file, "/numbered/number", H5T_NATIVE_UINT64, got_numbers) >= 0);
    for (uint64_t i = 0; i < MANY; i++)
        cr_assert(got[i] == i * i && got_numbers[i] == i);
    cr_assert(H5LTread_dataset(file, "/numbered/one", H5T_NATIVE_UINT64, got) >= 0);
    cr_expect(got[MANY - 1] == MANY - 1 && H5DSis_scale(scale) > 0);
    cr_expect(H5Gget_info(nothing, &info) >= 0 && info.nlinks == 0);
    H5Gclose(nothing);
    H5Dclose(scale);
    H5Fclose(file);
    unlink(path);
}

Test(eval_output, hdf5_that_cannot_be_written)
{
    cr_expect(cw_hdf5_write(&output, "/nowhere/x.h5", &err) == CW_ERR_IO);
    cr_expect_str_eq(err.message, "/nowhere/x.h5: cannot create: No such file or directory");
}

/* ---- comparing -------------------------------------------------------------------------------------------------- */

static enum cw_status load(const char *json, struct cw_reference *reference)
{
    char path[64];
    FILE *file = fopen(temporary_name(path), "w");
    fputs(json, file);
    fclose(file);
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_reference_load(reference, path, arena, &err);
    unlink(path);
    return status;
}

Test(eval_output, reference)
{
    struct cw_reference reference;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(load("{\"metrics\": [\"a\", \"b\", \"c\", \"d\"], \"ranges\": [[1600, 40, \"nan\", \"inf\"], "
                   "[1600.0000000000005, 40, \"nan\", 3], [1600, 41, \"nan\", 0]]}",
                   &reference) == CW_OK,
              "%s", err.message);
    cr_expect(cw_reference_compare(&reference, &result, out, &err) == CW_ERR_DIFFERS);
    fclose(out);
    cr_expect_str_eq(text, "sm__inst.avg.per_cycle_in_frame, range 1 (se\"co,nd): got nan, wanted 3\n"
                           "sm__bytes.sum.per_cycle_active, range 2 (third): got 40, wanted 41\n"
                           "8 values equal, 2 differ: computed 2 and 2, copied from the capture 6 and 0\n"
                           "2 values of frames and regions left out, which have no duration\n");
    free(text);
}

/* Infinity elsewhere is no value here, where it comes of a division by zero and of nothing else. */
Test(eval_output, reference_of_infinity)
{
    struct cw_reference reference;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    result.values[SAMPLE_RANGES] = result.values[SAMPLE_RANGES + 1] = NAN;
    result.statuses[SAMPLE_RANGES] = CW_VALUE_ZERO_DENOMINATOR;
    result.statuses[SAMPLE_RANGES + 1] = CW_VALUE_UNAVAILABLE;
    cr_assert(load("{\"metrics\": [\"a\", \"b\", \"c\", \"d\"], \"ranges\": [[1600, \"inf\", \"nan\", 0], "
                   "[1600, \"inf\", \"nan\", 0], [1600, 40, \"nan\", 0]]}",
                   &reference) == CW_OK,
              "%s", err.message);
    cr_expect(cw_reference_compare(&reference, &result, out, &err) == CW_ERR_DIFFERS);
    fclose(out);
    cr_expect_str_eq(text, "sm__bytes.sum.per_cycle_active, range 1 (se\"co,nd): got nan, wanted inf\n"
                           "8 values equal, 1 differ: computed 2 and 1, copied from the capture 6 and 0\n"
                           "3 values of frames and regions left out, which have no duration\n");
    free(text);
}

Test(eval_output, reference_refused)
{
    static const char *const cases[] = {"{", "[]", "{\"metrics\": [1], \"ranges\": []}",
                                        "{\"metrics\": [\"a\"], \"ranges\": [[]]}",
                                        "{\"metrics\": [\"a\"], \"ranges\": [[\"x\"]]}"};
    struct cw_reference reference;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(load(cases[i], &reference) == CW_ERR_INPUT, "%s", cases[i]);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_reference_load(&reference, "/nowhere.json", arena, &err) == CW_ERR_IO);
}

static void write_prometheus(FILE *out)
{
    struct cw_side side = {.means = {.data = &groups.data}};
    cr_assert(cw_groups_make(&side.groups, CW_BY_KERNEL, &data, chip, NULL, arena, &err) == CW_OK);
    cr_assert(cw_prometheus_write(out, &side, &err) == CW_OK);
}

Test(eval_output, devices_of_one_name_have_series_of_their_own)
{
    char *text = text_of(write_prometheus);
    cr_expect(strstr(text, ",device=\"Tiny\",index=\"0\",grid=") && strstr(text, ",device=\"Tiny\",index=\"1\",grid="),
              "%s", text);
    free(text);
}

Test(eval_output, two_names_that_prometheus_spells_alike_are_refused)
{
    static const char *const pairs[][2] = {{"a.b", "a_b"}, {"c", "time_seconds"}, {"a.b", "a_b_"}, {"a", "b"}};
    FILE *nowhere = fopen("/dev/null", "w");
    struct cw_side side = {.means = {.data = &groups.data, .metric_count = 2}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        side.means.names = pairs[i];
        const enum cw_status status = cw_prometheus_write(nowhere, &side, &err);
        cr_expect(i < 2 ? status == CW_ERR_USAGE && strstr(err.message, pairs[i][1]) : status == CW_OK, "%zu", i);
        err = (struct cw_error)CW_ERROR_INIT;
    }
    fclose(nowhere);
}

static void write_speedscope(FILE *out)
{
    cr_assert(cw_groups_make(&groups, CW_BY_RANGE, &data, chip, NULL, arena, &err) == CW_OK);
    const struct cw_stacks_output stacks = {.source = "x.cwd", .ranges = &groups};
    cr_assert(cw_speedscope_write(out, &stacks, &err) == CW_OK);
}

static void write_samples(bool speedscope, FILE *out)
{
    static struct cw_pc_row hot[] = {
        {.at = {.name = "k", .file = "/a/k.cu", .line = 7}, .reason = "barrier", .samples = 2},
        {.at = {.name = "k", .file = "/b/k.cu", .line = 7}, .reason = "barrier", .samples = 3},
        {.at = {.name = "k", .file = "", .offset = 16}, .reason = "barrier", .samples = 5},
    };
    const struct cw_instructions in = {.pc = hot, .pc_count = sizeof hot / sizeof *hot};
    const struct cw_stacks_output stacks = {.source = "x.cwd", .samples = &in};
    cr_assert((speedscope ? cw_speedscope_write : cw_folded_write)(out, &stacks, &err) == CW_OK);
}

static void write_speedscope_samples(FILE *out)
{
    write_samples(true, out);
}

static void write_folded_samples(FILE *out)
{
    write_samples(false, out);
}

/* Files of one name are two, for viewers that open them; a folded line has no room for folders. */
Test(eval_output, stacks_of_samples_know_their_source)
{
    char *text = text_of(write_speedscope_samples), *folded = text_of(write_folded_samples);
    cr_expect(strstr(text, "{\"name\": \"k.cu:7\", \"file\": \"/a/k.cu\", \"line\": 7}") &&
                  strstr(text, "{\"name\": \"k.cu:7\", \"file\": \"/b/k.cu\", \"line\": 7}") &&
                  strstr(text, "{\"name\": \"0x00010\"}"),
              "%s", text);
    cr_expect_str_eq(folded, "k;0x00010;barrier 5\nk;k.cu:7;barrier 5\n");
    free(text);
    free(folded);
}

Test(eval_output, stacks_of_times_that_no_run_takes)
{
    static const double bad[] = {INFINITY, -INFINITY, -5, 1e308, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set_value(TIME, 0, bad[i]), set_value(TIME, 1, bad[i]), set_value(TIME, 2, 7);
        char *text = text_of(write_speedscope);
        json_t *json = json_loads(text, 0, NULL);
        json_t *profiles = json_object_get(json, "profiles"), *only = json_array_get(profiles, 0);
        cr_assert(json && json_array_size(profiles) == 1, "%s", text);
        cr_expect(json_number_value(json_object_get(only, "endValue")) == 7, "%s", text);
        cr_expect_eq(cw_stacks_left_out(&groups), 2);
        json_decref(json);
        free(text);
    }
}
