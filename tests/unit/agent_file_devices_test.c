#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/output/file_devices.h"

static struct cw_file_devices file;

static uint32_t find(uint32_t index, const char *host, const char *pci, bool expect_new)
{
    struct cw_pair pairs[2] = {{"host", host}, {"pci", pci}};
    struct cw_device device = {.index = index, .attribute_count = pci ? 2 : 1, .attributes = pairs};
    uint32_t number = 99;
    bool is_new = !expect_new;
    cr_assert(cw_file_devices_find(&file, &device, &number, &is_new));
    cr_expect(is_new == expect_new);
    return number;
}

Test(file_devices, one_number_for_a_device_however_processes_number_it)
{
    cr_expect(find(0, "node", "0000:01:00.0", true) == 0);
    cr_expect(find(0, "node", "0000:02:00.0", true) == 1);
    cr_expect(find(1, "node", "0000:02:00.0", false) == 1);
    cr_expect(find(5, "node", "0000:01:00.0", false) == 0);
    cr_expect(find(1, "other", "0000:02:00.0", true) == 2);
    cr_expect(find(7, "node", "0000:03:00.0", true) == 7);
}

Test(file_devices, a_device_without_an_address_is_known_by_its_number)
{
    cr_expect(find(3, "node", NULL, true) == 3);
    cr_expect(find(3, "node", NULL, false) == 3);
    cr_expect(find(4, "node", NULL, true) == 4);
}

Test(file_devices, too_many_are_refused)
{
    char pci[16];
    struct cw_pair pair = {"pci", pci};
    struct cw_device device = {.attribute_count = 1, .attributes = &pair};
    uint32_t number;
    bool is_new;
    for (int i = 0; i < CW_MOST_FILE_DEVICES; i++) {
        snprintf(pci, sizeof pci, "%d", i);
        cr_assert(cw_file_devices_find(&file, &device, &number, &is_new));
        cr_expect(number == (uint32_t)i);
    }
    cr_expect(!cw_file_devices_find(&file, &device, &number, &is_new) || !is_new);
    snprintf(pci, sizeof pci, "x");
    cr_expect(!cw_file_devices_find(&file, &device, &number, &is_new));
}
