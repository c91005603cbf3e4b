/* The old name of counterworks/annotate.h. */
#include <counterworks/annotate.h>
