/* A locale whose numbers have a decimal comma. */
#ifndef CW_TEST_COMMA_H
#define CW_TEST_COMMA_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes the locale in a new folder, and sets it; skips the test if none can be made. */
static inline void cw_test_comma(const char *folder)
{
    char command[512];
    snprintf(command, sizeof command,
             "mkdir -p %s && cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\n"
             "END LC_NUMERIC\\n' >comma.src && { localedef --no-archive -c -i comma.src -f ANSI_X3.4-1968 ./comma "
             ">/dev/null 2>&1; test -e comma/LC_NUMERIC; }",
             folder, folder);
    const int made = system(command);
    setenv("LOCPATH", folder, 1);
    if (made != 0 || !setlocale(LC_ALL, "comma"))
        cr_skip_test("no locale with a decimal comma can be made");
    cr_assert_str_eq(localeconv()->decimal_point, ",");
}

#endif
