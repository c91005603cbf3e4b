#include "value.h"
#include "base/bytes.h"
