#include "eval/value.h"
#include "base/bytes.h"
