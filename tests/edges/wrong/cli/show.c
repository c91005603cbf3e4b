#include "eval/value.h"
