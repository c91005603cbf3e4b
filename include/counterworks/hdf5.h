/* counterworks_hdf5_write() is in counterworks.h and libcounterworks; this header serves programs that include it. */
#ifndef COUNTERWORKS_HDF5_H
#define COUNTERWORKS_HDF5_H

#include <counterworks/counterworks.h>

#endif
